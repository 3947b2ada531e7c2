/* SPDX-License-Identifier: Apache-2.0 */
/* stat.c — one statistic: a typed value for the columns, an argument, a fact or a counter's value.
 *
 * Producers choose the type of a number freely, so every role reads all numeric kinds. A reference
 * is the name of another statistic's metadata. Bytes become base64; of long bytes among an event's
 * arguments only the count is kept. Several threads do this at once, each with a sink of its
 * own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text/base64.h"
#include "base/utf8.h"
#include "decompress/decompress.h"
#include "import/xspace/xspace.h"

#define TEXT_BYTES_MAX (UINT64_C(64) << 20)
#define ARG_BYTES_MAX 4096u

/* The value of a statistic, in the form of args and facts. */
struct decoded {
    uint64_t value;
    enum vv_arg_kind kind;
    uint64_t large;        /* the number, if it is beyond int64_t: the value is a text then; or 0 */
};

static enum varve_code reserve_text(struct vv_xspace_sink *sink, size_t bytes,
                                    struct varve_error *error)
{
    return vv_array_reserve(&sink->text, &sink->text_capacity, bytes, 1, error);
}

enum varve_code vv_xspace_text(struct vv_xspace_sink *sink, const char *text, size_t length,
                               uint32_t *out_id, struct varve_error *error)
{
    if (sink->rows == sink->space->model)
        return vv_model_add_text(sink->rows, text, length, out_id, error);
    *out_id = vv_intern_find(&sink->space->model->strings, text, length);
    if (*out_id != UINT32_MAX)
        return VARVE_OK;
    VV_TRY(vv_model_add_text(sink->rows, text, length, out_id, error));
    *out_id += VV_XSPACE_OWN_TEXTS;
    return VARVE_OK;
}

const char *vv_xspace_text_of(const struct vv_xspace_sink *sink, uint32_t id)
{
    return id < VV_XSPACE_OWN_TEXTS
               ? vv_intern_text(&sink->space->model->strings, id)
               : vv_intern_text(&sink->rows->strings, id - VV_XSPACE_OWN_TEXTS);
}

/* ---- values ---- */

static enum varve_code put_text(struct vv_xspace_sink *sink, const char *text, size_t length,
                                struct decoded *out, struct varve_error *error)
{
    uint32_t id;
    VV_TRY(vv_xspace_text(sink, text, length, &id, error));
    *out = (struct decoded){ .value = id, .kind = VV_ARG_TEXT };
    return VARVE_OK;
}

static enum varve_code put_bytes(struct vv_xspace_sink *sink, const unsigned char *data,
                                 size_t length, struct decoded *out, struct varve_error *error)
{
    if (length > sink->bytes_max) {
        char note[40];
        sink->rows->health.ignored++;
        return put_text(sink, note, (size_t)snprintf(note, sizeof note, "(%zu bytes)", length), out,
                        error);
    }
    VV_TRY(reserve_text(sink, vv_base64_letters(length) + 1, error));
    size_t letters = vv_base64_write(data, length, sink->text);
    return put_text(sink, sink->text, letters, out, error);
}

/* *out_is_text is false if the bytes are no stream of zlib or gzip, or are too long. The text is in
 * sink->text. */
static enum varve_code inflate_text(struct vv_xspace_sink *sink, const struct vv_protobuf *stat,
                                    size_t *out_bytes, bool *out_is_text, struct varve_error *error)
{
    vv_decompressed text = { (unsigned char *)sink->text, 0, sink->text_capacity };
    enum varve_code code = vv_decompress_zlib(stat->data, stat->value, &text);
    sink->text = (char *)text.items;
    sink->text_capacity = text.capacity;
    if (code == VARVE_NO_MEMORY)
        VV_FAIL(error, code, "no memory to decompress a statistic");
    *out_bytes = text.count;
    *out_is_text = code == VARVE_OK && vv_utf8_valid(sink->text, *out_bytes) == *out_bytes;
    return VARVE_OK;
}

