/* SPDX-License-Identifier: Apache-2.0 */
/* collectors.c — when each source (settings/sources.h) begins. This runs in every process that
 * `varve record` starts, in shells and compilers too: if there is nothing to collect, it does
 * nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/os.h"
#include "base/try_lock.h"
#include "collect/loaded.h"
#include "collect/process/collector.h"
#include "collect/process/modules.h"
#include "collect/process/wishes.h"
#include "collect/python/python.h"
#include "collect/torch/compiling.h"
#include "collect/torch/nn.h"
#include "record/process_folder.h"
#include "record/stream/recorder.h"
#include "settings/sources.h"
#include "varve/varve.h"

static bool is_told; /* the environment chose the sources: the program does not */
static bool collects; /* this copy of the library does */
static int turn;      /* base/try_lock.h */

#define VV_DECLARE(name, is_standard, needs, whole, says)                                          \
    extern const struct vv_collector vv_collector_##name;
#define VV_ROW(name, is_standard, needs, whole, says) { #name, &vv_collector_##name },
#define VV_NO_ROW(name, is_standard, needs, whole, says)
VV_COLLECT_SOURCES(VV_DECLARE, VV_NO_ROW)

static const struct {
    const char *source;
    const struct vv_collector *is;
} collectors[] = { VV_COLLECT_SOURCES(VV_ROW, VV_NO_ROW) };
enum { COLLECTORS = sizeof collectors / sizeof collectors[0] };

static void look_or_leave(bool has_to_leave)
{
    for (size_t i = 0; i < COLLECTORS; i++) {
        bool is_wanted = vv_wishes_have(collectors[i].source);
        if (is_wanted && collectors[i].is->look != NULL)
            collectors[i].is->look();
        else if (!is_wanted && has_to_leave && collectors[i].is->leave != NULL)
            collectors[i].is->leave();
    }
}

/* A library may have been loaded: each collector that waits for one looks for it. Cheap if no
 * library was loaded. */
static void attach_to_new_libraries(void)
{
    bool is_unheard = false;
    if (!vv_wishes_any() || !vv_turn_take(&turn))
        return;
    if (vv_modules_changed()) {
        look_or_leave(false);
        is_unheard = vv_loaded_look(false);
    }
    vv_turn_give(&turn);
    if (is_unheard && collects)
        vv_process_folder_make();
}

/* Python's audit events, for the sources that redirect functions of PyTorch. */
static bool hears(const char *event)
{
    return vv_torch_nn_hears(event) || vv_torch_compiling_hears(event);
}

static void heard(const char *event, const struct vv_python_api *api)
{
    if (vv_torch_nn_hears(event))
        vv_torch_nn_look(api);
    if (vv_torch_compiling_hears(event))
        vv_torch_compiling_look(api);
}

/* The caller has the turn. Examines the libraries that are loaded already; Python's imports tell of
 * later ones. */
static void collect(uint32_t sources)
{
    static const struct vv_python_listener listener = { attach_to_new_libraries, hears, heard };
    vv_wishes_set(sources);
    for (size_t i = 0; i < COLLECTORS; i++)
        if (collectors[i].is->want != NULL)
            collectors[i].is->want(vv_wishes_have(collectors[i].source));
    vv_modules_changed();
    vv_python_listen(&listener);
    look_or_leave(true);
    vv_loaded_look(false);
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

/* Is this a second copy of the library? A file of the same name may have been loaded before, such
 * as the one that `varve record` preloads. That one collects; if both did, all would be recorded
 * twice. */
static bool is_second_copy(void)
{
    static const char here;
    struct vv_module first;
    Dl_info ours;
    return vv_module_find("libvarve.so", &first) && dladdr(&here, &ours) != 0 &&
           strcmp(ours.dli_fname, first.path) != 0;
}

/* Runs after the recorder's two constructors. A process that they do not record is left alone
 * here. */
__attribute__((constructor(103))) static void on_load(void)
{
    const char *list = getenv("VARVE_COLLECT");
    uint32_t sources;
    is_told = vv_session.running;
    if (is_told && !is_second_copy() &&
        vv_collect_parse(list != NULL && *list != '\0' ? list : "auto", &sources, NULL) ==
            VARVE_OK) {
        collect(sources);
        collects = true;
        if (vv_loaded_look(true))
            vv_process_folder_make();
    }
}

/* Libraries that were loaded since by a program that no collector hears. Before the session ends,
 * whose destructor runs later. */
__attribute__((destructor(103))) static void on_exit_of_program(void)
{
    if (!collects || !__atomic_load_n(&vv_session.has_folder, __ATOMIC_RELAXED) ||
        !vv_turn_take(&turn))
        return;
    if (vv_modules_changed())
        vv_loaded_look(false);
    vv_turn_give(&turn);
}
