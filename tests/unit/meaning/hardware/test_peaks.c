/* SPDX-License-Identifier: Apache-2.0 */
/* Which peaks a device has, by the name that its driver gives it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "meaning/hardware/peaks.h"

/* In 1e12 a second; no figures: not known. */
static const struct {
    const char *name;
    double f64, f32, f16, f8, bytes;
} known[] = {
    { "NVIDIA L40", 0, 90.5, 181.05, 362, 0.864 },
    { "NVIDIA L40S", 0, 91.6, 362.1, 733, 0.864 },
    { "NVIDIA L4", 0, 30.3, 121, 242.5, 0.3 },
    { "NVIDIA H20", 1, 44, 148, 296, 4 },
    { "NVIDIA H800", 1, 66.9, 989.4, 1978.9, 3.35 },
    { "NVIDIA H200", 67, 67, 989.4, 1978.9, 4.8 },
    { "NVIDIA GH200 480GB", 67, 67, 989.4, 1978.9, 4 },
    { "NVIDIA B300 SXM6 AC", 1.25, 75, 2250, 4500, 8 },
    { "NVIDIA GB300", 0, 80, 2500, 5000, 8 },
    { "NVIDIA A10", 0, 31.2, 125, 0, 0.6 },
    { "NVIDIA A100-PG509-200", 19.5, 19.5, 312, 0, 1.555 },
    { "NVIDIA RTX A4000", 0, 19.2, 76.7, 0, 0.448 },
    { "NVIDIA RTX 6000 Ada Generation", 0, 91.1, 364.25, 728.5, 0.96 },
    { "Tesla V100-DGXS-32GB", 7.8, 15.7, 125, 0, 0.9 },
    { "AMD_Instinct_MI300X_OAM", 163.4, 163.4, 1307.4, 2614.9, 5.3 },
    { "AMD Instinct MI250X/MI250", 47.9, 47.9, 191.5, 0, 1.6384 },
    { "NVIDIA RTX A1000", 0, 0, 0, 0, 0 },
    { "NVIDIA RTX A3000 Laptop GPU", 0, 0, 0, 0, 0 },
    { "NVIDIA RTX A4000 Laptop GPU", 0, 0, 0, 0, 0 },
    { "NVIDIA A100-SXM4-80GB MIG 1g.10gb", 0, 0, 0, 0, 0 },
    { "NVIDIA A10G", 0, 0, 0, 0, 0 },
    { "NVIDIA H200 NVL", 0, 0, 0, 0, 0 },
    { "NVIDIA GH200 144G HBM3e", 0, 0, 0, 0, 0 },
    { "Tesla V100S-PCIE-32GB", 0, 0, 0, 0, 0 },
    { "NVIDIA H20-3e", 0, 0, 0, 0, 0 },
    { "AMD Instinct MI308X", 0, 0, 0, 0, 0 },
    { "A", 0, 0, 0, 0, 0 },
    { "", 0, 0, 0, 0, 0 },
};

static void assert_figure(double figure, double expected)
{
    assert_true(figure > (expected - 1e-9) * 1e12 && figure < (expected + 1e-9) * 1e12);
}

static void a_name_has_the_peaks_of_its_whole_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct vv_peaks peaks = { 0 };
        assert_int_equal(vv_peaks_of_device(known[i].name, &peaks), known[i].bytes > 0);
        assert_figure(peaks.matrix_f64, known[i].f64);
        assert_figure(peaks.matrix_f32, known[i].f32);
        assert_figure(peaks.matrix_f16, known[i].f16);
        assert_figure(peaks.matrix_f8, known[i].f8);
        assert_figure(peaks.bytes, known[i].bytes);
    }
}

static void a_peak_is_that_of_the_units_at_their_clock(void **state)
{
    static const struct { double capability, units, clock_hz, tera; } devices[] = {
        { 12.0, 188, 2617e6, 503.8 }, /* RTX PRO 6000 Blackwell                                  */
        { 12.1, 48, 2543e6, 125 },    /* GB10                                                    */
        { 9.0, 132, 1830e6, 989.4 }, { 8.0, 108, 1410e6, 311.9 }, { 11.0, 20, 1e9, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        double tera = vv_peak_of_units(devices[i].capability, devices[i].units,
                                       devices[i].clock_hz) / 1e12;
        assert_true(tera >= devices[i].tera * 0.999 && tera <= devices[i].tera * 1.001);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_the_peaks_of_its_whole_words),
        cmocka_unit_test(a_peak_is_that_of_the_units_at_their_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
