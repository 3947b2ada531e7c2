/* SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include <string.h>

static const struct vv_exporter *const exporters[] = { &vv_exporter_chrome, &vv_exporter_pgle };

enum varve_code vv_exporter_find(const char *name, const struct vv_exporter **out_exporter,
                                 struct varve_error *error)
{
    char known[256] = "";
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++) {
        if (strcmp(exporters[i]->name, name) == 0) {
            *out_exporter = exporters[i];
            return VARVE_OK;
        }
        strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, exporters[i]->name, sizeof known - strlen(known) - 1);
    }
    VV_FAIL(error, VARVE_INVALID, "no export format '%s'. Known: %s", name, known);
}
