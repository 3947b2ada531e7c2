/* SPDX-License-Identifier: Apache-2.0 */
/* command.h — the command that prints the evidence of a finding. */
#ifndef VV_ANALYSE_ADVICE_COMMAND_H
#define VV_ANALYSE_ADVICE_COMMAND_H

#include "question/question.h"

/* Does the trace have what the command shows, or groups operators by? `name` is the operator that
 * is looked for; NULL = any. */
bool vv_command_tells(const char *see, const struct vv_model *model, const char *name);

struct vv_command {
    const char *see, *filter; /* filter "" = none                                                */
    const struct vv_question *question; /* whose options, steps and traces are added             */
};

enum varve_code vv_command_put(const struct vv_command *command, struct vv_scratch *scratch,
                               struct vv_sheet *sheet, size_t row, size_t column,
                               struct varve_error *error);

#endif
