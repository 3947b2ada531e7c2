/* SPDX-License-Identifier: Apache-2.0 */
/* payloads.c — a table of the payloads that are known, and of their fields. Each becomes a note
 * (varve/past.h) on the range that holds its instant. */
#include "profapi/payloads.h"

#include <stdio.h>
#include <string.h>

#include "profapi/clock.h"
#include "profapi/layers.h"
#include "profapi/names.h"
#include "profapi/tasks.h"
#include "profapi/tensors.h"
#include "varve/past.h"

#define FIELDS_MAX 24u
#define LIST_MAX 56u
#define RAW_WORDS_MAX 255u
#define HEX_TEXT_BYTES VV_TASK_NAME_BYTES

enum kind { UINT, SINT, REAL, HASH, HEX, TASK, DTYPE };

struct field {
    const char *key;
    uint8_t offset, bytes;
    uint8_t kind; /* enum kind                                                                  */
};

/* `count` numbers of `bytes` each at `offset`; how many: a u32 at count_at. */
struct list {
    const char *key;
    uint8_t count_at, offset, bytes, most;
    uint8_t kind;
};

struct payload {
    uint32_t level, type;
    const char *name;     /* also what an unregistered type is called                           */
    uint32_t layer;       /* of the range; 0 = the innermost                                    */
    uint32_t flags;       /* VARVE_PAST_…, or DEVICE_WORK                                       */
    size_t bytes;         /* at least                                                           */
    const struct field *fields;
    struct list list;
    void (*also)(const struct vv_detail *detail, struct varve_past_note_info *note);
};

#define ANY_TYPE UINT32_MAX
#define DEVICE_WORK 0x80000000u /* of `flags`: it is no note                                   */
#define NODE MSPROF_REPORT_NODE_LEVEL
#define MODEL MSPROF_REPORT_MODEL_LEVEL

static uint64_t number(const uint8_t *payload, size_t offset, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, payload + offset, bytes); /* little-endian                                   */
    return value;
}

/* ---- what is told by other records than notes, too ---- */

/* Told when it is reported, which is inside the range of its operator. */
static void tell_memory(const struct vv_detail *detail, struct varve_past_note_info *note)
{
    const void *address = (const void *)(uintptr_t)number(detail->payload, 0, 8);
    int64_t size = (int64_t)number(detail->payload, 8, 8);
    uint32_t device = VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, number(detail->payload, 40, 4));
    (void)note;
    if (size < 0)
        varve_free(address, device);
    else
        varve_alloc(address, (uint64_t)size, device);
}

/* Device, stream and task number tie a launch to its task. */
static struct vv_task task_of(const struct vv_detail *detail)
{
    const uint8_t *payload = detail->payload;
    return (struct vv_task){ (uint16_t)number(payload, 0, 2), (uint16_t)number(payload, 2, 2),
                             (uint32_t)number(payload, 4, 4) };
}

static void tie_track(const struct vv_detail *detail, struct varve_past_note_info *note)
{
    struct vv_task task = task_of(detail);
    note->correlation = vv_task_launched(task, number(detail->payload, 16, 8));
}

/* The record is made at the end of the task. */
static void tell_task(const struct vv_detail *detail, struct varve_past_note_info *note)
{
    (void)note;
    vv_task_ran(task_of(detail), (uint32_t)number(detail->payload, 8, 4),
                (int64_t)number(detail->payload, 16, 8), (int64_t)detail->time);
}

/* ---- the table ---- */

#define FIELDS (const struct field[])
#define END { NULL, 0, 0, 0 }
#define NO_LIST { NULL, 0, 0, 0, 0, 0 }

