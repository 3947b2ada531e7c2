/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/nccl/nccl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/collector.h"
#include "collect/process/launches.h"
#include "collect/process/modules.h"
#include "collect/process/wishes.h"
#include "record/source_note.h"

#define NAME "nccl"
#define PLUGIN "NCCL_PROFILER_PLUGIN"
#define OLDEST 22300 /* 2.23: the first with an interface for profilers                          */

static bool is_on;        /* atomic: the source is asked for                                     */
static bool has_begun;    /* atomic: NCCL has asked for the plug-in                              */
static bool was_refused;  /* with collectors.c's turn                                            */
static uint32_t groups;   /* atomic: communicators that were made                                */
static uint32_t too_many; /* atomic: those of them that had no room                              */

/* 22304 is 2.23.4; 2708 is 2.7.8. 0: no NCCL is loaded, or it does not say. */
static int nccl_version(void)
{
    struct vv_module library;
    int (*get_version)(int *), version = 0;
    void *handle = vv_module_find("libnccl.so", &library) ? vv_module_open(&library) : NULL;
    void *found = handle != NULL ? dlsym(handle, "ncclGetVersion") : NULL;
    if (handle != NULL && found == NULL)
        dlerror();
    memcpy(&get_version, &found, sizeof found);
    return found != NULL && get_version(&version) == 0 ? version : 0;
}

static void version_text(int version, char *out, size_t bytes)
{
    if (version >= 10000)
        snprintf(out, bytes, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    else if (version > 0)
        snprintf(out, bytes, "NCCL %d.%d.%d", version / 1000, version / 100 % 10, version % 100);
    else
        snprintf(out, bytes, "NCCL");
}

bool vv_nccl_is_on(void)
{
    return __atomic_load_n(&is_on, __ATOMIC_RELAXED);
}

bool vv_nccl_began(unsigned version, const struct vv_nccl_group *group)
{
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1], library[40];
    if (!vv_nccl_is_on())
        return false;
    vv_launches_want();
    __atomic_store_n(&has_begun, true, __ATOMIC_RELAXED);
    uint32_t count = 1 + __atomic_fetch_add(&groups, 1, __ATOMIC_RELAXED);
    uint32_t lost = group != NULL ? __atomic_load_n(&too_many, __ATOMIC_RELAXED)
                                  : 1 + __atomic_fetch_add(&too_many, 1, __ATOMIC_RELAXED);
    version_text(nccl_version(), library, sizeof library);
    int length = snprintf(text, sizeof text, "%s, interface %u, %u communicator%s", library,
                          version, count, count == 1 ? "" : "s");
    if (lost > 0)
        snprintf(text + length, sizeof text - (size_t)length, "; %u more at once than are kept",
                 lost);
    vv_collector_note(NAME, lost == 0 ? VV_COLLECTOR_ATTACHED : VV_COLLECTOR_PARTLY, text);
    return true;
}

static void refuse(const char *why)
{
    was_refused = true;
    vv_collector_note(NAME, VV_COLLECTOR_REFUSED, why);
}

static bool is_our_plugin(const char *path)
{
    static const char here;
    Dl_info ours;
    return dladdr(&here, &ours) != 0 && strcmp(ours.dli_fname, path) == 0;
}

static void want(bool is_wanted)
{
    __atomic_store_n(&is_on, is_wanted, __ATOMIC_RELAXED);
}

/* NCCL reads the variable when the program makes a communicator. */
static void look(void)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX], library[40];
    const char *plugin = getenv(PLUGIN);
    int version;
    if (was_refused || __atomic_load_n(&has_begun, __ATOMIC_RELAXED) ||
        (version = nccl_version()) == 0)
        return;
    version_text(version, library, sizeof library);
    if (version < OLDEST) {
        snprintf(why, sizeof why, "%s has no interface for profilers, 2.23 is the first: names of "
                 "kernels alone", library);
        refuse(why);
    } else if (plugin == NULL || *plugin == '\0') {
        refuse(PLUGIN " does not name libvarve.so: names of kernels alone");
    } else if (!is_our_plugin(plugin)) {
        snprintf(why, sizeof why, PLUGIN " names another tool, which was let: %.100s", plugin);
        refuse(why);
    }
}

static void leave(void)
{
    if (__atomic_load_n(&has_begun, __ATOMIC_RELAXED))
        vv_collector_note(NAME, VV_COLLECTOR_OFF, "collectives not recorded any more");
}

extern const struct vv_collector vv_collector_nccl;
const struct vv_collector vv_collector_nccl = { .want = want, .look = look, .leave = leave };
