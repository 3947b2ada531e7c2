/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/records/values.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/rows/vocabulary.h"
#include "import/varve/records/stream.h"
#include "model/order.h"
#include "varve/values.h"

#define ARGS_WORDS (sizeof(struct vv_args_payload) / 8)
#define COLLECTIVE_WORDS (sizeof(struct vv_collective_payload) / 8)
#define NUMBER_TEXT_BYTES 32u /* ", -0.12345678901234567e-308" */

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

static uint32_t high_half(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

static double real_of(uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* ---- one argument ---- */

/* As it stands in a varve.args. */
struct value {
    uint8_t kind;       /* enum varve_arg_kind                                                  */
    size_t count;       /* of words: integers, then reals                                       */
    const uint64_t *data;
};

/* Numbers as JSON writes them: null for what JSON has no number for. */
static int write_number(char *out, size_t bytes, uint8_t kind, uint64_t bits)
{
    double real = real_of(bits);
    int length = 0;
    if (kind == VARVE_ARG_INTS)
        return snprintf(out, bytes, "%" PRId64, (int64_t)bits);
    if (kind != VARVE_ARG_REALS)
        return snprintf(out, bytes, "%" PRIu64, bits);
    if (!isfinite(real))
        return snprintf(out, bytes, "null");
    for (int digits = 1; digits <= 17; digits++) { /* the fewest that read back as the same */
        length = snprintf(out, bytes, "%.*g", digits, real);
        if (strtod(out, NULL) == real)
            break;
    }
    return length;
}

static enum varve_code list_text(struct vv_process_reader *process, const struct value *value,
                                 uint64_t *out_text, struct varve_error *error)
{
    size_t at = 0;
    uint32_t text;
    VV_TRY(vv_array_reserve(&process->text.items, &process->text.capacity,
                            (value->count + 1) * NUMBER_TEXT_BYTES, 1, error));
    char *items = process->text.items;
    items[at++] = '[';
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0) {
            items[at++] = ',';
            items[at++] = ' ';
        }
        at += (size_t)write_number(items + at, process->text.capacity - at, value->kind,
                                   le64toh(value->data[i]));
    }
    items[at++] = ']';
    VV_TRY(vv_model_add_text(process->model, items, at, &text, error));
    *out_text = text;
    return VARVE_OK;
}

/* An integer beyond int64_t is kept as text, because a double would round it. */
static enum varve_code large_text(struct vv_process_reader *process, uint64_t number,
                                  uint64_t *out_text, struct varve_error *error)
{
    char digits[NUMBER_TEXT_BYTES];
    uint32_t text;
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    VV_TRY(vv_model_text(process->model, digits, &text, error));
    *out_text = text;
    return VARVE_OK;
}

/* Fills kind and value of the model's row; *out_kind VV_ARG_ROWS: a kind of a later version. */
static enum varve_code convert(struct vv_process_reader *process, const struct value *value,
                               uint8_t *out_kind, uint64_t *out_value, struct varve_error *error)
{
    uint64_t first = value->count > 0 ? le64toh(*value->data) : 0;
    *out_value = first;
    switch (value->kind) {
    case VARVE_ARG_INT:
        *out_kind = VV_ARG_INT;
        return VARVE_OK;
    case VARVE_ARG_UNSIGNED:
        *out_kind = first > INT64_MAX ? VV_ARG_JSON : VV_ARG_INT;
        return first > INT64_MAX ? large_text(process, first, out_value, error) : VARVE_OK;
    case VARVE_ARG_REAL:
        *out_kind = VV_ARG_REAL;
        return VARVE_OK;
    case VARVE_ARG_BOOL:
        *out_kind = VV_ARG_BOOL;
        *out_value = first != 0;
        return VARVE_OK;
    case VARVE_ARG_INTS: case VARVE_ARG_UNSIGNEDS: case VARVE_ARG_REALS:
        *out_kind = VV_ARG_JSON;
        return list_text(process, value, out_value, error);
    default:
        *out_kind = VV_ARG_ROWS;
        return VARVE_OK;
    }
}

/* ---- the arguments of a record ---- */

static enum varve_code add_row(struct vv_process_reader *process, uint32_t key, uint8_t kind,
                               uint64_t value, struct varve_error *error)
{
    struct vv_args *args = &process->model->args;
    uint32_t row, text;
    VV_TRY(vv_process_string(process, key, &text, error));
    VV_TRY(vv_model_add_arg(process->model, &row, error));
    args->key[row] = text;
    args->kind[row] = kind;
    args->value[row] = value;
    return VARVE_OK;
}

static enum varve_code add_numbers(struct vv_process_reader *process,
                                   const struct vv_record *record, struct varve_error *error)
{
    for (size_t at = ARGS_WORDS; at < record->payload_words;) {
        uint64_t head = word(record, at), number;
        const struct value value = { head >> 32 & 0xff, vv_value_words(head),
                                     record->payload + at + 1 };
        uint8_t kind;
        at += 1 + value.count;
        VV_TRY(convert(process, &value, &kind, &number, error));
        if (kind != VV_ARG_ROWS)
            VV_TRY(add_row(process, (uint32_t)head, kind, number, error));
        else
            process->model->health.ignored++;
    }
    return VARVE_OK;
}

