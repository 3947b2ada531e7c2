/* SPDX-License-Identifier: Apache-2.0 */
#include "import/formats.h"

#include <stdio.h>
#include <string.h>

static const struct vv_importer *const importers[] = {
#define VV_ROW(name) &vv_importer_##name,
    VV_FORMATS(VV_ROW)
#undef VV_ROW
};
#define IMPORTER_COUNT (sizeof importers / sizeof importers[0])

const struct vv_importer *vv_importer_of(const char *path, bool is_folder, const char *head,
                                         size_t head_bytes)
{
    for (size_t i = 0; i < IMPORTER_COUNT; i++)
        if (importers[i]->probe(path, is_folder, head, head_bytes))
            return importers[i];
    return NULL;
}

void vv_formats_list(char *out, size_t bytes)
{
    static const char rest[] = ", and more: doc/formats.md";
    size_t length = 0;
    for (size_t i = 0; i < IMPORTER_COUNT; i++) {
        size_t more = strlen(importers[i]->title) + (i == 0 ? 0 : 2);
        if (length + more + sizeof rest > bytes) {
            snprintf(out + length, bytes - length, "%s", rest);
            return;
        }
        length += (size_t)snprintf(out + length, bytes - length, "%s%s", i == 0 ? "" : ", ",
                                   importers[i]->title);
    }
}