static const struct payload payloads[] = {
    { NODE, 0, "node_basic_info", VARVE_LAYER_OP, 0, 28,
      FIELDS{ { "op_name", 0, 8, HASH }, { "task_type", 8, 4, TASK }, { "type", 12, 8, HASH },
              { "block_dim", 20, 2, UINT }, { "mix_block_dim", 22, 2, UINT },
              { "op_flag", 24, 4, UINT }, END }, NO_LIST, NULL },
    { NODE, 2, "fusion_op_info", VARVE_LAYER_OP, 0, 52,
      FIELDS{ { "op_name", 0, 8, HASH }, { "input_bytes", 12, 8, UINT },
              { "output_bytes", 20, 8, UINT }, { "weight_bytes", 28, 8, UINT },
              { "workspace_bytes", 36, 8, UINT }, { "total_bytes", 44, 8, UINT }, END },
      { "origins", 8, 52, 8, 8, HASH }, NULL },
    { NODE, 4, "context_id_info", VARVE_LAYER_OP, 0, 12, FIELDS{ { "op_name", 0, 8, HASH }, END },
      { "context_ids", 8, 12, 4, 55, UINT }, NULL },
    { NODE, 6, "task_memory_info", VARVE_LAYER_OP, 0, 48,
      FIELDS{ { "address", 0, 8, HEX }, { "memory_bytes", 8, 8, SINT }, { "node", 16, 8, HASH },
              { "allocated_bytes", 24, 8, UINT }, { "reserved_bytes", 32, 8, UINT },
              { "memory_device", 40, 4, UINT }, { "device_type", 44, 4, UINT }, END },
      NO_LIST, tell_memory },
    { NODE, 9, "node_attr_info", VARVE_LAYER_OP, 0, 20,
      FIELDS{ { "op_name", 0, 8, HASH }, { "attr_type", 8, 4, UINT }, { "attr", 12, 8, HASH },
              END },
      NO_LIST, NULL },
    { NODE, 10, "hccl_op_info", VARVE_LAYER_OP, 0, 26,
      FIELDS{ { "flags", 0, 1, UINT }, { "data_type", 1, 1, DTYPE }, { "algorithm", 2, 8, HASH },
              { "elements", 10, 8, UINT }, { "group", 18, 8, HASH }, END }, NO_LIST, NULL },
    { NODE, 11, "static_op_mem", 0, VARVE_PAST_ALONE, 52,
      FIELDS{ { "bytes", 0, 8, SINT }, { "op_name", 8, 8, HASH }, { "first_use", 16, 8, UINT },
              { "last_use", 24, 8, UINT }, { "graph_bytes", 32, 8, UINT },
              { "parent", 40, 8, HASH }, { "graph", 48, 4, UINT }, END }, NO_LIST, NULL },
    { MODEL, 0, "graph_id_map", 0, VARVE_PAST_ALONE, 16,
      FIELDS{ { "model_name", 0, 8, HASH }, { "graph", 8, 4, UINT }, { "model", 12, 4, UINT },
              END },
      NO_LIST, NULL },
    { MODEL, 7, "logic_stream_info", 0, VARVE_PAST_ALONE, 8,
      FIELDS{ { "logic_stream", 0, 4, UINT }, END }, { "streams", 4, 8, 4, 56, UINT }, NULL },
    { MODEL, 8, "model_exeom", 0, VARVE_PAST_ALONE, 16,
      FIELDS{ { "model", 0, 4, UINT }, { "model_name", 8, 8, HASH }, END }, NO_LIST, NULL },
    { MSPROF_REPORT_HCCL_NODE_LEVEL, ANY_TYPE, "hccl_info", VARVE_LAYER_COMM, 0, 120,
      FIELDS{ { "item", 0, 8, HASH }, { "tag", 8, 8, HASH }, { "group", 16, 8, HASH },
              { "local_rank", 24, 4, UINT }, { "remote_rank", 28, 4, UINT },
              { "ranks", 32, 4, UINT }, { "work_flow_mode", 36, 4, UINT },
              { "plane", 40, 4, UINT }, { "context_id", 44, 4, UINT }, { "notify", 48, 8, HEX },
              { "stage", 56, 4, UINT }, { "role", 60, 4, UINT }, { "estimated_us", 64, 8, REAL },
              { "source", 72, 8, HEX }, { "destination", 80, 8, HEX }, { "bytes", 88, 8, UINT },
              { "op_type", 96, 4, UINT }, { "data_type", 100, 4, DTYPE },
              { "link_type", 104, 4, UINT }, { "transport", 108, 4, UINT },
              { "rdma_type", 112, 4, UINT }, END }, NO_LIST, NULL },
    { MSPROF_REPORT_RUNTIME_LEVEL, ANY_TYPE, "task_track", 0, 0, 24,
      FIELDS{ { "device", 0, 2, UINT }, { "stream", 2, 2, UINT }, { "task", 4, 4, UINT },
              { "task_type_name", 8, 8, HASH }, { "kernel", 16, 8, HASH }, END },
      NO_LIST, tie_track },
    { MSPROF_REPORT_RUNTIME_LEVEL, ANY_TYPE, "dpu_track", 0, DEVICE_WORK, 24, FIELDS{ END },
      NO_LIST, tell_task },
    { MSPROF_REPORT_DPU_LEVEL, 0, "dpu_track", 0, DEVICE_WORK, 24, FIELDS{ END }, NO_LIST,
      tell_task },
    { MSPROF_REPORT_RUNTIME_LEVEL, ANY_TYPE, "memcpy_info", 0, 0, 16,
      FIELDS{ { "bytes", 0, 8, UINT }, { "copy_kind", 8, 2, UINT }, { "device", 10, 2, UINT },
              { "stream", 12, 4, UINT }, END }, NO_LIST, NULL },
    { MSPROF_REPORT_RUNTIME_LEVEL, ANY_TYPE, "memset_info", 0, 0, 18,
      FIELDS{ { "bytes", 0, 8, UINT }, { "value", 8, 4, SINT }, { "stream", 12, 4, UINT },
              { "device", 16, 2, UINT }, END }, NO_LIST, NULL },
};
#define PAYLOAD_COUNT (sizeof payloads / sizeof *payloads)

