/* SPDX-License-Identifier: Apache-2.0 */
/* map.c — GE's two keys in the map of texts that its engine and sessions take. The other keys are
 * the engine's. */
#include <string.h>
#include <strings.h>

#include "base/text/nearest.h"
#include "record/options/options.h"

static const char begin[] = "ge.exec.profiling";
static const char *const keys[] = { "ge.exec.profilingMode", VV_OPTIONS_KEY_OF_MAP, NULL };
enum { MODE, OPTIONS, KEYS };

static enum varve_code find_key(const char *key, size_t *out_key, struct varve_error *error)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i], key) == 0) {
            *out_key = i;
            return VARVE_OK;
        }
    const char *nearest = vv_nearest(key, keys);
    VV_FAIL(error, VARVE_INVALID, "the map has the key '%.60s'%s%s; it is one of %s, %s", key,
            nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "", keys[MODE],
            keys[OPTIONS]);
}

enum varve_code vv_options_of_map(const struct varve_profiling_entry *entries, size_t count,
                                  const char **out_text, struct varve_error *error)
{
    const char *values[KEYS] = { NULL, NULL };
    if (entries == NULL && count > 0)
        VV_FAIL(error, VARVE_INVALID, "the map is NULL and has %zu entries", count);
    for (size_t i = 0; i < count; i++) {
        const char *key = entries[i].key, *value = entries[i].value;
        size_t known = MODE;
        if (key == NULL)
            VV_FAIL(error, VARVE_INVALID, "the key of entry %zu of the map is NULL", i);
        if (strncasecmp(key, begin, sizeof begin - 1) != 0)
            continue;
        VV_TRY(find_key(key, &known, error));
        if (values[known] != NULL)
            VV_FAIL(error, VARVE_INVALID, "the map has the key '%s' twice", key);
        values[known] = value != NULL ? value : "";
    }
    bool is_asked = values[MODE] != NULL && strcmp(values[MODE], "1") == 0 &&
                    values[OPTIONS] != NULL && *values[OPTIONS] != '\0';
    *out_text = is_asked ? values[OPTIONS] : NULL;
    return VARVE_OK;
}
