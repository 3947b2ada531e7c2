/* SPDX-License-Identifier: Apache-2.0 */
/* peak_file.h — peaks that `varve doctor --peaks` has measured, kept for each machine in
 * $XDG_CACHE_HOME/varve/peaks.json.
 *
 *     {"schema": "varve.peaks/1",
 *      "machines": [{"machine": "AMD EPYC …", "cpus": 2, "f32_flop_per_s": …,
 *                    "f64_flop_per_s": …, "bytes_per_s": …}]}
 * Thread-compatible. */
#ifndef VV_CLI_READING_PEAK_FILE_H
#define VV_CLI_READING_PEAK_FILE_H

#include <stdbool.h>

#include "meaning/peaks.h"

/* False: there are no peaks of that machine. A file that cannot be read has none. */
VV_MUST_USE bool vv_peak_file_load(const char *machine, int64_t cpus, struct vv_peaks *out_peaks);
/* Keeps the peaks of other machines. The caller frees *out_path. */
enum varve_code vv_peak_file_store(const char *machine, int64_t cpus, const struct vv_peaks *peaks,
                                   char **out_path, struct varve_error *error);

#endif