/* Types of the runtime have no fixed numbers: there the registered name says which. */
static const struct payload *find(uint32_t level, uint32_t type)
{
    const char *registered = vv_type_name(level, type);
    for (size_t i = 0; i < PAYLOAD_COUNT; i++)
        if (payloads[i].level == level &&
            (payloads[i].type == type ||
             (payloads[i].type == ANY_TYPE &&
              (level != MSPROF_REPORT_RUNTIME_LEVEL ||
               (registered != NULL && strcmp(registered, payloads[i].name) == 0)))))
            return &payloads[i];
    return NULL;
}

static const char *level_name(uint32_t level)
{
    static const struct { uint32_t level; const char *name; } names[] = {
        { MSPROF_REPORT_PYTORCH_LEVEL, "PYTORCH" }, { MSPROF_REPORT_PTA_LEVEL, "PTA" },
        { MSPROF_REPORT_TX_LEVEL, "TX" },           { MSPROF_REPORT_ACL_LEVEL, "ACL" },
        { MSPROF_REPORT_MODEL_LEVEL, "MODEL" },     { MSPROF_REPORT_NODE_LEVEL, "NODE" },
        { MSPROF_REPORT_AICPU_LEVEL, "AICPU" },     { MSPROF_REPORT_HCCL_NODE_LEVEL, "HCCL_NODE" },
        { MSPROF_REPORT_RUNTIME_LEVEL, "RUNTIME" }, { MSPROF_REPORT_PROF_LEVEL, "PROF" },
        { MSPROF_REPORT_DPU_LEVEL, "DPU" },         { MSPROF_REPORT_AIC_LEVEL, "AIC" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].level == level)
            return names[i].name;
    return NULL;
}

const char *vv_record_name(uint32_t level, uint32_t type, char *text, size_t bytes)
{
    const char *name = vv_type_name(level, type), *of = level_name(level);
    if (name != NULL)
        return name;
    if (of != NULL)
        snprintf(text, bytes, "%s 0x%x", of, type);
    else
        snprintf(text, bytes, "level %u 0x%x", level, type);
    return text;
}

/* ---- values ---- */

/* What the values of a note point to. */
struct room {
    struct varve_past_value values[FIELDS_MAX + 1];
    uint32_t count;
    int64_t numbers[FIELDS_MAX];
    const char *texts[FIELDS_MAX], *list_texts[LIST_MAX];
    char hex[LIST_MAX + FIELDS_MAX][HEX_TEXT_BYTES];
    uint32_t hex_count;
    int64_t list_numbers[LIST_MAX];
};

/* The text of an id that the program has made; else the id. */
static const char *text_of(struct room *room, uint64_t id)
{
    const char *text = id != 0 ? vv_hash_text(id) : "";
    if (text != NULL)
        return text;
    char *hex = room->hex[room->hex_count++];
    snprintf(hex, HEX_TEXT_BYTES, "0x%llx", (unsigned long long)id);
    return hex;
}

/* As Varve writes them; a number that is not known stays a number. */
static const char *dtype_name(struct room *room, uint64_t dtype)
{
    static const char *const names[] = {
        "i8", "i16", "i32", "f16", "f32", "i64", "u64", "u8", "u16", "u32", "f64", "bf16",
    };
    if (dtype < sizeof names / sizeof *names)
        return names[dtype];
    char *text = room->hex[room->hex_count++];
    snprintf(text, HEX_TEXT_BYTES, "%llu", (unsigned long long)dtype);
    return text;
}

