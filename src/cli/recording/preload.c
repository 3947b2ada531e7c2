/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/preload.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recording/program.h"

#define OUR_FILE "libvarve.so"
#define SEPARATORS ": "

/* AddressSanitizer's shared runtime does not run if another library is loaded before it.
 * libvarve.so defines no function that the runtime intercepts, so the order does not matter.
 * Preloading the runtime instead would load it into every program that this one starts. If options
 * contradict each other, the last one counts. */
#define LINK_ORDER_OPTION "verify_asan_link_order=0"

/* Is it libvarve.so, libvarve.so.0 …, in any folder? */
static bool is_ours(const char *name, size_t length)
{
    const char *base = memrchr(name, '/', length);
    base = base != NULL ? base + 1 : name;
    size_t left = length - (size_t)(base - name), ours = strlen(OUR_FILE);
    return left >= ours && memcmp(base, OUR_FILE, ours) == 0 && (left == ours || base[ours] == '.');
}

const char *vv_preload_next_other(const char **at, size_t *out_length)
{
    for (;;) {
        const char *name = *at += strspn(*at, SEPARATORS);
        *at += *out_length = strcspn(name, SEPARATORS);
        if (*out_length == 0)
            return NULL;
        if (!is_ours(name, *out_length))
            return name;
    }
}

/* `library` NULL = libvarve.so is left out. */
static enum varve_code make_list(const char *former, const char *library,
                                 struct vv_preload *preload, struct varve_error *error)
{
    size_t length, ours = library != NULL ? strlen(library) : 0;
    char *end = preload->list = malloc(strlen(former) + ours + 2);
    if (end == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the program's environment");
    for (const char *at = former, *name; (name = vv_preload_next_other(&at, &length)) != NULL;) {
        end = mempcpy(end, name, length);
        *end++ = ':';
    }
    if (library != NULL) {
        preload->library = end;
        end = mempcpy(end, library, ours);
    } else if (end > preload->list)
        end--;
    *end = '\0';
    return VARVE_OK;
}

static enum varve_code make(const struct vv_executable *executable, const char *library,
                            struct vv_preload *preload, struct varve_error *error)
{
    const char *former = getenv("LD_PRELOAD"), *options = getenv("ASAN_OPTIONS");
    bool has_options = options != NULL && *options != '\0',
         comes_in = executable->loading != VV_LOADS_OTHER;
    if (comes_in || former != NULL)
        VV_TRY(make_list(former != NULL ? former : "", comes_in ? library : NULL, preload, error));
    if (comes_in && asprintf(&preload->asan_options, "%s%s" LINK_ORDER_OPTION,
                             has_options ? options : "", has_options ? ":" : "") < 0) {
        preload->asan_options = NULL;
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the program's environment");
    }
    return VARVE_OK;
}

enum varve_code vv_preload_make(const struct vv_executable *executable,
                                struct vv_preload *out_preload, struct varve_error *error)
{
    char *library = vv_program_library();
    *out_preload = (struct vv_preload){ NULL, NULL, NULL };
    if (library == NULL)
        VV_FAIL(error, VARVE_NOT_FOUND,
                "libvarve.so is neither beside varve nor installed: say where "
                "it is with VARVE_LIBRARY=/path/libvarve.so");
    enum varve_code code;
    if (strpbrk(library, SEPARATORS) != NULL)
        code = vv_fail(error, VARVE_UNSUPPORTED,
                       "the dynamic linker cannot load '%s': move it where no blank or colon is "
                       "in the path", library);
    else
        code = make(executable, library, out_preload, error);
    free(library);
    return code;
}

void vv_preload_deinit(struct vv_preload *preload)
{
    free(preload->list);
    free(preload->asan_options);
}
