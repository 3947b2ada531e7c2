/* SPDX-License-Identifier: Apache-2.0 */
/* held.h — what a device's allocator holds and has given out after each allocation and release, by
 * its counters (base/allocator_counters.h). Private to import/varve. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_HELD_H
#define VV_IMPORT_VARVE_RECORDS_HELD_H

#include <stdint.h>

#include "base/error.h"

struct vv_process_reader;

/* After vv_devices_join. The process's rows of memory and counters begin at these. A counter tells
 * of the last event up to its time; until the next one, what was given out follows the events. */
enum varve_code vv_held_join(struct vv_process_reader *process, uint32_t first_memory,
                             uint32_t first_counter, struct varve_error *error);

#endif
