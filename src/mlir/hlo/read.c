/* SPDX-License-Identifier: Apache-2.0 */
/* read.c — reads an HloProto. Ids in it point forward, so they are kept as they are and made rows
 * when the whole program has been read, or all of it that is not damaged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/protobuf.h"
#include "mlir/hlo/fields.h"
#include "mlir/hlo/hlo.h"

struct place { /* a FileLocation */
    uint32_t file, function, line, column;
};

/* Tables of the program's stack frames; ids count from 1, 0 = none. */
struct reading {
    struct vv_hlo *hlo;
    uint32_t program, computation;
    struct vv_hlo_rows files, functions; /* strings                                             */
    struct { struct place *items; size_t count, capacity; } places;
    VV_ARRAY_OF(int64_t) called_ids;     /* one for each row that is added to hlo->called        */
    VV_ARRAY_OF(int64_t) operand_ids;    /* … to hlo->operands                                   */
    VV_ARRAY_OF(int64_t) root_ids;       /* by computation of the program; -1 = none             */
    int64_t entry_id;
    size_t first_frame, first_called, first_operand;
};

static enum varve_code read_text(struct vv_hlo *hlo, const struct vv_protobuf *field,
                                 uint32_t *out_id, struct varve_error *error)
{
    VV_TRY(vv_protobuf_expect_text(field, "a text of an HLO program", error));
    return vv_intern_add(&hlo->strings, (const char *)field->data, (size_t)field->value, out_id,
                         error);
}

static enum varve_code add_item(struct vv_hlo_rows *rows, uint32_t item, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items,
                            error));
    rows->items[rows->count++] = item;
    return VARVE_OK;
}

static uint32_t small(uint64_t value)
{
    return value > UINT32_MAX - 1 ? 0 : (uint32_t)value;
}

/* ---- instructions ---- */

static enum varve_code read_metadata(struct reading *reading, const struct vv_protobuf *outer,
                                     struct vv_hlo_instruction *instruction,
                                     struct varve_error *error)
{
    struct vv_protobuf message;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        bool is_text = message.wire == VV_WIRE_BYTES;
        if (message.number == VV_HLO_METADATA_OP_TYPE && is_text)
            VV_TRY(read_text(reading->hlo, &message, &instruction->op_type, error));
        else if (message.number == VV_HLO_METADATA_OP_NAME && is_text)
            VV_TRY(read_text(reading->hlo, &message, &instruction->op_name, error));
        else if (message.number == VV_HLO_METADATA_SOURCE_FILE && is_text)
            VV_TRY(read_text(reading->hlo, &message, &instruction->source_file, error));
        else if (message.number == VV_HLO_METADATA_SOURCE_LINE && !is_text)
            instruction->source_line = small(message.value);
        else if (message.number == VV_HLO_METADATA_STACK_FRAME && !is_text)
            instruction->frame = small(message.value);
    }
    return vv_protobuf_end(&message, error);
}

static enum varve_code read_called(struct reading *reading, struct vv_protobuf *message,
                                   struct vv_hlo_instruction *instruction,
                                   struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    const unsigned char *at = NULL;
    uint64_t id;
    while (vv_protobuf_repeated(message, &at, &id)) {
        VV_TRY(vv_array_reserve(&hlo->called, &hlo->called_capacity, hlo->called_count + 1,
                                sizeof *hlo->called, error));
        VV_TRY(vv_array_reserve(&reading->called_ids.items, &reading->called_ids.capacity,
                                reading->called_ids.count + 1, sizeof *reading->called_ids.items,
                                error));
        reading->called_ids.items[reading->called_ids.count++] = (int64_t)id;
        hlo->called[hlo->called_count++] = VV_HLO_NONE;
        instruction->called_count++;
    }
    return VARVE_OK;
}

