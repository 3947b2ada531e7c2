/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c — an instrumented library that programs load and unload: tests/programs/unload.c. Built
 * twice, with other names in the same places: PLUGIN is the name of all its sites. */
#include "varve/varve.h"

#ifndef PLUGIN
#define PLUGIN "plugin"
#endif

VARVE_SITE(outer, PLUGIN " outer", VARVE_LAYER_OP);
VARVE_SITE(inner, PLUGIN " inner", VARVE_LAYER_RUNTIME);

__attribute__((visibility("default"))) void plugin_run(int times);

void plugin_run(int times)
{
    varve_begin(&outer);
    for (int i = 0; i < times; i++) {
        varve_begin(&inner);
        varve_end();
    }
    varve_end();
}
