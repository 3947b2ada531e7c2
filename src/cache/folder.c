/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/folder.h"

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

static bool is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A missing folder is made only inside a folder of this user. So root with another user's HOME
 * leaves nothing there. */
static bool has_folder(const char *path, const char *parent)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode);
    return stat(parent, &status) == 0 && status.st_uid == geteuid() && mkdir(path, 0700) == 0;
}

bool vv_cache_make_folders(const char *path)
{
    char *folder = strdup(path), *parent = strdup(path);
    bool is_there = folder != NULL && parent != NULL;
    size_t length = 0, before = 0;
    while (is_there &&
           (length = before + 1 + strcspn(path + before + 1, "/"), path[length] == '/')) {
        snprintf(folder, strlen(path) + 1, "%.*s", (int)length, path);
        snprintf(parent, strlen(path) + 1, "%.*s", before > 0 ? (int)before : 1, path);
        is_there = has_folder(folder, parent);
        before = length;
    }
    is_there = is_there && is_own_folder(folder) && vv_folder_is_safe(AT_FDCWD, folder);
    free(folder);
    free(parent);
    return is_there;
}
