/* SPDX-License-Identifier: Apache-2.0 */
/* extra_records.c — instants, counters, asynchronous ranges, flows, memory. */
#include "record/hot_path.h"

VARVE_API void varve_emit_mark(struct varve_site *site)
{
    vv_put_site(vv_self_in_epoch(), site, VV_KIND_MARK);
}

VARVE_API void varve_emit_counter(struct varve_site *site, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    vv_put_site_field(site, VV_KIND_COUNTER, bits);
}

VARVE_API void varve_emit_async_begin(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_ASYNC_BEGIN, id);
}

VARVE_API void varve_emit_async_end(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_ASYNC_END, id);
}

VARVE_API void varve_emit_flow_out(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_FLOW_OUT, id);
}

VARVE_API void varve_emit_flow_in(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_FLOW_IN, id);
}

VARVE_API void varve_emit_alloc(const void *address, uint64_t bytes, uint32_t device)
{
    const uint64_t fields[] = { (uint64_t)(uintptr_t)address, bytes, device };
    vv_put_fields(vv_self_in_epoch(), VV_EVENT_ALLOC, fields, 3);
}

VARVE_API void varve_emit_free(const void *address, uint32_t device)
{
    const uint64_t fields[] = { (uint64_t)(uintptr_t)address, device };
    vv_put_fields(vv_self_in_epoch(), VV_EVENT_FREE, fields, 2);
}
