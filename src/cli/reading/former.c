/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/former.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum varve_code vv_refuse_compressed(const char *path, const char *verb, struct varve_error *error)
{
    static const char *const suffixes[] = { ".gz", ".zst", ".xz", ".bz2" };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length > suffix && strcmp(path + length - suffix, suffixes[i]) == 0)
            VV_FAIL(error, VARVE_INVALID,
                    "cannot write '%s': %s does not compress. Write '%.*s', or pipe: -o - | gzip",
                    path, verb, (int)(length - suffix), path);
    }
    return VARVE_OK;
}

enum varve_code vv_keep_former(const char *path, bool *out_kept, struct varve_error *error)
{
    struct stat status;
    char *old;
    *out_kept = false;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return VARVE_OK;
    if (asprintf(&old, "%s.old", path) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a file name");
    enum varve_code code = VARVE_OK;
    if (rename(path, old) != 0)
        code = vv_fail_errno(error, errno, "cannot keep the former '%s' as '%s'", path, old);
    free(old);
    *out_kept = code == VARVE_OK;
    return code;
}

bool vv_is_output_failure(enum varve_code code)
{
    return code == VARVE_IO || code == VARVE_PERMISSION || code == VARVE_NOT_FOUND ||
           code == VARVE_EXISTS;
}