static int64_t widened(uint64_t value, size_t bytes, uint8_t kind)
{
    unsigned shift = (unsigned)(64 - 8 * bytes);
    return kind == SINT ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

static void add_field(struct room *room, const struct field *field, const uint8_t *payload)
{
    static const uint32_t kinds[] = { [UINT] = VARVE_PAST_INTEGERS, [SINT] = VARVE_PAST_INTEGERS,
                                      [REAL] = VARVE_PAST_REALS,    [HASH] = VARVE_PAST_TEXTS,
                                      [HEX] = VARVE_PAST_HEX,       [TASK] = VARVE_PAST_TEXTS,
                                      [DTYPE] = VARVE_PAST_TEXTS };
    uint64_t value = number(payload, field->offset, field->bytes);
    struct varve_past_value *out = &room->values[room->count];
    uint32_t at = room->count++;
    *out = (struct varve_past_value){ field->key, kinds[field->kind], 1, &room->numbers[at] };
    room->numbers[at] = widened(value, field->bytes, field->kind);
    if (kinds[field->kind] == VARVE_PAST_TEXTS) {
        room->texts[at] = field->kind == HASH   ? text_of(room, value)
                          : field->kind == TASK ? vv_task_name(room->hex[room->hex_count++], value)
                                                : dtype_name(room, value);
        out->values = &room->texts[at];
    }
}

/* False: it says that it has more than there is. */
static bool add_list(struct room *room, const struct list *list, const struct vv_detail *detail)
{
    if (list->key == NULL)
        return true;
    uint64_t count = number(detail->payload, list->count_at, 4);
    if (count > list->most || list->offset + count * list->bytes > detail->bytes)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = number(detail->payload, list->offset + i * list->bytes, list->bytes);
        room->list_numbers[i] = (int64_t)value;
        if (list->kind == HASH)
            room->list_texts[i] = text_of(room, value);
    }
    const void *values = list->kind == HASH ? (const void *)room->list_texts : room->list_numbers;
    room->values[room->count++] = (struct varve_past_value){
        list->key, list->kind == HASH ? VARVE_PAST_TEXTS : VARVE_PAST_INTEGERS, (uint32_t)count,
        values
    };
    return true;
}

/* ---- telling ---- */

static struct varve_past_note_info note_of(const struct vv_detail *detail, const char *name)
{
    return (struct varve_past_note_info){
        .struct_size = sizeof(struct varve_past_note_info),
        .name = name,
        .thread = detail->thread,
        .clock = vv_record_clock(),
        .time = (int64_t)detail->time,
    };
}

static void tell_raw(const struct vv_detail *detail)
{
    char name[64];
    struct varve_past_note_info note =
        note_of(detail, vv_record_name(detail->level, detail->type, name, sizeof name));
    uint64_t words[RAW_WORDS_MAX];
    note.flags = VARVE_PAST_RAW;
    for (size_t at = 0; at == 0 || at < detail->bytes; at += sizeof words) {
        size_t bytes = detail->bytes - at < sizeof words ? detail->bytes - at : sizeof words;
        int64_t length = (int64_t)bytes;
        const struct varve_past_value values[] = {
            { "raw", VARVE_PAST_HEX, (uint32_t)((bytes + 7) / 8), words },
            { "raw_bytes", VARVE_PAST_INTEGERS, 1, &length },
        };
        memset(words, 0, sizeof words);
        memcpy(words, detail->payload + at, bytes);
        note.values = values;
        note.value_count = 2;
        varve_past_note(&note);
    }
}

bool vv_detail_tell(const struct vv_detail *detail)
{
    const struct payload *payload = find(detail->level, detail->type);
    struct room room;
    if (detail->level == NODE && detail->type == MSPROF_REPORT_NODE_TENSOR_INFO_TYPE) {
        struct varve_past_note_info note = note_of(detail, "tensor_info");
        note.layer = VARVE_LAYER_OP;
        if (vv_tensors_tell(detail, &note))
            return true;
        tell_raw(detail);
        return false;
    }
    room.count = room.hex_count = 0;
    bool fits = payload != NULL && detail->bytes >= payload->bytes;
    for (uint32_t i = 0; fits && payload->fields[i].key != NULL; i++)
        add_field(&room, &payload->fields[i], detail->payload);
    fits = fits && add_list(&room, &payload->list, detail);
    if (!fits) {
        tell_raw(detail);
        return payload == NULL;
    }
    struct varve_past_note_info note = note_of(detail, payload->name);
    note.layer = payload->layer;
    note.flags = payload->flags;
    note.values = room.values;
    note.value_count = room.count;
    if (payload->also != NULL)
        payload->also(detail, &note);
    if ((payload->flags & DEVICE_WORK) == 0)
        varve_past_note(&note);
    return true;
}