static enum varve_code put_compressed(struct vv_xspace_sink *sink, const struct vv_protobuf *stat,
                                      struct decoded *out, struct varve_error *error)
{
    size_t length = 0;
    bool is_text = false;
    if (stat->value <= VV_DECOMPRESSED_BYTES_MAX)
        VV_TRY(inflate_text(sink, stat, &length, &is_text, error));
    if (is_text)
        return put_text(sink, sink->text, length, out, error);
    sink->rows->health.ignored++;
    return put_bytes(sink, stat->data, (size_t)stat->value, out, error);
}

/* A number beyond int64_t is kept as its digits. */
static enum varve_code put_unsigned(struct vv_xspace_sink *sink, uint64_t value,
                                    struct decoded *out, struct varve_error *error)
{
    char digits[24];
    *out = (struct decoded){ .value = value, .kind = VV_ARG_INT };
    if (value <= INT64_MAX)
        return VARVE_OK;
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    VV_TRY(put_text(sink, digits, (size_t)length, out, error));
    out->large = value;
    return VARVE_OK;
}

static enum varve_code read_value(const struct vv_xspace_plane *plane, struct vv_xspace_sink *sink,
                                  const struct vv_protobuf *stat, struct decoded *out,
                                  struct varve_error *error)
{
    static const uint8_t wires[] = {
        [VV_XSTAT_DOUBLE_VALUE] = VV_WIRE_FIXED64, [VV_XSTAT_UINT64_VALUE] = VV_WIRE_VARINT,
        [VV_XSTAT_INT64_VALUE] = VV_WIRE_VARINT,   [VV_XSTAT_STR_VALUE] = VV_WIRE_BYTES,
        [VV_XSTAT_BYTES_VALUE] = VV_WIRE_BYTES,    [VV_XSTAT_REF_VALUE] = VV_WIRE_VARINT,
        [VV_XSTAT_COMPRESSED_STR_VALUE] = VV_WIRE_BYTES,
    };
    *out = (struct decoded){ .value = 0, .kind = VV_ARG_NULL };
    if (stat->number >= sizeof wires / sizeof *wires)
        return VARVE_OK;
    VV_TRY(
        vv_protobuf_expect(stat, (enum vv_wire)wires[stat->number], "a statistic's value", error));
    switch (stat->number) {
    case VV_XSTAT_DOUBLE_VALUE:
        *out = (struct decoded){ .value = stat->value, .kind = VV_ARG_REAL };
        return VARVE_OK;
    case VV_XSTAT_UINT64_VALUE:
        return put_unsigned(sink, stat->value, out, error);
    case VV_XSTAT_INT64_VALUE:
        *out = (struct decoded){ .value = stat->value, .kind = VV_ARG_INT };
        return VARVE_OK;
    case VV_XSTAT_STR_VALUE:
        if (stat->value > TEXT_BYTES_MAX)
            return vv_fail_at(error, VARVE_LIMIT, vv_protobuf_offset(stat, stat->data),
                              "a text of %llu bytes", (unsigned long long)stat->value);
        VV_TRY(vv_protobuf_expect_text(stat, "a statistic's text", error));
        return put_text(sink, (const char *)stat->data, (size_t)stat->value, out, error);
    case VV_XSTAT_BYTES_VALUE:
        return put_bytes(sink, stat->data, (size_t)stat->value, out, error);
    case VV_XSTAT_REF_VALUE: {
        uint32_t kind = vv_key_map_get(&plane->stat_ids, stat->value);
        if (kind == VV_KEY_NONE)
            return put_unsigned(sink, stat->value, out, error);
        *out = (struct decoded){ .value = plane->stat_kinds[kind].name, .kind = VV_ARG_TEXT };
        return VARVE_OK;
    }
    default:
        return put_compressed(sink, stat, out, error);
    }
}

