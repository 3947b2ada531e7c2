/* SPDX-License-Identifier: Apache-2.0 */
/* count_records.h — how many records a process has written and lost so far, without decoding them: `varve status`
 * asks while it runs. Reads each stream once, a packet at a time. Thread-compatible. doc/format.md §4–§6 */
#ifndef VV_CTF_COUNT_RECORDS_H
#define VV_CTF_COUNT_RECORDS_H

#include <stdint.h>

#include "base/error.h"

/* `folder` is that of one process. VARVE_CORRUPT: a stream that this version cannot count. */
enum varve_code vv_tally_process(const char *folder, uint64_t *out_records, uint64_t *out_lost,
                                 struct varve_error *error);

#endif
