/* SPDX-License-Identifier: Apache-2.0 */
/* xspace_stat.c — one statistic: a typed value for the columns, an argument, a fact or a counter's value.
 *
 * A producer chooses the type of a number freely, so all numeric kinds are read for each role. A reference is the name
 * of another statistic's metadata. Bytes become base64, long ones only their count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef VV_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/array.h"
#include "base/utf8.h"
#include "import/xspace.h"

#define BYTES_KEPT_MAX 4096u
#define TEXT_BYTES_MAX (UINT64_C(64) << 20)

/* The value of a statistic, as args and facts hold it. */
struct decoded {
    uint64_t value;
    enum vv_arg_kind kind;
};

static enum varve_code reserve_text(struct vv_xspace *space, size_t bytes, struct varve_error *error)
{
    return vv_array_reserve(&space->text, &space->text_capacity, bytes, 1, error);
}

/* ---- values ---- */

static enum varve_code put_text(struct vv_xspace *space, const char *text, size_t length,
                                struct decoded *out, struct varve_error *error)
{
    uint32_t id;
    VV_TRY(vv_intern_add(&space->model->strings, text, length, &id, error));
    *out = (struct decoded){ id, VV_ARG_TEXT };
    return VARVE_OK;
}

static enum varve_code put_bytes(struct vv_xspace *space, const unsigned char *data, size_t length,
                                 struct decoded *out, struct varve_error *error)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (length > BYTES_KEPT_MAX) {
        char note[40];
        space->model->health.ignored++;
        return put_text(space, note, (size_t)snprintf(note, sizeof note, "(%zu bytes)", length), out,
                        error);
    }
    VV_TRY(reserve_text(space, (length + 2) / 3 * 4 + 1, error));
    char *at = space->text;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t three = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                         (left > 2 ? data[i + 2] : 0);
        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[three & 63] : '=';
    }
    return put_text(space, space->text, (size_t)(at - space->text), out, error);
}

/* False where it is not what zlib or gzip writes, or is too long. *out_bytes lie in space->text. */
static bool inflate_text(struct vv_xspace *space, const struct vv_protobuf *stat, size_t *out_bytes,
                         struct varve_error *error)
{
#ifdef VV_HAVE_ZLIB
    z_stream zlib = { .next_in = (unsigned char *)(uintptr_t)stat->data,
                      .avail_in = (uInt)stat->value };
    size_t room = 1024;
    int status = Z_OK;
    if (inflateInit2(&zlib, 32 + MAX_WBITS) != Z_OK)
        return false;
    while (status == Z_OK && zlib.total_out < TEXT_BYTES_MAX) {
        room *= 4;
        if (reserve_text(space, room, error) != VARVE_OK)
            break;
        zlib.next_out = (unsigned char *)space->text + zlib.total_out;
        zlib.avail_out = (uInt)(room - zlib.total_out);
        status = inflate(&zlib, Z_NO_FLUSH);
    }
    *out_bytes = zlib.total_out;
    inflateEnd(&zlib);
    return status == Z_STREAM_END && vv_utf8_valid(space->text, *out_bytes) == *out_bytes;
#else
    (void)space;
    (void)stat;
    (void)out_bytes;
    (void)error;
    return false;
#endif
}

static enum varve_code put_compressed(struct vv_xspace *space, const struct vv_protobuf *stat,
                                      struct decoded *out, struct varve_error *error)
{
    size_t length;
    if (stat->value <= TEXT_BYTES_MAX && inflate_text(space, stat, &length, error))
        return put_text(space, space->text, length, out, error);
    space->model->health.ignored++;
    return put_bytes(space, stat->data, (size_t)stat->value, out, error);
}

/* A number beyond int64_t is kept as its digits. */
static enum varve_code put_unsigned(struct vv_xspace *space, uint64_t value, struct decoded *out,
                                    struct varve_error *error)
{
    char digits[24];
    *out = (struct decoded){ value, VV_ARG_INT };
    if (value <= INT64_MAX)
        return VARVE_OK;
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return put_text(space, digits, (size_t)length, out, error);
}