static enum varve_code add_texts(struct vv_process_reader *process, const struct vv_record *record,
                                 struct varve_error *error)
{
    for (size_t at = ARGS_WORDS; at < record->payload_words;) {
        uint64_t head = word(record, at);
        const char *letters = (const char *)(record->payload + at + 1);
        uint32_t text;
        at += 1 + ((size_t)high_half(head) + 7) / 8;
        VV_TRY(vv_model_add_text(process->model, letters, strnlen(letters, high_half(head)), &text,
                                 error));
        VV_TRY(add_row(process, (uint32_t)head, VV_ARG_TEXT, text, error));
    }
    return VARVE_OK;
}

/* ---- whose they are ---- */

/* The last device work that the stream told of, or NULL. */
static struct vv_device_work *last_work(struct vv_stream_reader *stream)
{
    struct vv_devices_said *said = &stream->process->devices;
    return stream->last_work < said->work.count ? &said->work.items[stream->last_work] : NULL;
}

/* Lets first and count name rows more, if the rows follow each other and are not too many. */
static bool extend(uint32_t *first, uint16_t *count, uint32_t more, uint32_t more_count)
{
    if (*count == 0)
        *first = more;
    if (*first + *count != more || *count + more_count > UINT16_MAX)
        return false;
    *count = (uint16_t)(*count + more_count);
    return true;
}

typedef enum varve_code adds(struct vv_process_reader *process, const struct vv_record *record,
                             struct varve_error *error);

static enum varve_code read_args(struct vv_stream_reader *stream, const struct vv_record *record,
                                 adds *add, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_model *model = process->model;
    bool is_activity = high_half(word(record, 0)) == VV_SUBJECT_ACTIVITY;
    struct vv_device_work *work = is_activity ? last_work(stream) : NULL;
    struct vv_more_args more = { record->slice, (uint32_t)model->args.table.count, 0 };
    if (is_activity ? work == NULL : record->slice == VV_NONE)
        return VARVE_OK;
    VV_TRY(add(process, record, error));
    more.count = (uint32_t)model->args.table.count - more.first;
    if (more.count == 0)
        return VARVE_OK;
    if (is_activity) {
        model->health.ignored +=
            !extend(&work->first_arg, &work->arg_count, more.first, more.count);
        return VARVE_OK;
    }
    if (!extend(&model->slices.first_arg[more.slice], &model->slices.arg_count[more.slice],
                more.first, more.count))
        VV_PUSH(&process->values.more, more, error);
    return VARVE_OK;
}

enum varve_code vv_args_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error)
{
    return read_args(stream, record, add_numbers, error);
}

enum varve_code vv_texts_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error)
{
    return read_args(stream, record, add_texts, error);
}

/* ---- how a kernel was launched ---- */

static enum varve_code add_of_kernel(struct vv_process_reader *process, const char *name,
                                     uint8_t kind, uint64_t value, struct varve_error *error)
{
    struct vv_args *args = &process->model->args;
    uint32_t row, key;
    VV_TRY(vv_model_text(process->model, name, &key, error));
    VV_TRY(vv_model_add_arg(process->model, &row, error));
    args->key[row] = key;
    args->kind[row] = kind;
    args->value[row] = value;
    return VARVE_OK;
}

/* Three halves of words, from half number `first` of the payload on. */
static enum varve_code add_sizes(struct vv_process_reader *process, const struct vv_record *record,
                                 const char *name, size_t first, struct varve_error *error)
{
    uint64_t sizes[3], text;
    for (size_t i = 0; i < 3; i++) {
        uint64_t both = word(record, (first + i) / 2);
        sizes[i] = htole64((first + i) % 2 == 0 ? (uint32_t)both : high_half(both));
    }
    const struct value value = { VARVE_ARG_INTS, 3, sizes };
    VV_TRY(list_text(process, &value, &text, error));
    return add_of_kernel(process, name, VV_ARG_JSON, text, error);
}

enum varve_code vv_kernel_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error)
{
    enum { GRID = 6, BLOCK = 9, REST = 6 };
    struct vv_process_reader *process = stream->process;
    uint32_t first = (uint32_t)process->model->args.table.count;
    VV_TRY(vv_kernel_work_read(stream, record, error));
    struct vv_device_work *work = last_work(stream);
    if (work == NULL)
        return VARVE_OK;
    VV_TRY(add_sizes(process, record, "grid", GRID, error));
    VV_TRY(add_sizes(process, record, "block", BLOCK, error));
    VV_TRY(add_of_kernel(process, "registers per thread", VV_ARG_INT,
                         (uint32_t)word(record, REST), error));
    VV_TRY(add_of_kernel(process, "shared memory", VV_ARG_INT, high_half(word(record, REST)),
                         error));
    work->first_arg = first;
    work->arg_count = (uint16_t)(process->model->args.table.count - first);
    return VARVE_OK;
}

