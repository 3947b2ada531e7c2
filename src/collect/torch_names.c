/* SPDX-License-Identifier: Apache-2.0 */
/* torch_names.c — two hash tables with open addressing in reserved address space. A row is filled, then made
 * visible by the slot that holds it; rows are never taken away, and the sites in them never move. Added to under the
 * recorder's lock, which a forked child finds free. */
#include "collect/torch_names.h"

#include <string.h>

#include "base/os.h"
#include "collect/torch_api.h"
#include "record/recorder.h"

#define OPERATORS_MAX 16384u /* PyTorch registers some 5,000                                       */
#define RANGES_MAX 1024u
#define TEXT_BYTES (UINT64_C(4) << 20)

static const struct vv_torch_api *torch;
static struct vv_torch_operator *operators;
static uint32_t *operator_slots; /* row + 1; 0 = free; atomic */
static uint32_t operator_count;
static struct varve_site *ranges;
static uint32_t range_count;     /* atomic */
static char *texts;
static uint64_t texts_used;

void vv_torch_names_begin(const struct vv_torch_api *api)
{
    torch = api;
    operators = vv_os_reserve(OPERATORS_MAX * sizeof *operators);
    operator_slots = vv_os_reserve(2 * OPERATORS_MAX * sizeof *operator_slots);
    ranges = vv_os_reserve(RANGES_MAX * sizeof *ranges);
    texts = vv_os_reserve(TEXT_BYTES);
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

static uint32_t slot_of(const void *schema)
{
    uint64_t hash = (uint64_t)(uintptr_t)schema * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(hash >> 49) & (2 * OPERATORS_MAX - 1);
}
_Static_assert(2 * OPERATORS_MAX == 1u << 15, "the highest 15 bits of the product");

/* A std::string never holds less than 8 readable bytes: those within it, or a block of the heap. */
static uint64_t first_bytes(const char *text)
{
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

static bool is_same(const struct vv_torch_operator *known, const void *schema, const char *text)
{
    return known->schema == schema && known->text == text && known->first_bytes == first_bytes(text);
}

/* The row, or NULL and the slot that is free for it. Half of the slots are always free. */
static struct vv_torch_operator *look(const void *schema, const char *text, uint32_t *out_slot)
{
    for (uint32_t slot = slot_of(schema);; slot = (slot + 1) & (2 * OPERATORS_MAX - 1)) {
        uint32_t row = __atomic_load_n(&operator_slots[slot], __ATOMIC_ACQUIRE);
        *out_slot = slot;
        if (row == 0)
            return NULL;
        if (is_same(&operators[row - 1], schema, text))
            return &operators[row - 1];
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
    row = &operators[operator_count];
    *row = (struct vv_torch_operator){
        .schema = schema, .text = text, .first_bytes = first_bytes(text),
        .site = { .name = name, .layer = vv_torch_layer(name, VARVE_LAYER_OP) },
        .inputs = (uint32_t)torch->num_inputs(guard),
    };
    __atomic_store_n(&operator_slots[slot], ++operator_count, __ATOMIC_RELEASE);
    return row;
}

struct vv_torch_operator *vv_torch_operator_find(const void *schema, const void *guard)
{
    const char *text;
    uint32_t slot;
    if (operators == NULL || operator_slots == NULL || texts == NULL)
        return NULL;
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
    if (ranges == NULL || texts == NULL)
        return NULL;
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
