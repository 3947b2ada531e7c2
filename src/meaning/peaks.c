/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.c — known devices. The numbers are from the makers' data sheets, dense, in 1e12 FLOP/s and
 * 1e12 byte/s. If a card shows as several devices (MI250X: two dies), they are those of one. 32-bit
 * products are those at full precision, not TF32. */
#include "meaning/peaks.h"

#include <string.h>

#include "varve/varve.h"

/* The order matters: a longer name comes before a name that it contains. */
static const struct {
    const char *name;
    double f64, f32, f16, f8, i8, vector_f64, vector_f32, bytes;
} devices[] = {
    /* name               matrix f64    f32     f16      f8      i8     vector f64  f32
     *                                          memory */
    { "GB200", 40.0, 80.0, 2500.0, 5000.0, 5000.0, 40.0, 80.0, 8.0 },
    { "B200", 37.0, 75.0, 2250.0, 4500.0, 4500.0, 37.0, 75.0, 7.7 },
    { "GH200", 67.0, 67.0, 989.4, 1978.9, 1978.9, 34.0, 67.0, 4.0 },
    { "H200", 67.0, 67.0, 989.4, 1978.9, 1978.9, 34.0, 67.0, 4.8 },
    { "H100 PCIe", 51.2, 51.2, 756.4, 1512.8, 1512.8, 25.6, 51.2, 2.04 },
    { "H100 NVL", 60.0, 60.0, 835.5, 1670.5, 1670.5, 30.0, 60.0, 3.9 },
    { "H100", 66.9, 66.9, 989.4, 1978.9, 1978.9, 33.5, 66.9, 3.35 },
    { "A100-SXM4-80GB", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 2.039 },
    { "A100 80GB PCIe", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 1.935 },
    { "A100", 19.5, 19.5, 312.0, 0.0, 624.0, 9.7, 19.5, 1.555 },
    { "A30", 10.3, 10.3, 165.0, 0.0, 330.0, 5.2, 10.3, 0.933 },
    { "A40", 0.0, 37.4, 149.7, 0.0, 299.3, 0.6, 37.4, 0.696 },
    { "L40S", 0.0, 91.6, 362.1, 733.0, 733.0, 0.0, 91.6, 0.864 },
    { "L4", 0.0, 30.3, 121.0, 242.5, 242.5, 0.0, 30.3, 0.3 },
    { "V100-PCIE", 7.0, 14.0, 112.0, 0.0, 0.0, 7.0, 14.0, 0.9 },
    { "V100", 7.8, 15.7, 125.0, 0.0, 0.0, 7.8, 15.7, 0.9 },
    { "Tesla T4", 0.0, 8.1, 65.0, 0.0, 130.0, 0.3, 8.1, 0.32 },
    { "MI355X", 78.6, 157.3, 2516.6, 5033.2, 5033.2, 78.6, 157.3, 8.0 },
    { "MI350X", 72.1, 144.2, 2306.9, 4613.7, 4613.7, 72.1, 144.2, 8.0 },
    { "MI325X", 163.4, 163.4, 1307.4, 2614.9, 2614.9, 81.7, 163.4, 6.0 },
    { "MI300X", 163.4, 163.4, 1307.4, 2614.9, 2614.9, 81.7, 163.4, 5.3 },
    { "MI300A", 122.6, 122.6, 980.6, 1961.2, 1961.2, 61.3, 122.6, 5.3 },
    { "MI250X", 47.9, 47.9, 191.5, 0.0, 191.5, 23.9, 23.9, 1.6384 },
    { "MI250", 45.3, 45.3, 181.0, 0.0, 181.0, 22.6, 22.6, 1.6384 },
    { "MI210", 45.3, 45.3, 181.0, 0.0, 181.0, 22.6, 22.6, 1.6384 },
};

bool vv_peaks_of_device(const char *name, struct vv_peaks *out_peaks)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (strstr(name, devices[i].name) == NULL)
            continue;
        *out_peaks = (struct vv_peaks){
            devices[i].f64 * 1e12, devices[i].f32 * 1e12, devices[i].f16 * 1e12,
            devices[i].f8 * 1e12,
            devices[i].i8 * 1e12, devices[i].vector_f64 * 1e12, devices[i].vector_f32 * 1e12,
            devices[i].bytes * 1e12,
            false, false,
        };
        return true;
    }
    return false;
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
