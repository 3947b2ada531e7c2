/* SPDX-License-Identifier: Apache-2.0 */
/* one_step.h — what is odd about a step that was asked for alone. */
#ifndef VV_ANALYSE_STEPS_ONE_STEP_H
#define VV_ANALYSE_STEPS_ONE_STEP_H

#include "derive/select/scope.h"
#include "sheet/sheet.h"

/* If the scope has one step, adds to the sheet's policy what took longer there than in the other
 * steps, which the selection leaves out. */
enum varve_code vv_one_step_say(const struct vv_scope *scope, const struct vv_selection *selection,
                                struct vv_sheet *sheet, struct varve_error *error);

#endif
