/* SPDX-License-Identifier: Apache-2.0 */
/* torch.c — attaches to PyTorch, from 1.13 on, as it is installed. */
#include <stdio.h>

#include "collect/process/collector.h"
#include "collect/process/peek.h"
#include "collect/process/wishes.h"
#include "collect/torch/compiling.h"
#include "collect/torch/memory.h"
#include "collect/torch/record.h"
#include "record/source_note.h"

#define NAME "torch"

static bool read_memory(void *state, const void *address, void *out, size_t bytes)
{
    (void)state;
    return vv_peek(address, out, bytes);
}

static struct vv_torch_api api;
static struct vv_torch_layout layout;
static struct vv_torch_wishes wishes;
static bool can_attach, is_attached;

static void note_state(void)
{
    char text[200];
    bool is_whole = layout.rung == VV_TORCH_LISTS && (!wishes.data || layout.data.is_known);
    snprintf(text, sizeof text, "%s%s%s%s%s", api.version, api.version[0] != '\0' ? ": " : "",
             vv_torch_rung_text(layout.rung),
             wishes.data && layout.data.is_known ? ", data" : "",
             is_whole ? "" : "; the self-test did not find the rest");
    vv_collector_note(NAME, is_whole ? VV_COLLECTOR_ATTACHED : VV_COLLECTOR_PARTLY, text);
}

/* Finds what the loaded library allows, once. */
static bool find_layout(const struct vv_module *library)
{
    const struct vv_torch_reader reader = { read_memory, NULL };
    const char *missing;
    char text[200];
    if (!vv_torch_api_find(&api, library, &missing)) {
        snprintf(text, sizeof text, "%s%sno %s in it", api.version,
                 api.version[0] != '\0' ? ": " : "", missing);
        vv_collector_note(NAME, VV_COLLECTOR_REFUSED, text);
        return false;
    }
    vv_torch_layout_find(&api, &reader, &layout);
    return true;
}

static void leave(void)
{
    if (is_attached)
        vv_torch_record_end();
    is_attached = false;
}

static void attach(void)
{
    const struct vv_torch_wishes wanted = {
        vv_wishes_have("shapes") || vv_wishes_have("data"), vv_wishes_have("strides"),
        vv_wishes_have("data")
    };
    if (vv_wishes_have("memory") && !vv_torch_memory_is_between())
        vv_collector_note(
            "memory", VV_COLLECTOR_REFUSED,
            "PyTorch's allocator was there first: only `varve record` comes before it");
    if (is_attached && wanted.inputs == wishes.inputs && wanted.strides == wishes.strides &&
        wanted.data == wishes.data)
        return;
    leave();
    wishes = wanted;
    is_attached = vv_torch_record_begin(&api, &layout, &wishes);
    if (is_attached)
        note_state();
    else
        vv_collector_note(NAME, VV_COLLECTOR_REFUSED, "no memory for the names of its operators");
}

/* Attaches if PyTorch is loaded, for the sources that vv_wishes_have names; and again if these have
 * changed. */
static void attach_if_loaded(void)
{
    static bool is_known;
    struct vv_module library;
    if (!is_known && vv_module_find("libtorch_cpu.so", &library)) {
        is_known = true;
#if defined(__x86_64__)
        can_attach = find_layout(&library);
#else
        (void)find_layout;
        vv_collector_note(NAME, VV_COLLECTOR_REFUSED, "its callbacks are known for x86-64 only");
#endif
    }
    if (can_attach)
        attach();
}

extern const struct vv_collector vv_collector_torch;
const struct vv_collector vv_collector_torch = {
    .want = vv_torch_compiling_want, .look = attach_if_loaded, .leave = leave
};