/* Reads an id that metadata knows, then one number, in the order that nearly all writers use. */
static inline bool read_in_order(const struct vv_xspace_plane *plane, const unsigned char *at,
                                 const unsigned char *limit, const unsigned char *readable,
                                 const struct vv_xspace_stat_kind **out_kind, struct decoded *out)
{
    uint64_t id, value;
    if (limit - at < 4 || *at++ != (VV_XSTAT_METADATA_ID << 3 | VV_WIRE_VARINT) ||
        !vv_protobuf_varint(&at, limit, &id) || at == limit)
        return false;
    uint32_t kind = vv_key_map_get(&plane->stat_ids, id);
    unsigned char tag = *at++;
    if (kind == VV_KEY_NONE)
        return false;
    *out_kind = &plane->stat_kinds[kind];
    if (tag == (VV_XSTAT_DOUBLE_VALUE << 3 | VV_WIRE_FIXED64) && limit - at == 8) {
        memcpy(&value, at, 8);
        *out = (struct decoded){ .value = le64toh(value), .kind = VV_ARG_REAL };
        return true;
    }
    if ((tag & 7) != VV_WIRE_VARINT || !vv_protobuf_varint(&at, readable, &value) || at != limit)
        return false;
    *out = (struct decoded){ .value = value, .kind = VV_ARG_INT };
    if (tag >> 3 != VV_XSTAT_REF_VALUE)
        return tag >> 3 == VV_XSTAT_INT64_VALUE ||
               (tag >> 3 == VV_XSTAT_UINT64_VALUE && value <= INT64_MAX);
    uint32_t text = vv_key_map_get(&plane->stat_ids, value);
    if (text == VV_KEY_NONE)
        return false;
    *out = (struct decoded){ .value = plane->stat_kinds[text].name, .kind = VV_ARG_TEXT };
    return true;
}

/* As in a oneof, the last value counts. */
static enum varve_code read_stat(const struct vv_xspace_plane *plane, struct vv_xspace_sink *sink,
                                 const struct vv_protobuf *message, uint64_t *out_id,
                                 struct decoded *out, struct varve_error *error)
{
    struct vv_protobuf stat;
    VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a statistic", error));
    *out_id = 0;
    *out = (struct decoded){ .value = 0, .kind = VV_ARG_NULL };
    vv_protobuf_enter(message, &stat);
    while (vv_protobuf_next(&stat)) {
        if (stat.number == VV_XSTAT_METADATA_ID) {
            VV_TRY(vv_protobuf_expect(&stat, VV_WIRE_VARINT, "a statistic's id", error));
            *out_id = stat.value;
        } else if (stat.number >= VV_XSTAT_DOUBLE_VALUE &&
                   stat.number <= VV_XSTAT_COMPRESSED_STR_VALUE) {
            VV_TRY(read_value(plane, sink, &stat, out, error));
        } else {
            sink->rows->health.ignored++;
        }
    }
    return vv_protobuf_end(&stat, error);
}

/* ---- where a value goes ---- */

/* An id without metadata is called "stat ID". */
static enum varve_code unknown_kind(struct vv_xspace_sink *sink, uint64_t id,
                                    struct vv_xspace_stat_kind *out_kind, struct varve_error *error)
{
    char name[32];
    int length = snprintf(name, sizeof name, "stat %llu", (unsigned long long)id);
    *out_kind = (struct vv_xspace_stat_kind){ .role = VV_XSPACE_ARGUMENT };
    return vv_xspace_text(sink, name, (size_t)length, &out_kind->name, error);
}

static bool is_share(double real)
{
    return real >= 0 && real <= 1;
}