/* ---- arguments told at several times ---- */

static bool more_before(const void *context, uint64_t left, uint64_t right)
{
    const struct vv_more_args *more = context;
    return more[left].slice < more[right].slice;
}

static enum varve_code copy_rows(struct vv_model *model, uint32_t first, uint32_t count,
                                 struct varve_error *error)
{
    struct vv_args *args = &model->args;
    for (uint32_t i = 0, row; i < count; i++) {
        VV_TRY(vv_model_add_arg(model, &row, error));
        args->key[row] = args->key[first + i];
        args->kind[row] = args->kind[first + i];
        args->value[row] = args->value[first + i];
    }
    return VARVE_OK;
}

enum varve_code vv_values_join(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_slices *slices = &model->slices;
    const size_t count = process->values.more.count;
    const struct vv_more_args *more = process->values.more.items;
    uint64_t *order;
    enum varve_code code = VARVE_OK;
    VV_TRY(vv_order_rows(count, more_before, more, &order, error));
    for (size_t i = 0; i < count && code == VARVE_OK; i++) {
        const struct vv_more_args *one = &more[order == NULL ? i : order[i]];
        uint32_t slice = one->slice, rows = (uint32_t)model->args.table.count;
        if (slices->arg_count[slice] + one->count > UINT16_MAX) {
            model->health.ignored++;
            continue;
        }
        if (slices->first_arg[slice] + slices->arg_count[slice] != rows) {
            code = copy_rows(model, slices->first_arg[slice], slices->arg_count[slice], error);
            slices->first_arg[slice] = rows;
        }
        if (code == VARVE_OK)
            code = copy_rows(model, one->first, one->count, error);
        slices->arg_count[slice] = (uint16_t)(slices->arg_count[slice] + one->count);
    }
    free(order);
    return code;
}

/* ---- collectives ---- */

static enum varve_code add_ranks(struct vv_process_reader *process, const struct vv_record *record,
                                 uint32_t *out_text, struct varve_error *error)
{
    const struct value ranks = { VARVE_ARG_INTS, record->payload_words - COLLECTIVE_WORDS,
                                 record->payload + COLLECTIVE_WORDS };
    uint64_t text = 0;
    if (ranks.count > 0)
        VV_TRY(list_text(process, &ranks, &text, error));
    *out_text = (uint32_t)text;
    return VARVE_OK;
}

static int64_t at_most(uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* `name` is the model's string of the range, for a collective that states no operation. */
static enum varve_code add_collective(struct vv_process_reader *process,
                                      const struct vv_record *record, uint32_t name,
                                      uint32_t *out_row, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_collectives *collectives = &model->collectives;
    uint32_t operation = (uint32_t)word(record, 0), group = high_half(word(record, 0)),
             dtype = (uint32_t)word(record, 1), row;
    VV_TRY(vv_model_add_collective(model, out_row, error));
    row = *out_row;
    collectives->name[row] = name;
    if (operation != 0)
        VV_TRY(vv_process_string(process, operation, &collectives->name[row], error));
    if (group != 0)
        VV_TRY(vv_process_string(process, group, &collectives->group[row], error));
    if (dtype != VARVE_DTYPE_UNKNOWN && dtype <= VARVE_BITS)
        VV_TRY(vv_model_text(model, vv_dialect_dtype_suffix((uint16_t)dtype) + 1,
                             &collectives->dtype[row], error));
    collectives->rank[row] = (int64_t)word(record, 2);
    collectives->group_size[row] = at_most(word(record, 3));
    collectives->peer[row] = (int64_t)word(record, 4);
    collectives->sequence[row] = (int64_t)word(record, 5);
    collectives->in_elements[row] = at_most(word(record, 6));
    collectives->out_elements[row] = at_most(word(record, 7));
    collectives->bytes[row] = word(record, 8);
    collectives->runs[row] = 1;
    vv_group_say(process, collectives->group_size[row], collectives->rank[row]);
    return add_ranks(process, record, &collectives->ranks[row], error);
}

/* If a range or an activity has several, the last one counts. */
enum varve_code vv_collective_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_model *model = process->model;
    uint32_t slice = record->slice;
    if (high_half(word(record, 1)) == VV_SUBJECT_ACTIVITY) {
        struct vv_device_work *work = last_work(stream);
        return work == NULL ? VARVE_OK
                            : add_collective(process, record, work->name, &work->collective, error);
    }
    if (slice == VV_NONE)
        return VARVE_OK;
    uint32_t op = model->slices.op[slice], row;
    if (op == VV_NONE)
        VV_TRY(vv_model_add_op(model, &op, error));
    VV_TRY(add_collective(process, record, model->slices.name[slice], &row, error));
    model->slices.op[slice] = op;
    model->ops.collective[op] = row;
    model->slices.layer[slice] = VARVE_LAYER_COMM;
    return VARVE_OK;
}
