/* SPDX-License-Identifier: Apache-2.0 */
/* cache_folder.h — where this user's caches go that have no better place. Thread-safe. */
#ifndef VV_IMPORT_CACHE_FOLDER_H
#define VV_IMPORT_CACHE_FOLDER_H

/* "$XDG_CACHE_HOME/varve" or "~/.cache/varve", which may not be there; NULL if there is none. Belongs to the caller. */
char *vv_cache_folder(void);
/* Makes every folder on the way to the file `path`, each for this user alone. */
void vv_cache_make_folders(char *path);

#endif
