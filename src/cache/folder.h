/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h — where this user's caches go that have no better place. Thread-safe. */
#ifndef VV_CACHE_FOLDER_H
#define VV_CACHE_FOLDER_H

#include <stdbool.h>

/* "$XDG_CACHE_HOME/varve" or "~/.cache/varve", which may not be there; NULL if there is none. Belongs to the caller. */
VV_MUST_USE char *vv_cache_folder(void);
/* Makes every folder on the way to the file `path` that is missing, each for this user alone. False: it cannot be made, or is not this
 * user's alone. */
VV_MUST_USE bool vv_cache_make_folders(const char *path);

#endif