static enum varve_code read_operands(struct reading *reading, struct vv_protobuf *message,
                                     struct vv_hlo_instruction *instruction,
                                     struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    const unsigned char *at = NULL;
    uint64_t id;
    while (vv_protobuf_repeated(message, &at, &id)) {
        VV_TRY(vv_array_reserve(&hlo->operands, &hlo->operand_capacity, hlo->operand_count + 1,
                                sizeof *hlo->operands, error));
        VV_TRY(vv_array_reserve(&reading->operand_ids.items, &reading->operand_ids.capacity,
                                reading->operand_ids.count + 1,
                                sizeof *reading->operand_ids.items, error));
        reading->operand_ids.items[reading->operand_ids.count++] = (int64_t)id;
        hlo->operands[hlo->operand_count++] = VV_HLO_NONE;
        instruction->operand_count++;
    }
    return VARVE_OK;
}

static enum varve_code read_instruction(struct reading *reading, const struct vv_protobuf *outer,
                                        struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    struct vv_hlo_instruction instruction = { .computation = reading->computation,
                                              .first_called = (uint32_t)hlo->called_count,
                                              .first_operand = (uint32_t)hlo->operand_count };
    struct vv_protobuf message;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        bool is_bytes = message.wire == VV_WIRE_BYTES;
        if (message.number == VV_HLO_INSTRUCTION_NAME && is_bytes)
            VV_TRY(read_text(hlo, &message, &instruction.name, error));
        else if (message.number == VV_HLO_INSTRUCTION_OPCODE && is_bytes)
            VV_TRY(read_text(hlo, &message, &instruction.opcode, error));
        else if (message.number == VV_HLO_INSTRUCTION_METADATA && is_bytes)
            VV_TRY(read_metadata(reading, &message, &instruction, error));
        else if (message.number == VV_HLO_INSTRUCTION_ID && !is_bytes)
            instruction.id = (int64_t)message.value;
        else if ((message.number == VV_HLO_INSTRUCTION_PARAMETER ||
                  message.number == VV_HLO_INSTRUCTION_TUPLE_INDEX) && !is_bytes)
            instruction.number = (int64_t)message.value;
        else if (message.number == VV_HLO_INSTRUCTION_CALLED)
            VV_TRY(read_called(reading, &message, &instruction, error));
        else if (message.number == VV_HLO_INSTRUCTION_OPERANDS)
            VV_TRY(read_operands(reading, &message, &instruction, error));
    }
    VV_TRY(vv_protobuf_end(&message, error));
    if (hlo->instruction_count >= UINT32_MAX / 8 || hlo->called_count >= UINT32_MAX / 8 ||
        hlo->operand_count >= UINT32_MAX / 8)
        VV_FAIL(error, VARVE_LIMIT, "more than %u HLO instructions", UINT32_MAX / 8);
    VV_TRY(vv_array_reserve(&hlo->instructions, &hlo->instruction_capacity,
                            hlo->instruction_count + 1, sizeof *hlo->instructions, error));
    hlo->instructions[hlo->instruction_count++] = instruction;
    hlo->computations[reading->computation].instruction_count++;
    return VARVE_OK;
}

static enum varve_code read_computation(struct reading *reading, const struct vv_protobuf *outer,
                                        struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    struct vv_protobuf message;
    VV_TRY(vv_array_reserve(&hlo->computations, &hlo->computation_capacity,
                            hlo->computation_count + 1, sizeof *hlo->computations, error));
    reading->computation = (uint32_t)hlo->computation_count++;
    hlo->computations[reading->computation] = (struct vv_hlo_computation){
        .program = reading->program,
        .first_instruction = (uint32_t)hlo->instruction_count,
        .root = VV_HLO_NONE,
    };
    VV_TRY(vv_array_reserve(&reading->root_ids.items, &reading->root_ids.capacity,
                            reading->root_ids.count + 1, sizeof *reading->root_ids.items, error));
    int64_t *root = &reading->root_ids.items[reading->root_ids.count++];
    *root = -1;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        struct vv_hlo_computation *computation = &hlo->computations[reading->computation];
        bool is_bytes = message.wire == VV_WIRE_BYTES;
        if (message.number == VV_HLO_COMPUTATION_NAME && is_bytes)
            VV_TRY(read_text(hlo, &message, &computation->name, error));
        else if (message.number == VV_HLO_COMPUTATION_INSTRUCTIONS && is_bytes)
            VV_TRY(read_instruction(reading, &message, error));
        else if (message.number == VV_HLO_COMPUTATION_ID && !is_bytes)
            computation->id = (int64_t)message.value;
        else if (message.number == VV_HLO_COMPUTATION_ROOT && !is_bytes)
            *root = (int64_t)message.value;
    }
    return vv_protobuf_end(&message, error);
}

