/* SPDX-License-Identifier: Apache-2.0 */
/* find_verb.h — finds the verb that a word names. `verbs` ends with a NULL name. */
#ifndef VV_CLI_PAGES_FIND_VERB_H
#define VV_CLI_PAGES_FIND_VERB_H

#include "cli/line/arguments.h"

/* NULL: there is no such verb. */
const struct vv_verb *vv_verb_find(const struct vv_verb *verbs, const char *name);
/* Tells the user that there is no such verb, with the nearest one. Returns VV_EXIT_USAGE. */
VV_MUST_USE int vv_verb_unknown(const struct vv_verb *verbs, const char *word);

#endif
