/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/cache_use.h"

#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"

#define CACHE_FROM_BYTES (UINT64_C(8) << 20) /* of the files on disk: reading smaller ones takes no
                                                noticeable time */

enum cache_use { CACHE_NEVER, CACHE_LARGE, CACHE_ALWAYS };

static enum varve_code find_cache_use(const struct vv_arguments *arguments, enum cache_use *out_use,
                                      struct varve_error *error)
{
    static const char *const words[] = { [CACHE_NEVER] = "off", [CACHE_LARGE] = "auto",
                                         [CACHE_ALWAYS] = "on" };
    const char *word = getenv("VARVE_CACHE");
    *out_use = CACHE_LARGE;
    if (arguments->cache && arguments->no_cache)
        VV_FAIL(error, VARVE_INVALID, "one at a time: --cache or --no-cache");
    if (arguments->cache || arguments->no_cache) {
        *out_use = arguments->cache ? CACHE_ALWAYS : CACHE_NEVER;
        return VARVE_OK;
    }
    if (word == NULL || *word == '\0')
        return VARVE_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out_use = (enum cache_use)i;
            return VARVE_OK;
        }
    }
    VV_FAIL(error, VARVE_INVALID, "VARVE_CACHE is off, auto or on, not '%.60s'", word);
}

enum varve_code vv_reading_cache(const struct vv_arguments *arguments, const char *const *paths,
                             size_t count, struct vv_cache **out_cache, struct varve_error *error)
{
    struct vv_cache *cache = NULL;
    enum cache_use use;
    VV_TRY(find_cache_use(arguments, &use, error));
    *out_cache = NULL;
    if (arguments->step_by != NULL) /* a cache holds steps found without --step-by */
        use = CACHE_NEVER;
    if (use != CACHE_NEVER && vv_cache_create(paths, count, &cache, NULL) == VARVE_OK &&
        (use == CACHE_ALWAYS || vv_cache_source_bytes(cache) >= CACHE_FROM_BYTES))
        *out_cache = cache;
    else
        vv_cache_destroy(cache);
    return VARVE_OK;
}
