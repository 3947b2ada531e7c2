/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h — every format that is read, in the order in which they are asked. Each is a struct vv_importer in a room of
 * its own; one that knows its files by a name comes before Chrome's JSON, which has many dialects. */
#ifndef VV_IMPORT_FORMATS_H
#define VV_IMPORT_FORMATS_H

#include "import/input/format.h"

#define VV_FORMATS(FORMAT) \
    FORMAT(varve) \
    FORMAT(chrome) \
    FORMAT(mlirgraph) \
    FORMAT(rocprof) \
    FORMAT(xspace) \
    FORMAT(xspace_json) \
    FORMAT(perfetto) \
    FORMAT(nsys) \
    FORMAT(memory_plan)

#define VV_DECLARE(name) extern const struct vv_importer vv_importer_##name;
VV_FORMATS(VV_DECLARE)
#undef VV_DECLARE

#endif