/* ---- stack frames ---- */

static enum varve_code read_place(struct reading *reading, const struct vv_protobuf *outer,
                                  struct varve_error *error)
{
    struct place place = { 0 };
    struct vv_protobuf message;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message))
        switch (message.number) {
        case VV_HLO_LOCATION_FILE: place.file = small(message.value); break;
        case VV_HLO_LOCATION_FUNCTION: place.function = small(message.value); break;
        case VV_HLO_LOCATION_LINE: place.line = small(message.value); break;
        case VV_HLO_LOCATION_COLUMN: place.column = small(message.value); break;
        }
    VV_TRY(vv_protobuf_end(&message, error));
    VV_TRY(vv_array_reserve(&reading->places.items, &reading->places.capacity,
                            reading->places.count + 1, sizeof place, error));
    reading->places.items[reading->places.count++] = place;
    return VARVE_OK;
}

/* Keeps the id of its place in `line`, that of its parent in `parent`. */
static enum varve_code read_frame(struct reading *reading, const struct vv_protobuf *outer,
                                  struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    struct vv_hlo_frame frame = { 0 };
    struct vv_protobuf message;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_HLO_FRAME_LOCATION)
            frame.line = small(message.value);
        else if (message.number == VV_HLO_FRAME_PARENT)
            frame.parent = small(message.value);
    }
    VV_TRY(vv_protobuf_end(&message, error));
    VV_TRY(vv_array_reserve(&hlo->frames, &hlo->frame_capacity, hlo->frame_count + 1,
                            sizeof frame, error));
    hlo->frames[hlo->frame_count++] = frame;
    return VARVE_OK;
}

static enum varve_code read_frames(struct reading *reading, const struct vv_protobuf *outer,
                                   struct varve_error *error)
{
    struct vv_protobuf message;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        uint32_t id;
        bool is_file = message.number == VV_HLO_FRAMES_FILES;
        if (message.wire != VV_WIRE_BYTES)
            continue;
        if (is_file || message.number == VV_HLO_FRAMES_FUNCTIONS) {
            VV_TRY(read_text(reading->hlo, &message, &id, error));
            VV_TRY(add_item(is_file ? &reading->files : &reading->functions, id, error));
        } else if (message.number == VV_HLO_FRAMES_LOCATIONS) {
            VV_TRY(read_place(reading, &message, error));
        } else if (message.number == VV_HLO_FRAMES_FRAMES) {
            VV_TRY(read_frame(reading, &message, error));
        }
    }
    return vv_protobuf_end(&message, error);
}

/* ---- the module ---- */

static enum varve_code read_attributes(struct reading *reading, const struct vv_protobuf *outer,
                                       struct varve_error *error)
{
    static const char wanted[] = "fingerprint_before_lhs";
    struct vv_protobuf message, entry;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        bool is_wanted = false;
        if (message.number != VV_HLO_ATTRIBUTES_MAP || message.wire != VV_WIRE_BYTES)
            continue;
        vv_protobuf_enter(&message, &entry);
        while (vv_protobuf_next(&entry)) {
            if (entry.wire != VV_WIRE_BYTES)
                continue;
            if (entry.number == VV_HLO_ENTRY_KEY)
                is_wanted = entry.value == sizeof wanted - 1 &&
                            memcmp(entry.data, wanted, sizeof wanted - 1) == 0;
            else if (entry.number == VV_HLO_ENTRY_VALUE && is_wanted)
                VV_TRY(read_text(reading->hlo, &entry,
                                 &reading->hlo->programs[reading->program].fingerprint, error));
        }
        VV_TRY(vv_protobuf_end(&entry, error));
    }
    return vv_protobuf_end(&message, error);
}

