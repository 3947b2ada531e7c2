/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/torch.h"

#include <stdio.h>

#include "collect/collectors.h"
#include "collect/peek.h"
#include "collect/torch_record.h"
#include "record/collector.h"

#define NAME "torch"

static bool read_memory(void *state, const void *address, void *out, size_t bytes)
{
    (void)state;
    return vv_peek(address, out, bytes);
}

static void note(const struct vv_torch_api *api, const struct vv_torch_layout *layout)
{
    char text[200];
    bool is_whole = layout->rung == VV_TORCH_LISTS;
    snprintf(text, sizeof text, "%s%s%s%s", api->version, api->version[0] != '\0' ? ": " : "",
             vv_torch_rung_text(layout->rung), is_whole ? "" : "; the self-test did not find the rest");
    vv_collector_note(NAME, is_whole ? VV_COLLECTOR_ATTACHED : VV_COLLECTOR_PARTLY, text);
}

static void attach(const struct vv_module *library)
{
    static struct vv_torch_api api;
    const struct vv_torch_reader reader = { read_memory, NULL };
    const struct vv_torch_wishes wishes = { vv_collectors_want("shapes"), vv_collectors_want("strides") };
    struct vv_torch_layout layout;
    const char *missing;
    char text[200];
    if (!vv_torch_api_find(&api, library, &missing)) {
        snprintf(text, sizeof text, "%s%sno %s in it", api.version, api.version[0] != '\0' ? ": " : "", missing);
        vv_collector_note(NAME, VV_COLLECTOR_REFUSED, text);
        return;
    }
    vv_torch_layout_find(&api, &reader, &layout);
    if (vv_torch_record_begin(&api, &layout, &wishes))
        note(&api, &layout);
    else
        vv_collector_note(NAME, VV_COLLECTOR_REFUSED, "no memory for the names of its operators");
}

void vv_torch_look(void)
{
    static bool is_known; /* atomic: interpreters of one process may import at once                */
    struct vv_module library;
    if (__atomic_load_n(&is_known, __ATOMIC_RELAXED) || !vv_module_find("libtorch_cpu.so", &library) ||
        __atomic_exchange_n(&is_known, true, __ATOMIC_RELAXED))
        return;
#if defined(__x86_64__)
    attach(&library);
#else
    (void)attach;
    vv_collector_note(NAME, VV_COLLECTOR_REFUSED, "its callbacks are known for x86-64 only");
#endif
}
