/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define OWN_FILES "/proc/self/fd"

int vv_unnamed_open(int at, const char *folder, mode_t mode)
{
    if (access(OWN_FILES, X_OK) != 0)
        return -1;
    return openat(at, folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
}

int vv_unnamed_name(int file, int at, const char *name)
{
    char own[sizeof OWN_FILES + 12];
    snprintf(own, sizeof own, OWN_FILES "/%d", file);
    return linkat(AT_FDCWD, own, at, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}
