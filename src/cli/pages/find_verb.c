/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pages/find_verb.h"

#include <string.h>

#include "analyse/tables.h"

#define VERBS_MAX 64

const struct vv_verb *vv_verb_find(const struct vv_verb *verbs, const char *name)
{
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

/* A verb that begins with the word, else the nearest. A verb that acts on a running process is only
 * guessed from a word with its first letter: "top" does not mean stop. */
static const char *nearest_verb(const struct vv_verb *verbs, const char *word)
{
    const char *names[VERBS_MAX + 1];
    size_t count = 0;
    for (const struct vv_verb *verb = verbs; verb->name != NULL && count < VERBS_MAX; verb++) {
        if (word[0] != '\0' && strncmp(verb->name, word, strlen(word)) == 0)
            return verb->name;
        if (strcmp(verb->group, "Control") != 0 || verb->name[0] == word[0])
            names[count++] = verb->name;
    }
    names[count] = NULL;
    return vv_nearest(word, names);
}

int vv_verb_unknown(const struct vv_verb *verbs, const char *word)
{
    struct varve_error error;
    const char *nearest = nearest_verb(verbs, word);
    bool is_table = false;
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++)
        is_table = is_table || strcmp(table->name, word) == 0;
    if (is_table)
        (void)vv_fail(&error, VARVE_INVALID,
                      "'%.60s' is no verb but a table: varve report --table %.60s. What it "
                      "shows: varve help %.60s", word, word, word);
    else if (word[0] == '-')
        (void)vv_fail(&error, VARVE_INVALID,
                      "options come after the verb: varve VERB %.60s. Verbs: varve help", word);
    else if (nearest != NULL)
        (void)vv_fail(&error, VARVE_INVALID, "no verb '%.60s'. Nearest: %s", word, nearest);
    else
        (void)vv_fail(&error, VARVE_INVALID, "no verb '%.60s'. All of them: varve help", word);
    return vv_print_error(&error);
}
