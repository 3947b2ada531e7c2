/* SPDX-License-Identifier: Apache-2.0 */
/* peak_file.h — peaks that `varve doctor --peaks` has measured, kept for each machine in
 * $XDG_CACHE_HOME/varve/peaks.json.
 *
 *     {"schema": "varve.peaks/1",
 *      "machines": [{"machine": "AMD EPYC …", "cpus": 2, "f32_flop_per_s": …,
 *                    "f64_flop_per_s": …, "bytes_per_s": …}]}
 * Thread-compatible. */
#ifndef VV_MACHINE_PEAK_FILE_H
#define VV_MACHINE_PEAK_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "meaning/hardware/peaks.h"
#include "model/model.h"

/* False: there are no peaks of that machine. A file that cannot be read has none. */
VV_MUST_USE bool vv_peak_file_load(const char *machine, int64_t cpus, struct vv_peaks *out_peaks);
/* The peaks of the machine that the trace was made on, or of this machine if the trace names none.
 * False: they were not measured. */
VV_MUST_USE bool vv_peak_file_of_run(const struct vv_model *model, struct vv_peaks *out_peaks);

/* The file's path, whose folders are made; the caller frees it. NULL: the error says why. */
enum varve_code vv_peak_file_place(char **out_path, struct varve_error *error);
/* Writes what the file has, with these peaks. */
void vv_peak_file_put(const char *machine, int64_t cpus, const struct vv_peaks *peaks,
                      FILE *stream);

#endif