static enum varve_code read_module(struct reading *reading, const struct vv_protobuf *outer,
                                   struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    struct vv_protobuf message;
    vv_protobuf_enter(outer, &message);
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_HLO_MODULE_ENTRY && message.wire == VV_WIRE_VARINT)
            reading->entry_id = (int64_t)message.value;
        if (message.wire != VV_WIRE_BYTES)
            continue;
        if (message.number == VV_HLO_MODULE_NAME)
            VV_TRY(read_text(hlo, &message, &hlo->programs[reading->program].name, error));
        else if (message.number == VV_HLO_MODULE_COMPUTATIONS)
            VV_TRY(read_computation(reading, &message, error));
        else if (message.number == VV_HLO_MODULE_FRAMES)
            VV_TRY(read_frames(reading, &message, error));
        else if (message.number == VV_HLO_MODULE_FRONTEND_ATTRIBUTES)
            VV_TRY(read_attributes(reading, &message, error));
    }
    return vv_protobuf_end(&message, error);
}

/* ---- ids become rows ---- */

static uint32_t item_of(const struct vv_hlo_rows *rows, uint32_t id)
{
    return id >= 1 && id <= rows->count ? rows->items[id - 1] : 0;
}

/* Cuts each circle of callers where it closes. `token` of a frame: who came by first. */
static enum varve_code cut_circles(struct reading *reading, struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    size_t first = reading->first_frame, count = hlo->frame_count - first;
    uint32_t *token = calloc(count + 1, sizeof *token);
    if (token == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu stack frames", count);
    for (size_t i = 0; i < count; i++) {
        size_t at = first + i;
        while (token[at - first] == 0) {
            token[at - first] = (uint32_t)i + 1;
            uint32_t parent = hlo->frames[at].parent;
            if (parent == VV_HLO_NONE)
                break;
            if (token[parent - first] == i + 1)
                hlo->frames[at].parent = VV_HLO_NONE;
            else
                at = parent;
        }
    }
    free(token);
    return VARVE_OK;
}

static enum varve_code resolve_frames(struct reading *reading, struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    size_t first = reading->first_frame, count = hlo->frame_count - first;
    for (size_t row = first; row < hlo->frame_count; row++) {
        struct vv_hlo_frame *frame = &hlo->frames[row];
        struct place place = { 0 };
        if (frame->line >= 1 && frame->line <= reading->places.count)
            place = reading->places.items[frame->line - 1];
        *frame = (struct vv_hlo_frame){
            .function = item_of(&reading->functions, place.function),
            .file = item_of(&reading->files, place.file),
            .line = place.line,
            .column = place.column,
            .parent = frame->parent >= 1 && frame->parent <= count
                          ? (uint32_t)first + frame->parent - 1
                          : VV_HLO_NONE,
        };
    }
    return cut_circles(reading, error);
}

struct numbered {
    int64_t id;
    uint32_t row;
};

static int by_id(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return a->id != b->id ? (a->id < b->id ? -1 : 1) : (a->row > b->row) - (a->row < b->row);
}

/* Makes rows of the ids of called computations. An unknown one is left out of its caller's list. */
static enum varve_code resolve_called(struct reading *reading, struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    const struct vv_hlo_program *program = &hlo->programs[reading->program];
    struct numbered *sorted = calloc(program->computation_count + 1, sizeof *sorted);
    if (sorted == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the computations of a program");
    for (uint32_t i = 0; i < program->computation_count; i++)
        sorted[i] = (struct numbered){ hlo->computations[program->first_computation + i].id,
                                       program->first_computation + i };
    qsort(sorted, program->computation_count, sizeof *sorted, by_id);
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        struct vv_hlo_instruction *caller =
            &hlo->instructions[program->first_instruction + i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < caller->called_count; k++) {
            size_t at = caller->first_called + k;
            struct numbered key = { reading->called_ids.items[at - reading->first_called], 0 };
            size_t low = 0, high = program->computation_count;
            while (low < high) {
                size_t middle = (low + high) / 2;
                if (sorted[middle].id < key.id)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low >= program->computation_count || sorted[low].id != key.id)
                continue;
            hlo->called[caller->first_called + kept++] = sorted[low].row;
            hlo->computations[sorted[low].row].called_count++;
        }
        caller->called_count = kept;
    }
    free(sorted);
    return VARVE_OK;
}

static void take_frame(const struct reading *reading, struct vv_hlo_instruction *instruction)
{
    const struct vv_hlo *hlo = reading->hlo;
    size_t count = hlo->frame_count - reading->first_frame;
    bool is_known = instruction->frame >= 1 && instruction->frame <= count;
    instruction->frame =
        is_known ? (uint32_t)reading->first_frame + instruction->frame - 1 : VV_HLO_NONE;
    if (!is_known || instruction->source_file != 0)
        return;
    instruction->source_file = hlo->frames[instruction->frame].file;
    instruction->source_line = hlo->frames[instruction->frame].line;
}

static enum varve_code resolve(struct reading *reading, struct varve_error *error)
{
    struct vv_hlo *hlo = reading->hlo;
    struct vv_hlo_program *program = &hlo->programs[reading->program];
    program->computation_count = (uint32_t)(hlo->computation_count - program->first_computation);
    program->instruction_count = (uint32_t)(hlo->instruction_count - program->first_instruction);
    VV_TRY(resolve_frames(reading, error));
    VV_TRY(resolve_called(reading, error));
    VV_TRY(vv_hlo_resolve_operands(hlo, reading->program, reading->operand_ids.items,
                                   reading->first_operand, reading->root_ids.items, error));
    for (uint32_t i = 0; i < program->computation_count; i++)
        if (hlo->computations[program->first_computation + i].id == reading->entry_id)
            program->entry = program->first_computation + i;
    for (uint32_t i = 0; i < program->instruction_count; i++)
        take_frame(reading, &hlo->instructions[program->first_instruction + i]);
    VV_TRY(vv_hlo_name_parts(hlo, reading->program, error));
    return vv_hlo_index(hlo, reading->program, error);
}

/* ID of "NAME(ID)" or "NAME(ID): Hlo Proto"; -1 if there is none. */
static int64_t id_of(const char *title)
{
    const char *open = title == NULL ? NULL : strrchr(title, '(');
    if (open == NULL || open[1] < '0' || open[1] > '9')
        return -1;
    char *end;
    errno = 0;
    unsigned long long id = strtoull(open + 1, &end, 10);
    return errno == 0 && *end == ')' ? (int64_t)id : -1;
}

enum varve_code vv_hlo_add(struct vv_hlo *hlo, struct vv_bytes proto, const char *title,
                           struct varve_error *error)
{
    struct vv_protobuf message;
    VV_TRY(vv_array_reserve(&hlo->programs, &hlo->program_capacity, hlo->program_count + 1,
                            sizeof *hlo->programs, error));
    struct reading reading = { .hlo = hlo, .program = (uint32_t)hlo->program_count,
                               .first_frame = hlo->frame_count,
                               .first_called = hlo->called_count,
                               .first_operand = hlo->operand_count, .entry_id = -1 };
    hlo->programs[hlo->program_count++] = (struct vv_hlo_program){
        .id = id_of(title),
        .first_computation = (uint32_t)hlo->computation_count,
        .first_instruction = (uint32_t)hlo->instruction_count,
        .entry = VV_HLO_NONE,
    };
    vv_protobuf_init(&message, proto.data, proto.length, 0);
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && vv_protobuf_next(&message))
        if (message.number == VV_HLO_PROTO_MODULE && message.wire == VV_WIRE_BYTES)
            code = read_module(&reading, &message, error);
    if (code == VARVE_OK)
        code = vv_protobuf_end(&message, error);
    if (code == VARVE_OK || code == VARVE_CORRUPT) {
        enum varve_code resolved = resolve(&reading, code == VARVE_OK ? error : NULL);
        if (resolved != VARVE_OK)
            code = resolved;
    }
    free(reading.files.items);
    free(reading.functions.items);
    free(reading.places.items);
    free(reading.called_ids.items);
    free(reading.operand_ids.items);
    free(reading.root_ids.items);
    return code;
}
