/* SPDX-License-Identifier: Apache-2.0 */
/* peak_measure.h — measures what all processors of this machine can do together: multiply-adds in
 * vector registers, and bytes read and written in memory. Takes about two seconds. */
#ifndef VV_CLI_READING_PEAK_MEASURE_H
#define VV_CLI_READING_PEAK_MEASURE_H

#include "meaning/hardware/peaks.h"

/* Fills the peaks of 32 and 64 bits, with equal values for matrices and vectors, and bytes. The
 * others are 0 = not known. */
enum varve_code vv_peaks_measure(struct vv_peaks *out_peaks, struct varve_error *error);

#endif
