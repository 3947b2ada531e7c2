/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h — this user's folder for caches that cannot lie beside their sources. Thread-safe. */
#ifndef VV_CACHE_FOLDER_H
#define VV_CACHE_FOLDER_H

#include <stdbool.h>

/* "$XDG_CACHE_HOME/varve" or "~/.cache/varve"; the folder may not exist. NULL if there is no such
 * path. The caller frees it. */
VV_MUST_USE char *vv_cache_folder(void);
/* Makes each missing folder on the way to the file `path`, for this user alone. False: a folder
 * cannot be made, or does not belong to this user alone. */
VV_MUST_USE bool vv_cache_make_folders(const char *path);

#endif
