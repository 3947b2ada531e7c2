/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.h — peak values of devices: floating-point operations by type, and bytes of memory traffic.
 * Thread-safe. */
#ifndef VV_MEANING_HARDWARE_PEAKS_H
#define VV_MEANING_HARDWARE_PEAKS_H

#include "question/question.h"

/* All per second, and dense (without sparsity). 0 = the device cannot do it, or it is not known. */
struct vv_peaks {
    /* of the matrix units, or of the vector units if these do more */
    double matrix_f64, matrix_f32, matrix_f16, matrix_f8, matrix_i8;
    double vector_f64, vector_f32;                                   /* elementwise operations */
    double bytes;                                                    /* memory traffic */
    /* the trace gave the values, because there is no data sheet */
    bool is_said;
    /* of products at 16 bits, from the number of its units and their clock: never less than there
     * is */
    bool is_computed;
    /* the trace does not say which device they belong to */
    bool is_assumed;
};

/* The peaks of a device, by its driver's name for it, from its maker's data sheet. False if the
 * table does not have it. */
bool vv_peaks_of_device(const char *name, struct vv_peaks *out_peaks);
/* The peak of 16-bit products of a device of NVIDIA's with `units` multiprocessors, of a compute
 * capability such as 9.0. 0 = not known. */
double vv_peak_of_units(double capability, double units, double clock_hz);
/* The peak for operators that compute with this type, with or without matrix units. 0 = not
 * known. */
double vv_peak_flop(const struct vv_peaks *peaks, uint16_t dtype, bool is_matrix);

#endif
