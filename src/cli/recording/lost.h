/* SPDX-License-Identifier: Apache-2.0 */
/* lost.h — what `varve record` says about records that were lost because a process could not make
 * its folder. Thread-compatible. doc/format.md §12 */
#ifndef VV_CLI_RECORDING_LOST_H
#define VV_CLI_RECORDING_LOST_H

#include <stddef.h>

#include "ctf/lost_page.h"

/* Writes "could make no folder: Permission denied"; "" if no records were lost in this way. */
void vv_record_lost_why(const struct vv_lost *lost, char *out_text, size_t capacity);

/* Prints the number, the reason and what to do next on standard error; nothing if no records were
 * lost in this way. */
void vv_record_lost_say(const struct vv_lost *lost);

#endif
