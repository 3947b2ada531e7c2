/* SPDX-License-Identifier: Apache-2.0 */
/* site.h — call sites, and the metadata file that declares them. */
#ifndef VV_RECORD_SITE_H
#define VV_RECORD_SITE_H

#include <stdint.h>

#include "base/must_use.h"
#include "ctf/layout.h"
#include "varve/varve.h"

/* Declares the site's class of this kind in the metadata, and returns its id; 0: that failed. */
uint32_t vv_site_declare(struct varve_site *site, enum vv_site_kind kind);
/* Writes the metadata file anew, with all declared classes. Lock held. Returns 0 or an errno
 * number. */
VV_MUST_USE int vv_metadata_write(void);
/* Removes the metadata file: the folder is given up. Lock held. */
void vv_metadata_remove(void);

#endif
