/* SPDX-License-Identifier: Apache-2.0 */
/* collectors.c — the list of sources, and when each begins. Runs in every process that `varve record` starts, shells
 * and compilers too: where there is nothing to collect it does nothing. */
#include "collect/collectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/collect_list.h"
#include "collect/modules.h"
#include "collect/python.h"
#include "collect/torch.h"
#include "collect/torch_memory.h"
#include "record/recorder.h"

static uint32_t wanted; /* bits of enum vv_collect_source */

bool vv_collectors_want(const char *name)
{
    return (wanted & vv_collect_bit(name)) != 0;
}

void vv_collectors_look(void)
{
    if (wanted != 0 && vv_modules_changed() && vv_collectors_want("torch"))
        vv_torch_look();
}

/* After the recorder's own: a process that it leaves alone is left alone here. */
__attribute__((constructor(102))) static void on_load(void)
{
    const char *list = getenv("VARVE_COLLECT");
    if (!vv_session.running || vv_collect_parse(list != NULL && *list != '\0' ? list : "auto", &wanted, NULL) != VARVE_OK)
        return;
    if (vv_collectors_want("memory"))
        vv_torch_memory_begin();
    vv_collectors_look();
    if (wanted != 0)
        vv_python_begin();
}
