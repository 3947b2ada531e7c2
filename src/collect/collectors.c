/* SPDX-License-Identifier: Apache-2.0 */
/* collectors.c — the list of sources, and when each begins. Runs in every process that `varve record` starts, shells
 * and compilers too: where there is nothing to collect it does nothing. */
#include "collect/collectors.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/collect_list.h"
#include "base/os.h"
#include "base/turn.h"
#include "collect/modules.h"
#include "collect/python.h"
#include "collect/torch.h"
#include "collect/torch_memory.h"
#include "collect/torch_nn.h"
#include "record/recorder.h"
#include "varve/varve.h"

static uint32_t wanted; /* bits of enum vv_collect_source; atomic */
static bool is_told;    /* before the program began: its environment chose, and the program does not */
static int turn;        /* turn.h */

bool vv_collectors_want(const char *name)
{
    return (__atomic_load_n(&wanted, __ATOMIC_RELAXED) & vv_collect_bit(name)) != 0;
}

void vv_collectors_look(void)
{
    if (__atomic_load_n(&wanted, __ATOMIC_RELAXED) == 0 || !vv_turn_take(&turn))
        return;
    if (vv_modules_changed() && vv_collectors_want("torch"))
        vv_torch_look();
    vv_turn_give(&turn);
}

/* With the turn. What is loaded already is looked at; of what comes, Python tells. */
static void collect(uint32_t sources)
{
    __atomic_store_n(&wanted, sources, __ATOMIC_RELAXED);
    vv_torch_memory_want(vv_collectors_want("memory"));
    vv_torch_nn_want(vv_collectors_want("modules"));
    vv_modules_changed();
    (vv_collectors_want("torch") ? vv_torch_look : vv_torch_leave)();
    (sources != 0 ? vv_python_look : vv_python_leave)();
}

VARVE_API enum varve_code varve_collect(const char *sources, struct varve_error *error)
{
    uint32_t bits;
    VV_TRY(vv_collect_parse(sources != NULL ? sources : "auto", &bits, error));
    if (is_told)
        return VARVE_OK;
    if (vv_os_is_privileged())
        VV_FAIL(error, VARVE_PERMISSION, "nothing is collected in a set-user-id process");
    if (!vv_turn_take(&turn))
        VV_FAIL(error, VARVE_STATE, "another thread is in varve_collect: call it again");
    int saved_errno = errno;
    collect(bits);
    errno = saved_errno;
    vv_turn_give(&turn);
    return VARVE_OK;
}

/* Another file of the same name may have been loaded before, such as the one that `varve record` preloads: it collects,
 * or all would be recorded twice. */
static bool is_second_copy(void)
{
    static const char here;
    struct vv_module first;
    Dl_info ours;
    return vv_module_find("libvarve.so", &first) && dladdr(&here, &ours) != 0 && strcmp(ours.dli_fname, first.path) != 0;
}

/* After the recorder's own: a process that it leaves alone is left alone here. */
__attribute__((constructor(102))) static void on_load(void)
{
    const char *list = getenv("VARVE_COLLECT");
    uint32_t sources;
    is_told = vv_session.running;
    if (is_told && !is_second_copy() &&
        vv_collect_parse(list != NULL && *list != '\0' ? list : "auto", &sources, NULL) == VARVE_OK)
        collect(sources);
}