static enum varve_code read_value(struct vv_xspace_plane *plane, const struct vv_protobuf *stat,
                                  struct decoded *out, struct varve_error *error)
{
    static const uint8_t wires[] = { [2] = VV_WIRE_FIXED64, [3] = VV_WIRE_VARINT, [4] = VV_WIRE_VARINT,
                                     [5] = VV_WIRE_BYTES,   [6] = VV_WIRE_BYTES,  [7] = VV_WIRE_VARINT,
                                     [8] = VV_WIRE_BYTES };
    struct vv_xspace *space = plane->space;
    VV_TRY(vv_protobuf_expect(stat, (enum vv_wire)wires[stat->number], "a statistic's value", error));
    switch (stat->number) {
    case 2:
        *out = (struct decoded){ stat->value, VV_ARG_REAL };
        return VARVE_OK;
    case 3:
        return put_unsigned(space, stat->value, out, error);
    case 4:
        *out = (struct decoded){ stat->value, VV_ARG_INT };
        return VARVE_OK;
    case 5:
        if (stat->value > TEXT_BYTES_MAX)
            return vv_fail_at(error, VARVE_LIMIT, vv_protobuf_offset(stat, stat->data),
                              "a text of %llu bytes", (unsigned long long)stat->value);
        VV_TRY(vv_protobuf_expect_text(stat, "a statistic's text", error));
        return put_text(space, (const char *)stat->data, (size_t)stat->value, out, error);
    case 6:
        return put_bytes(space, stat->data, (size_t)stat->value, out, error);
    case 7: {
        uint32_t kind = vv_key_map_get(&plane->stat_ids, stat->value);
        if (kind == VV_KEY_NONE)
            return put_unsigned(space, stat->value, out, error);
        *out = (struct decoded){ plane->stat_kinds[kind].name, VV_ARG_TEXT };
        return VARVE_OK;
    }
    default:
        return put_compressed(space, stat, out, error);
    }
}

/* As nearly all writers do: an id of one byte or more, then one value that is a number. */
static bool read_in_order(struct vv_xspace_plane *plane, const struct vv_protobuf *message,
                          uint64_t *out_id, struct decoded *out)
{
    const unsigned char *at = message->data, *limit = at + message->value;
    if (limit - at < 4 || *at++ != (1 << 3 | VV_WIRE_VARINT) || !vv_protobuf_varint(&at, limit, out_id) ||
        at == limit)
        return false;
    unsigned char tag = *at++;
    uint64_t value;
    if (tag == (2 << 3 | VV_WIRE_FIXED64) && limit - at == 8) {
        memcpy(&value, at, 8);
        *out = (struct decoded){ le64toh(value), VV_ARG_REAL };
        return true;
    }
    if ((tag & 7) != VV_WIRE_VARINT || !vv_protobuf_varint(&at, limit, &value) || at != limit)
        return false;
    *out = (struct decoded){ value, VV_ARG_INT };
    if (tag >> 3 == 7) {
        uint32_t kind = vv_key_map_get(&plane->stat_ids, value);
        if (kind == VV_KEY_NONE)
            return false;
        *out = (struct decoded){ plane->stat_kinds[kind].name, VV_ARG_TEXT };
        return true;
    }
    return tag >> 3 == 4 || (tag >> 3 == 3 && value <= INT64_MAX);
}

/* The last value counts, as in a oneof. */
static enum varve_code read_stat(struct vv_xspace_plane *plane, const struct vv_protobuf *message,
                                 uint64_t *out_id, struct decoded *out, struct varve_error *error)
{
    struct vv_protobuf stat;
    VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "a statistic", error));
    if (read_in_order(plane, message, out_id, out))
        return VARVE_OK;
    *out_id = 0;
    *out = (struct decoded){ 0, VV_ARG_NULL };
    vv_protobuf_enter(message, &stat);
    while (vv_protobuf_next(&stat)) {
        if (stat.number == 1) {
            VV_TRY(vv_protobuf_expect(&stat, VV_WIRE_VARINT, "a statistic's id", error));
            *out_id = stat.value;
        } else if (stat.number >= 2 && stat.number <= 8) {
            VV_TRY(read_value(plane, &stat, out, error));
        } else {
            plane->space->model->health.ignored++;
        }
    }
    return vv_protobuf_end(&stat, error);
}

/* ---- where it goes ---- */

/* An id without metadata is called "stat ID". */
static enum varve_code find_kind(struct vv_xspace_plane *plane, uint64_t id,
                                 const struct vv_xspace_stat_kind **out_kind,
                                 struct varve_error *error)
{
    uint32_t row = vv_key_map_get(&plane->stat_ids, id);
    if (row == VV_KEY_NONE) {
        char name[32];
        struct vv_xspace_stat_kind kind = { .word = &vv_xspace_stat_words[0] };
        snprintf(name, sizeof name, "stat %llu", (unsigned long long)id);
        VV_TRY(vv_model_text(plane->space->model, name, &kind.name, error));
        VV_TRY(vv_array_reserve(&plane->stat_kinds, &plane->stat_kind_capacity,
                                plane->stat_kind_count + 1, sizeof *plane->stat_kinds, error));
        row = (uint32_t)plane->stat_kind_count;
        plane->stat_kinds[plane->stat_kind_count++] = kind;
        VV_TRY(vv_key_map_put(&plane->stat_ids, id, row, error));
    }
    *out_kind = &plane->stat_kinds[row];
    return VARVE_OK;
}

/* Is it of the type that its role asks for? Then it is set. */
static bool set_role(struct vv_xspace_values *values, const struct vv_xspace_stat_word *word,
                     const struct decoded *decoded)
{
    int64_t item = (int64_t)decoded->value;
    if (word->is_text != (decoded->kind == VV_ARG_TEXT) || decoded->kind == VV_ARG_NULL)
        return false;
    if (decoded->kind == VV_ARG_REAL) {
        double real = vv_protobuf_real(decoded->value);
        if (!(fabs(real) < 9e18))
            return false;
        item = (int64_t)real;
    }
    values->items[word->role] = item;
    values->set |= UINT32_C(1) << word->role;
    return true;
}

