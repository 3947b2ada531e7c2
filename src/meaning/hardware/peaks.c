/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.c — known devices. The numbers are dense, in 1e12 FLOP/s and 1e12 byte/s, each from the
 * document that stands above it. If a card shows as several devices (MI250X: two dies), they are
 * those of one. 32-bit products are those at full precision, not TF32. Where a document states a
 * product with sparsity alone, half of it is the dense one. */
#include "meaning/hardware/peaks.h"

#include <ctype.h>
#include <string.h>

#include "varve/varve.h"

/* The order matters: a longer name comes before a name that it contains. Without figures stands
 * what has no data sheet of its own and must not be taken for the card that its name contains. */
static const struct {
    const char *name;
    double f64, f32, f16, f8, i8, vector_f64, vector_f32, bytes;
} devices[] = {
    /* name               matrix f64    f32     f16      f8      i8     vector f64  f32
     *                                          memory */
    /* a part of a card, and a card that is slower than its namesake */
    { "MIG", 0, 0, 0, 0, 0, 0, 0, 0 },
    { "Laptop", 0, 0, 0, 0, 0, 0, 0, 0 },
    /* Verda, NVIDIA GB300 NVL72: GPU architecture and performance */
    { "GB300", 0.0, 80.0, 2500.0, 5000.0, 165.0, 0.0, 80.0, 8.0 },
    /* NVIDIA, HGX platform: HGX B300; the article above: 8-bit integers */
    { "B300", 1.25, 75.0, 2250.0, 4500.0, 150.0, 1.25, 75.0, 8.0 },
    /* NVIDIA, Blackwell data sheet: each GPU of a GB200 NVL72, of an HGX B200 */
    { "GB200", 40.0, 80.0, 2500.0, 5000.0, 5000.0, 40.0, 80.0, 8.0 },
    { "B200", 37.0, 75.0, 2250.0, 4500.0, 4500.0, 37.0, 75.0, 7.7 },
    /* NVIDIA, GH200 data sheet: 96 GB */
    { "GH200 144G", 0, 0, 0, 0, 0, 0, 0, 0 },
    { "GH200", 67.0, 67.0, 989.4, 1978.9, 1978.9, 34.0, 67.0, 4.0 },
    /* NVIDIA, H200 data sheet: SXM */
    { "H200 NVL", 0, 0, 0, 0, 0, 0, 0, 0 },
    { "H200", 67.0, 67.0, 989.4, 1978.9, 1978.9, 34.0, 67.0, 4.8 },
    /* NVIDIA, H100 data sheet; H100 architecture white paper */
    { "H100 PCIe", 51.2, 51.2, 756.4, 1512.8, 1512.8, 25.6, 51.2, 2.04 },
    { "H100 NVL", 60.0, 60.0, 835.5, 1670.5, 1670.5, 30.0, 60.0, 3.9 },
    { "H100", 66.9, 66.9, 989.4, 1978.9, 1978.9, 33.5, 66.9, 3.35 },
    /* NVIDIA, H800 data sheet 2631447; Lenovo Press LP1814: an H100 but for NVLink and 64 bits */
    { "H800 PCIe", 0.0, 51.2, 756.4, 1512.8, 1512.8, 0.0, 51.2, 2.04 },
    { "H800", 1.0, 66.9, 989.4, 1978.9, 1978.9, 1.0, 66.9, 3.35 },
    /* NVIDIA, H20 specification: 96 GB; the H20-3e has 141 */
    { "H20-3e", 0, 0, 0, 0, 0, 0, 0, 0 },
    { "H20", 1.0, 44.0, 148.0, 296.0, 296.0, 1.0, 44.0, 4.0 },
    /* NVIDIA, A100 data sheet */
    { "A100-SXM4-80GB", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 2.039 },
    { "A100-SXM-80GB", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 2.039 },
    { "A100 80GB PCIe", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 1.935 },
    { "A100", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 1.555 },
    /* NVIDIA, A30 data sheet */
    { "A30", 10.3, 10.3, 165.0, 0.0, 330.0, 5.2, 10.3, 0.933 },
    /* NVIDIA, A40 data sheet; GA102 architecture white paper */
    { "A40", 0.0, 37.4, 149.7, 0.0, 299.3, 0.6, 37.4, 0.696 },
    /* NVIDIA, A10 data sheet */
    { "A10", 0.0, 31.2, 125.0, 0.0, 250.0, 0.0, 31.2, 0.6 },
    /* NVIDIA, RTX A4000 data sheet: 153.4 with sparsity */
    { "RTX A4000", 0.0, 19.2, 76.7, 0.0, 0.0, 0.0, 19.2, 0.448 },
    /* NVIDIA, RTX 6000 Ada Generation data sheet 2504660: 1457.0 at 8 bits with sparsity */
    { "RTX 6000 Ada", 0.0, 91.1, 364.25, 728.5, 0.0, 0.0, 91.1, 0.96 },
    /* NVIDIA, L40S data sheet */
    { "L40S", 0.0, 91.6, 362.1, 733.0, 733.0, 0.0, 91.6, 0.864 },
    /* NVIDIA, L40 data sheet; Ada architecture white paper */
    { "L40", 0.0, 90.5, 181.05, 362.0, 362.0, 0.0, 90.5, 0.864 },
    /* NVIDIA, L4 data sheet */
    { "L4", 0.0, 30.3, 121.0, 242.5, 242.5, 0.0, 30.3, 0.3 },
    /* NVIDIA, V100 data sheet */
    { "V100-PCIE", 7.0, 14.0, 112.0, 0.0, 0.0, 7.0, 14.0, 0.9 },
    { "V100", 7.8, 15.7, 125.0, 0.0, 0.0, 7.8, 15.7, 0.9 },
    /* NVIDIA, T4 data sheet */
    { "Tesla T4", 0.0, 8.1, 65.0, 0.0, 130.0, 0.3, 8.1, 0.32 },
    /* AMD, data sheet of each: Instinct MI355X, MI350X, MI325X, MI300X, MI300A, MI250X, MI250,
     * MI210 */
    { "MI355X", 78.6, 157.3, 2516.6, 5033.2, 5033.2, 78.6, 157.3, 8.0 },
    { "MI350X", 72.1, 144.2, 2306.9, 4613.7, 4613.7, 72.1, 144.2, 8.0 },
    { "MI325X", 163.4, 163.4, 1307.4, 2614.9, 2614.9, 81.7, 163.4, 6.0 },
    { "MI300X", 163.4, 163.4, 1307.4, 2614.9, 2614.9, 81.7, 163.4, 5.3 },
    { "MI300A", 122.6, 122.6, 980.6, 1961.2, 1961.2, 61.3, 122.6, 5.3 },
    { "MI250X", 47.9, 47.9, 191.5, 0.0, 191.5, 23.9, 23.9, 1.6384 },
    { "MI250", 45.3, 45.3, 181.0, 0.0, 181.0, 22.6, 22.6, 1.6384 },
    { "MI210", 45.3, 45.3, 181.0, 0.0, 181.0, 22.6, 22.6, 1.6384 },
};

