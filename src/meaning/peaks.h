/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.h — what a device can do at most: floating-point operations by type, and bytes from its memory. Thread-safe. */
#ifndef VV_MEANING_PEAKS_H
#define VV_MEANING_PEAKS_H

#include "question/question.h"

/* Dense, without sparsity; 0 = it cannot, or nobody said. Per second. */
struct vv_peaks {
    double matrix_f64, matrix_f32, matrix_f16, matrix_f8, matrix_i8; /* units for matrices, or vectors if more */
    double vector_f64, vector_f32;                                   /* elementwise                            */
    double bytes;                                                    /* of memory                              */
    bool is_said;                                                    /* by the trace, for want of a data sheet */
    bool is_assumed;                                                 /* the trace does not say whose they are  */
};

/* Of a device by the name that its driver gives it, from its maker's data sheet; false where the table has none. */
bool vv_peaks_of_device(const char *name, struct vv_peaks *out_peaks);
/* What can be had for operators that compute with this type: matrices or not. 0 = not known. */
double vv_peak_flop(const struct vv_peaks *peaks, uint16_t dtype, bool is_matrix);

#endif
