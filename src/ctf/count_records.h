/* SPDX-License-Identifier: Apache-2.0 */
/* count_records.h — counts how many records a process has written and lost so far, without decoding
 * them. `varve status` calls it while the process runs. Reads each stream once, one packet at a
 * time. Thread-compatible. doc/format.md §4–§6 */
#ifndef VV_CTF_COUNT_RECORDS_H
#define VV_CTF_COUNT_RECORDS_H

#include <stdint.h>

#include "base/error.h"

/* `folder` is the folder of one process. VARVE_CORRUPT: this version cannot count a stream. */
enum varve_code vv_tally_process(const char *folder, uint64_t *out_records, uint64_t *out_lost,
                                 struct varve_error *error);

#endif