static bool is_taken(const struct vv_xspace_keeping *keeping, const struct vv_xspace_stat_word *word)
{
    return word->use == VV_XSPACE_TAKE || (word->use == VV_XSPACE_TAKE_OF_MEMORY && keeping->is_memory) ||
           (word->use == VV_XSPACE_TAKE_OF_WORK && keeping->is_work);
}

static enum varve_code add_arg(struct vv_model *model, uint32_t key, const struct decoded *decoded,
                               struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_arg(model, &row, error));
    model->args.key[row] = key;
    model->args.value[row] = decoded->value;
    model->args.kind[row] = (uint8_t)decoded->kind;
    return VARVE_OK;
}

enum varve_code vv_xspace_fact(struct vv_xspace *space, uint32_t process, const char *key,
                               uint64_t value, enum vv_arg_kind kind, struct varve_error *error)
{
    uint32_t row, text;
    struct vv_model *model = space->model;
    VV_TRY(vv_model_text(model, key, &text, error));
    VV_TRY(vv_model_add_fact(model, &row, error));
    model->facts.key[row] = text;
    model->facts.value[row] = value;
    model->facts.kind[row] = (uint8_t)kind;
    model->facts.process[row] = process;
    return VARVE_OK;
}

enum varve_code vv_xspace_text_fact(struct vv_xspace *space, uint32_t process, const char *key,
                                    const struct vv_protobuf *message, struct varve_error *error)
{
    struct decoded text;
    VV_TRY(vv_protobuf_expect_text(message, key, error));
    VV_TRY(put_text(space, (const char *)message->data, (size_t)message->value, &text, error));
    return vv_xspace_fact(space, process, key, text.value, text.kind, error);
}

static enum varve_code keep_fact(struct vv_xspace *space, const struct vv_xspace_keeping *keeping,
                                 uint32_t name, const struct decoded *decoded,
                                 struct varve_error *error)
{
    const char *text = vv_intern_text(&space->model->strings, name);
    if (keeping->prefix != NULL) {
        size_t bytes = strlen(keeping->prefix) + strlen(text) + 3;
        VV_TRY(reserve_text(space, bytes, error));
        snprintf(space->text, bytes, "%s: %s", keeping->prefix, text);
        text = space->text;
    }
    return vv_xspace_fact(space, keeping->process, text, decoded->value, decoded->kind, error);
}

enum varve_code vv_xspace_named_fact(struct vv_xspace *space, const struct vv_xspace_keeping *keeping,
                                     const char *key, int64_t value, struct varve_error *error)
{
    uint32_t name;
    struct decoded decoded = { (uint64_t)value, VV_ARG_INT };
    VV_TRY(vv_model_text(space->model, key, &name, error));
    return keep_fact(space, keeping, name, &decoded, error);
}

/* A counter's texts go where arguments go: into facts, with the counter's name. */
static enum varve_code keep_counter(struct vv_xspace *space, const struct vv_xspace_keeping *keeping,
                                    uint32_t series, const struct decoded *decoded,
                                    struct varve_error *error)
{
    uint32_t row;
    struct vv_model *model = space->model;
    if (decoded->kind != VV_ARG_INT && decoded->kind != VV_ARG_REAL)
        return keep_fact(space, keeping, series, decoded, error);
    VV_TRY(vv_model_add_counter(model, &row, error));
    model->counters.time_ns[row] = keeping->time_ns;
    model->counters.value[row] = decoded->kind == VV_ARG_REAL ? vv_protobuf_real(decoded->value)
                                                              : (double)(int64_t)decoded->value;
    model->counters.name[row] = keeping->counter;
    model->counters.series[row] = series;
    model->counters.track[row] = keeping->track;
    return VARVE_OK;
}

enum varve_code vv_xspace_stat_keep(struct vv_xspace_plane *plane, const struct vv_protobuf *message,
                                    const struct vv_xspace_keeping *keeping,
                                    struct varve_error *error)
{
    uint64_t id;
    struct decoded decoded;
    const struct vv_xspace_stat_kind *kind;
    VV_TRY(read_stat(plane, message, &id, &decoded, error));
    VV_TRY(find_kind(plane, id, &kind, error));
    if (kind->word->role != VV_XSPACE_ARGUMENT && keeping->values != NULL &&
        set_role(keeping->values, kind->word, &decoded) && is_taken(keeping, kind->word))
        return VARVE_OK;
    switch (keeping->target) {
    case VV_XSPACE_TO_ARGS:
        return add_arg(plane->space->model, kind->name, &decoded, error);
    case VV_XSPACE_TO_FACTS:
        return keep_fact(plane->space, keeping, kind->name, &decoded, error);
    default:
        return keep_counter(plane->space, keeping, kind->name, &decoded, error);
    }
}
