/* SPDX-License-Identifier: Apache-2.0 */
/* needs.h — what a rule needs of a trace, looked for before any table. Thread-compatible. */
#ifndef VV_ANALYSE_ADVICE_NEEDS_H
#define VV_ANALYSE_ADVICE_NEEDS_H

#include "analyse/advice/rules/rules.h"

bool vv_rule_has_needed(const struct vv_model *model, enum vv_rule_needs needs);

#endif