/* Sets the role if the value has the role's type. Returns whether it was set. */
static inline bool set_role(struct vv_xspace_values *values, const struct vv_xspace_stat_kind *kind,
                            struct decoded decoded)
{
    static const uint32_t ids = UINT32_C(1) << VV_XSPACE_FLOW |
                                UINT32_C(1) << VV_XSPACE_PRODUCER |
                                UINT32_C(1) << VV_XSPACE_CONSUMER;
    int64_t item = (int64_t)decoded.value;
    if (decoded.large != 0 && (ids >> kind->role & 1) != 0) {
        values->items[kind->role] = (int64_t)decoded.large;
        values->set |= UINT32_C(1) << kind->role;
        return true;
    }
    if (kind->is_text != (decoded.kind == VV_ARG_TEXT) || decoded.kind == VV_ARG_NULL)
        return false;
    if (kind->role == VV_XSPACE_FRAGMENTATION) {
        if (decoded.kind != VV_ARG_REAL || !is_share(vv_protobuf_real(decoded.value)))
            return false;
    } else if (decoded.kind == VV_ARG_REAL) {
        double real = vv_protobuf_real(decoded.value);
        if (!(fabs(real) < 9e18))
            return false;
        item = (int64_t)real;
    }
    values->items[kind->role] = item;
    values->set |= UINT32_C(1) << kind->role;
    return true;
}

static inline bool is_taken(const struct vv_xspace_keeping *keeping,
                            const struct vv_xspace_stat_kind *kind)
{
    return kind->use == VV_XSPACE_TAKE ||
           (kind->use == VV_XSPACE_TAKE_OF_MEMORY && keeping->is_memory) ||
           (kind->use == VV_XSPACE_TAKE_OF_WORK && keeping->is_work);
}

static inline enum varve_code add_arg(struct vv_model *rows, uint32_t key, struct decoded decoded,
                                      struct varve_error *error)
{
    uint64_t row;
    VV_TRY(vv_xspace_arg_add(rows, &row, error));
    rows->args.key[row] = key;
    rows->args.value[row] = decoded.value;
    rows->args.kind[row] = (uint8_t)decoded.kind;
    return VARVE_OK;
}

enum varve_code vv_xspace_fact(struct vv_xspace_sink *sink, uint32_t process, const char *key,
                               uint64_t value, enum vv_arg_kind kind, struct varve_error *error)
{
    uint32_t row, text;
    struct vv_facts *facts = &sink->rows->facts;
    VV_TRY(vv_xspace_text(sink, key, strlen(key), &text, error));
    VV_TRY(vv_model_add_fact(sink->rows, &row, error));
    facts->key[row] = text;
    facts->value[row] = value;
    facts->kind[row] = (uint8_t)kind;
    facts->process[row] = process;
    return VARVE_OK;
}

enum varve_code vv_xspace_text_fact(struct vv_xspace_sink *sink, uint32_t process, const char *key,
                                    const struct vv_protobuf *message, struct varve_error *error)
{
    struct decoded text;
    VV_TRY(vv_protobuf_expect_text(message, key, error));
    VV_TRY(put_text(sink, (const char *)message->data, (size_t)message->value, &text, error));
    return vv_xspace_fact(sink, process, key, text.value, text.kind, error);
}

static enum varve_code keep_fact(const struct vv_xspace_keeping *keeping, const char *text,
                                 struct decoded decoded, struct varve_error *error)
{
    struct vv_xspace_sink *sink = keeping->sink;
    if (keeping->prefix != NULL) {
        size_t bytes = strlen(keeping->prefix) + strlen(text) + 3;
        VV_TRY(reserve_text(sink, bytes, error));
        snprintf(sink->text, bytes, "%s: %s", keeping->prefix, text);
        text = sink->text;
    }
    return vv_xspace_fact(sink, keeping->process, text, decoded.value, decoded.kind, error);
}

enum varve_code vv_xspace_named_fact(const struct vv_xspace_keeping *keeping, const char *key,
                                     int64_t value, struct varve_error *error)
{
    struct decoded decoded = { .value = (uint64_t)value, .kind = VV_ARG_INT };
    return keep_fact(keeping, key, decoded, error);
}

