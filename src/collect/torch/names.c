/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — a hash table, with a list of rows for each hash. A row is filled, and then made visible
 * by the word that leads to it. Rows are never removed, and the sites in them never move. Rows are
 * added under the recorder's lock, which is free in a forked child. */
#include "collect/torch/names.h"

#include <string.h>

#include "base/system/os.h"
#include "collect/torch/api.h"
#include "record/stream/recorder.h"

#define RANGES_MAX 1024u
#define TEXT_BYTES (UINT64_C(4) << 20)

static const struct vv_torch_api *torch;
/* memory pages are taken only as rows are */
_Alignas(64) struct vv_torch_operator vv_torch_operators[VV_TORCH_OPERATORS_MAX];
static uint32_t row_count = VV_TORCH_OPERATOR_HASHES; /* includes the first rows, free or not     */
static struct varve_site *ranges;
static uint32_t range_count;     /* atomic */
static char *texts;
static uint64_t texts_used;

bool vv_torch_names_begin(const struct vv_torch_api *api)
{
    torch = api;
    if (ranges == NULL)
        ranges = vv_os_reserve(RANGES_MAX * sizeof *ranges);
    if (texts == NULL)
        texts = vv_os_reserve(TEXT_BYTES);
    return ranges != NULL && texts != NULL;
}

uint32_t vv_torch_layer(const char *name, uint32_t usual)
{
    /* The first letters of the texts below: nearly every other name has another first letter. */
    switch (name[0]) {
    case 'c': case '_': case 'g': case 'n': case 'u': case 'm': case 'x': case 'h': case 'r':
        break;
    default:
        return usual;
    }
    static const char *const collective[] = { "c10d::", "_c10d_functional::", "c10d_functional::",
                                              "gloo:", "nccl:",
                                              "ucc:", "mpi:", "xccl:", "hccl:",
                                              "record_param_comms" };
    for (size_t i = 0; i < sizeof collective / sizeof *collective; i++)
        if (strncmp(name, collective[i], strlen(collective[i])) == 0)
            return VARVE_LAYER_COMM;
    return usual;
}

/* Returns the row; or NULL, and *out_last is the last row with the same hash. */
static struct vv_torch_operator *find_operator(const void *schema, const char *text,
                                               struct vv_torch_operator **out_last)
{
    const uint64_t rest = vv_torch_schema_rest(schema);
    for (uint32_t row = vv_torch_operator_hash(schema);;) {
        struct vv_torch_operator *known = *out_last = &vv_torch_operators[row];
        if (vv_torch_operator_is(known, schema, text, rest))
            return known;
        row = __atomic_load_n(&known->next, __ATOMIC_ACQUIRE);
        if (row == 0)
            return NULL;
    }
}

static const char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (texts_used + bytes > TEXT_BYTES)
        return NULL;
    char *copy = memcpy(texts + texts_used, text, bytes);
    texts_used += bytes;
    return copy;
}

static struct vv_torch_operator *add(const void *schema, const char *text, const void *guard)
{
    struct vv_torch_operator *last, *row = find_operator(schema, text, &last);
    if (row != NULL || (last->schema != NULL && row_count >= VV_TORCH_OPERATORS_MAX))
        return row;
    const char *name = copy_text(torch->name(guard));
    if (name == NULL)
        return NULL;
    row = last->schema == NULL ? last : &vv_torch_operators[row_count];
    row->text = text;
    row->rest = vv_torch_schema_rest(schema);
    row->site = (struct varve_site){ .name = name, .layer = vv_torch_layer(name, VARVE_LAYER_OP) };
    row->inputs = (uint32_t)torch->num_inputs(guard);
    __atomic_store_n(&row->schema, schema, __ATOMIC_RELEASE);
    if (row != last)
        __atomic_store_n(&last->next, row_count++, __ATOMIC_RELEASE);
    return row;
}

struct vv_torch_operator *vv_torch_operator_search(const void *schema, const void *guard)
{
    struct vv_torch_operator *last;
    const char *text;
    memcpy(&text, schema, sizeof text);
    struct vv_torch_operator *known = find_operator(schema, text, &last);
    if (VARVE_UNLIKELY(known == NULL) && vv_recorder_lock()) {
        known = add(schema, text, guard);
        vv_recorder_unlock();
    }
    return known;
}

static struct varve_site *find_range(const char *name, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(ranges[i].name, name) == 0)
            return &ranges[i];
    return NULL;
}

struct varve_site *vv_torch_async_site(const char *name)
{
    struct varve_site *known = find_range(name, __atomic_load_n(&range_count, __ATOMIC_ACQUIRE));
    if (known != NULL || !vv_recorder_lock())
        return known;
    known = find_range(name, range_count);
    const char *kept = known == NULL && range_count < RANGES_MAX ? copy_text(name) : NULL;
    if (kept != NULL) {
        known = &ranges[range_count];
        *known =
            (struct varve_site){ .name = kept, .layer = vv_torch_layer(name, VARVE_LAYER_API) };
        __atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
    }
    vv_recorder_unlock();
    return known;
}
