/* SPDX-License-Identifier: Apache-2.0 */
/* chosen.h — choices that hold for nothing in a trace: the user is told before the tables, most of
 * which show the whole trace then. Called when a trace has been read. Thread-compatible. */
#ifndef VV_CLI_READING_CHOSEN_H
#define VV_CLI_READING_CHOSEN_H

#include "cli/line/arguments.h"
#include "model/model.h"
#include "question/question.h"

/* VARVE_INVALID: --device is given, and nothing of the trace ran on any device or has memory there.
 * (Where there are devices, analyses list them.) A filter that admits nothing gets a message,
 * unless --quiet is given. */
enum varve_code vv_check_choices(const struct vv_arguments *arguments,
                                 const struct vv_question *question,
                                 const struct vv_model *model, struct varve_error *error);

/* Has the trace no record of any kind? */
bool vv_has_no_records(const struct vv_model *model);

#endif
