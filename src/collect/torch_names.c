/* SPDX-License-Identifier: Apache-2.0 */
/* torch_names.c — two hash tables with open addressing in reserved address space. A row is filled, then made
 * visible by the slot that holds it; rows are never taken away, and the sites in them never move. Added to under the
 * recorder's lock, which a forked child finds free. */
#include "collect/torch_names.h"

#include <string.h>

#include "base/os.h"
#include "collect/torch_api.h"
#include "record/recorder.h"

#define OPERATORS_MAX (VV_TORCH_OPERATOR_SLOTS / 2) /* PyTorch registers some 5,000                */
#define RANGES_MAX 1024u
#define TEXT_BYTES (UINT64_C(4) << 20)

static const struct vv_torch_api *torch;
struct vv_torch_operators vv_torch_operators;
static uint32_t operator_count;
static struct varve_site *ranges;
static uint32_t range_count;     /* atomic */
static char *texts;
static uint64_t texts_used;

bool vv_torch_names_begin(const struct vv_torch_api *api)
{
    struct vv_torch_operators *known = &vv_torch_operators;
    torch = api;
    if (known->rows == NULL)
        known->rows = vv_os_reserve(OPERATORS_MAX * sizeof *known->rows);
    if (known->slots == NULL)
        known->slots = vv_os_reserve(VV_TORCH_OPERATOR_SLOTS * sizeof *known->slots);
    if (ranges == NULL)
        ranges = vv_os_reserve(RANGES_MAX * sizeof *ranges);
    if (texts == NULL)
        texts = vv_os_reserve(TEXT_BYTES);
    return known->rows != NULL && known->slots != NULL && ranges != NULL && texts != NULL;
}

uint32_t vv_torch_layer(const char *name, uint32_t usual)
{
    static const char *const collective[] = { "c10d::", "_c10d_functional::", "c10d_functional::", "gloo:", "nccl:",
                                              "ucc:", "mpi:", "xccl:", "hccl:", "record_param_comms" };
    for (size_t i = 0; i < sizeof collective / sizeof *collective; i++)
        if (strncmp(name, collective[i], strlen(collective[i])) == 0)
            return VARVE_LAYER_COMM;
    return usual;
}

static bool is_same(const struct vv_torch_operator *known, const void *schema, const char *text)
{
    return known->schema == schema && known->text == text && known->first_bytes == vv_torch_first_bytes(text);
}

/* The row, or NULL and the slot that is free for it. Half of the slots are always free. */
static struct vv_torch_operator *look(const void *schema, const char *text, uint32_t *out_slot)
{
    const struct vv_torch_operators *known = &vv_torch_operators;
    for (uint32_t slot = vv_torch_operator_slot(schema);; slot = (slot + 1) & (VV_TORCH_OPERATOR_SLOTS - 1)) {
        uint32_t row = __atomic_load_n(&known->slots[slot], __ATOMIC_ACQUIRE);
        *out_slot = slot;
        if (row == 0)
            return NULL;
        if (is_same(&known->rows[row - 1], schema, text))
            return &known->rows[row - 1];
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
    uint32_t slot;
    struct vv_torch_operator *row = look(schema, text, &slot);
    if (row != NULL || operator_count >= OPERATORS_MAX)
        return row;
    const char *name = copy_text(torch->name(guard));
    if (name == NULL)
        return NULL;
    row = &vv_torch_operators.rows[operator_count];
    *row = (struct vv_torch_operator){
        .schema = schema, .text = text, .first_bytes = vv_torch_first_bytes(text),
        .site = { .name = name, .layer = vv_torch_layer(name, VARVE_LAYER_OP) },
        .inputs = (uint32_t)torch->num_inputs(guard),
    };
    __atomic_store_n(&vv_torch_operators.slots[slot], ++operator_count, __ATOMIC_RELEASE);
    return row;
}

struct vv_torch_operator *vv_torch_operator_search(const void *schema, const void *guard)
{
    const char *text;
    uint32_t slot;
    memcpy(&text, schema, sizeof text);
    struct vv_torch_operator *known = look(schema, text, &slot);
    if (VARVE_UNLIKELY(known == NULL) && vv_record_enter()) {
        known = add(schema, text, guard);
        vv_record_leave();
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
    if (known != NULL || !vv_record_enter())
        return known;
    known = find_range(name, range_count);
    const char *kept = known == NULL && range_count < RANGES_MAX ? copy_text(name) : NULL;
    if (kept != NULL) {
        known = &ranges[range_count];
        *known = (struct varve_site){ .name = kept, .layer = vv_torch_layer(name, VARVE_LAYER_API) };
        __atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
    }
    vv_record_leave();
    return known;
}
