/* SPDX-License-Identifier: Apache-2.0 */
/* say_collectors.h — what `varve record` says of its sources of records when the program has ended. Thread-compatible. */
#ifndef VV_CLI_RECORDING_SAY_COLLECTORS_H
#define VV_CLI_RECORDING_SAY_COLLECTORS_H

#include "model/model.h"

/* On standard error, in one line if it is short; nothing where none was found. */
void vv_record_collectors_say(const struct vv_model *model);

#endif