/* A counter's texts go to facts with the counter's name, as arguments do. */
static enum varve_code keep_counter(const struct vv_xspace_keeping *keeping, uint32_t series,
                                    struct decoded decoded, struct varve_error *error)
{
    uint32_t row;
    struct vv_model *rows = keeping->sink->rows;
    if (decoded.kind != VV_ARG_INT && decoded.kind != VV_ARG_REAL)
        return keep_fact(keeping, vv_xspace_text_of(keeping->sink, series), decoded, error);
    VV_TRY(vv_model_add_counter(rows, &row, error));
    rows->counters.time_ns[row] = keeping->time_ns;
    rows->counters.value[row] = decoded.kind == VV_ARG_REAL ? vv_protobuf_real(decoded.value)
                                                            : (double)(int64_t)decoded.value;
    rows->counters.name[row] = keeping->counter;
    rows->counters.series[row] = series;
    rows->counters.track[row] = keeping->track;
    return VARVE_OK;
}

/* Keeps a statistic that is no argument of an event. */
static __attribute__((noinline)) enum varve_code
keep_elsewhere(const struct vv_xspace_stat_kind *kind, struct decoded decoded,
               const struct vv_xspace_keeping *keeping, struct varve_error *error)
{
    if (keeping->target == VV_XSPACE_TO_FACTS)
        return keep_fact(keeping, vv_xspace_text_of(keeping->sink, kind->name), decoded, error);
    return keep_counter(keeping, kind->name, decoded, error);
}

/* Keeps a statistic whose kind is known. */
static inline __attribute__((always_inline)) enum varve_code
keep_known(const struct vv_xspace_stat_kind *kind, struct decoded decoded,
           const struct vv_xspace_keeping *keeping, struct varve_error *error)
{
    if (kind->role != VV_XSPACE_ARGUMENT && keeping->values != NULL &&
        set_role(keeping->values, kind, decoded) && is_taken(keeping, kind))
        return VARVE_OK;
    if (keeping->target == VV_XSPACE_TO_ARGS)
        return add_arg(keeping->sink->rows, kind->name, decoded, error);
    return keep_elsewhere(kind, decoded, keeping, error);
}

enum varve_code vv_xspace_stat_keep(const struct vv_xspace_plane *plane,
                                    const struct vv_protobuf *message,
                                    const struct vv_xspace_keeping *keeping,
                                    struct varve_error *error)
{
    uint64_t id;
    struct decoded decoded;
    struct vv_xspace_stat_kind unknown;
    keeping->sink->bytes_max =
        keeping->target == VV_XSPACE_TO_ARGS ? ARG_BYTES_MAX : TEXT_BYTES_MAX;
    VV_TRY(read_stat(plane, keeping->sink, message, &id, &decoded, error));
    uint32_t kind = vv_key_map_get(&plane->stat_ids, id);
    if (kind != VV_KEY_NONE)
        return keep_known(&plane->stat_kinds[kind], decoded, keeping, error);
    VV_TRY(unknown_kind(keeping->sink, id, &unknown, error));
    return keep_known(&unknown, decoded, keeping, error);
}

enum varve_code vv_xspace_stats_keep(const struct vv_xspace_plane *plane, struct vv_bytes stats,
                                     const unsigned char *readable, uint64_t offset,
                                     const struct vv_xspace_keeping *keeping,
                                     struct varve_error *error)
{
    const unsigned char *at = stats.data, *limit = at + stats.length;
    while (at < limit) {
        uint64_t length = 0;
        const struct vv_xspace_stat_kind *kind;
        struct decoded decoded;
        at++;
        if (!vv_protobuf_varint(&at, limit, &length))
            break;
        if (read_in_order(plane, at, at + length, readable, &kind, &decoded)) {
            VV_TRY(keep_known(kind, decoded, keeping, error));
        } else {
            struct vv_protobuf field = { .wire = VV_WIRE_BYTES, .value = length, .data = at,
                                         .start = at };
            field.start_offset = offset + (uint64_t)(at - stats.data);
            VV_TRY(vv_xspace_stat_keep(plane, &field, keeping, error));
        }
        at += length;
    }
    return VARVE_OK;
}
