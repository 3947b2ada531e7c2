/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/find_verb.h"

#include <string.h>

#define VERBS_MAX 64

const struct vv_verb *vv_verb_find(const struct vv_verb *verbs, const char *name)
{
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

int vv_verb_unknown(const struct vv_verb *verbs, const char *word)
{
    struct varve_error error;
    const char *names[VERBS_MAX + 1];
    size_t count = 0;
    for (const struct vv_verb *verb = verbs; verb->name != NULL && count < VERBS_MAX; verb++)
        names[count++] = verb->name;
    names[count] = NULL;
    const char *nearest = vv_nearest(word, names);
    if (word[0] == '-')
        (void)vv_fail(&error, VARVE_INVALID,
                      "options come after the verb: varve VERB %.60s. Verbs: varve help", word);
    else if (nearest != NULL)
        (void)vv_fail(&error, VARVE_INVALID, "no verb '%.60s'. Nearest: %s", word, nearest);
    else
        (void)vv_fail(&error, VARVE_INVALID, "no verb '%.60s'. All of them: varve help", word);
    return vv_print_error(&error);
}
