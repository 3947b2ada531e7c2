/* SPDX-License-Identifier: Apache-2.0 */
/* find_verb.h — the verb that a word names; `verbs` ends with a NULL name. */
#ifndef VV_CLI_FIND_VERB_H
#define VV_CLI_FIND_VERB_H

#include "cli/line/arguments.h"

/* NULL: there is none. */
const struct vv_verb *vv_verb_find(const struct vv_verb *verbs, const char *name);
/* Says so on standard error, with the nearest one; returns VV_EXIT_USAGE. */
VV_MUST_USE int vv_verb_unknown(const struct vv_verb *verbs, const char *word);

#endif