/* Whole words: an RTX A1000 is no A100, and an L40 no L4. */
static bool has_words(const char *name, const char *words)
{
    size_t length = strlen(words);
    for (const char *at = name; (at = strstr(at, words)) != NULL; at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

bool vv_peaks_of_device(const char *name, struct vv_peaks *out_peaks)
{
    size_t i = 0, count = sizeof devices / sizeof *devices;
    while (i < count && !has_words(name, devices[i].name))
        i++;
    if (i == count || devices[i].bytes <= 0)
        return false;
    *out_peaks = (struct vv_peaks){
        devices[i].f64 * 1e12, devices[i].f32 * 1e12, devices[i].f16 * 1e12, devices[i].f8 * 1e12,
        devices[i].i8 * 1e12, devices[i].vector_f64 * 1e12, devices[i].vector_f32 * 1e12,
        devices[i].bytes * 1e12,
        false, false, false,
    };
    return true;
}

/* NVIDIA's architecture white papers: dense products of a multiprocessor in a tick, at 16 bits with
 * sums of 32; a multiply-add counts 2. Cards for games do half of that from 8.6 on, and the clock
 * that the driver tells is the highest. 12.0 is RTX Blackwell: 503.8e12 on 188 of an RTX PRO 6000's
 * at 2,617 MHz. 12.1 is GB10: an eighth of DGX Spark's 1,000e12 at 4 bits with sparsity, on 48. */
double vv_peak_of_units(double capability, double units, double clock_hz)
{
    static const struct { double capability, flop; } rates[] = {
        { 7.0, 1024 }, { 7.5, 1024 }, { 8.0, 2048 }, { 8.6, 1024 }, { 8.7, 1024 }, { 8.9, 1024 },
        { 9.0, 4096 }, { 10.0, 8192 }, { 10.3, 8192 }, { 12.0, 1024 }, { 12.1, 1024 },
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (capability > rates[i].capability - 0.01 && capability < rates[i].capability + 0.01)
            return rates[i].flop * units * clock_hz;
    return 0;
}

double vv_peak_flop(const struct vv_peaks *peaks, uint16_t dtype, bool is_matrix)
{
    switch (dtype) {
    case VARVE_F64: case VARVE_C128:
        return is_matrix ? peaks->matrix_f64 : peaks->vector_f64;
    case VARVE_F16: case VARVE_BF16: case VARVE_C32:
        return is_matrix ? peaks->matrix_f16 : peaks->vector_f32;
    case VARVE_F8E4M3: case VARVE_F8E5M2: case VARVE_F8E4M3FNUZ: case VARVE_F8E5M2FNUZ:
        return is_matrix ? peaks->matrix_f8 : peaks->vector_f32;
    case VARVE_I8: case VARVE_U8: case VARVE_QI8: case VARVE_QU8:
        return is_matrix ? peaks->matrix_i8 : peaks->vector_f32;
    default:
        return is_matrix ? peaks->matrix_f32 : peaks->vector_f32;
    }
}
