/* SPDX-License-Identifier: Apache-2.0 */
/* peak_measure.h — what this machine's processors can do together: multiply-adds in vector registers, and memory read and
 * written. About two seconds. */
#ifndef VV_CLI_READING_PEAK_MEASURE_H
#define VV_CLI_READING_PEAK_MEASURE_H

#include "meaning/peaks.h"

/* Fills 32 and 64 bits, matrices as vectors, and bytes; the others are 0: there is no saying. */
enum varve_code vv_peaks_measure(struct vv_peaks *out_peaks, struct varve_error *error);

#endif
