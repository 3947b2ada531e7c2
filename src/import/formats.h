/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h — every format that Varve reads, in the order in which the formats are probed. Each is
 * a struct vv_importer in a room of its own. Chrome's JSON has many dialects, so formats with a
 * name of their own come before it. */
#ifndef VV_IMPORT_FORMATS_H
#define VV_IMPORT_FORMATS_H

#include "import/input/format.h"

#define VV_FORMATS(FORMAT) \
    FORMAT(varve) \
    FORMAT(ireeprof) \
    FORMAT(iree_statistics) \
    FORMAT(execution_trace) \
    FORMAT(chrome) \
    FORMAT(mlirgraph) \
    FORMAT(node_link) \
    FORMAT(model_explorer) \
    FORMAT(graphml) \
    FORMAT(svg) \
    FORMAT(html) \
    FORMAT(png) \
    FORMAT(rocprof) \
    FORMAT(xspace) \
    FORMAT(xspace_json) \
    FORMAT(perfetto) \
    FORMAT(database) \
    FORMAT(dot) \
    FORMAT(profile_csv) \
    FORMAT(mlir) \
    FORMAT(memory_plan) \
    FORMAT(perf_script)

#define VV_DECLARE(name) extern const struct vv_importer vv_importer_##name;
VV_FORMATS(VV_DECLARE)
#undef VV_DECLARE

/* The reader of a path, by its content; NULL: of no format. `head` has the first bytes of a file,
 * decompressed. */
const struct vv_importer *vv_importer_of(const char *path, bool is_folder, const char *head,
                                         size_t head_bytes);
/* Writes the titles of formats, as many as there is room for: "varve, IREE profile bundle …". */
void vv_formats_list(char *out, size_t bytes);

#endif
