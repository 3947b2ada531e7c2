/* SPDX-License-Identifier: Apache-2.0 */
#include "import/cache_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *vv_cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;
    if (cache != NULL && cache[0] == '/')
        return asprintf(&folder, "%s/varve", cache) < 0 ? NULL : folder;
    if (home != NULL && home[0] == '/')
        return asprintf(&folder, "%s/.cache/varve", home) < 0 ? NULL : folder;
    return NULL;
}

void vv_cache_make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}
