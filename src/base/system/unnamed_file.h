/* SPDX-License-Identifier: Apache-2.0 */
/* unnamed_file.h — a file that gets its name when it is whole. Until then it is in its folder
 * without a name, so that nothing of it stays however the program ends, killed ones too.
 * Thread-safe. */
#ifndef VV_BASE_SYSTEM_UNNAMED_FILE_H
#define VV_BASE_SYSTEM_UNNAMED_FILE_H

#include <sys/types.h>

/* Makes a file for writing in `folder`, relative to `at` or AT_FDCWD; `mode` without the bits of
 * umask. Returns a descriptor; -1 if the file system has no such files, or nothing could name it
 * later (no /proc): then a name at once is the only way. */
VV_MUST_USE int vv_unnamed_open(int at, const char *folder, mode_t mode);

/* Gives the file a name. Returns 0 or an errno number; EEXIST: something has this name. */
VV_MUST_USE int vv_unnamed_name(int file, int at, const char *name);

#endif
