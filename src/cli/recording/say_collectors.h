/* SPDX-License-Identifier: Apache-2.0 */
/* say_collectors.h — what `varve record` says about its sources of records when the program has
 * ended. Thread-compatible. */
#ifndef VV_CLI_RECORDING_SAY_COLLECTORS_H
#define VV_CLI_RECORDING_SAY_COLLECTORS_H

#include "model/model.h"

/* Prints one line on standard error if it is short enough; nothing if no source was found.
 * `processes` are the program's. */
void vv_record_collectors_say(const struct vv_model *model, uint64_t processes);

/* Prints what was not recorded and matters, with what records it: rows of table "unseen". A long
 * trace is only counted for that, and then less is known. */
void vv_record_unseen_say(const char *path);

#endif
