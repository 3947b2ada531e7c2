/* SPDX-License-Identifier: Apache-2.0 */
/* report.h — what the files of this library know of each other. */
#ifndef VARVE_COMPAT_REPORT_H
#define VARVE_COMPAT_REPORT_H

#include <stdbool.h>

/* Of MsprofRegisterProfileCallback: those that are called. */
enum vv_hook_type {
    VV_HOOK_COMPACT = 4, VV_HOOK_ADDITIONAL = 5, VV_HOOK_API = 9, VV_HOOK_EVENT = 10,
    VV_HOOK_TYPE_INFO = 11
};
void *vv_hook(enum vv_hook_type type); /* NULL = none */

/* From MsprofInit on, until MsprofFinalize. */
void vv_reports_open(bool are_open);
/* Begins of events whose ends have not come are told as instants. */
void vv_reports_end(void);

#endif
