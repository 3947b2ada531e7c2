/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/metadata/field_type.h"

#include <string.h>

#include "base/utf8.h"

#define DEPTH_MAX 16
#define COUNTS_MAX 32 /* integer fields in scope that may be a length                            */
#define ALIGN_BYTES_MAX 8u
#define STEPS_MIN 256u
#define STEPS_PER_BYTE 16u

/* ---- reading ---- */

struct type_reading {
    struct vv_tsdl_reader *tsdl;
    const struct vv_field_type *aliases;
    struct vv_arena *arena;
    struct varve_error *error;
    int depth;
};

static enum varve_code no_memory(struct varve_error *error)
{
    return vv_fail(error, VARVE_NO_MEMORY, "no memory for event classes");
}

static enum varve_code new_type(struct vv_arena *arena, enum vv_field_kind kind,
                                struct vv_field_type **out_type, struct varve_error *error)
{
    *out_type = vv_arena_alloc(arena, sizeof **out_type);
    if (*out_type == NULL)
        return no_memory(error);
    (*out_type)->kind = kind;
    (*out_type)->align_bytes = 1;
    return VARVE_OK;
}

/* Makes valid UTF-8 of the token: errors show the text, and the metadata may be damaged. */
static enum varve_code token_text(const struct vv_tsdl_reader *tsdl, struct vv_arena *arena,
                                  const char **out_text, struct varve_error *error)
{
    size_t length = tsdl->end - tsdl->begin;
    char *text = vv_arena_alloc(arena, 3 * length + 1); /* zeroed */
    if (text == NULL)
        return no_memory(error);
    vv_utf8_repair(tsdl->text + tsdl->begin, length, text);
    *out_text = text;
    return VARVE_OK;
}

/* The type cannot be measured, because of the current token. */
static enum varve_code give_up(struct type_reading *reading, struct vv_field_type **out_type)
{
    VV_TRY(new_type(reading->arena, VV_FIELD_UNSIZED, out_type, reading->error));
    return token_text(reading->tsdl, reading->arena, &(*out_type)->bad_word, reading->error);
}

/* Reads "{ key = value; … }": the numbers `size`, `align`, `exp_dig` and `mant_dig`, in bits. */
static bool read_attributes(struct vv_tsdl_reader *tsdl, uint64_t *out_size, uint64_t *out_align)
{
    uint64_t size = 0, align = 0;
    if (!vv_tsdl_accept(tsdl, '{'))
        return false;
    while (!vv_tsdl_accept(tsdl, '}')) {
        if (vv_tsdl_next(tsdl) != VV_TSDL_WORD)
            return false;
        bool adds = vv_tsdl_is(tsdl, "size") || vv_tsdl_is(tsdl, "exp_dig") ||
                    vv_tsdl_is(tsdl, "mant_dig");
        bool aligns = vv_tsdl_is(tsdl, "align");
        if (!vv_tsdl_accept(tsdl, '='))
            return false;
        enum vv_tsdl_token token = vv_tsdl_next(tsdl);
        if ((adds || aligns) && (token != VV_TSDL_NUMBER || tsdl->number > 4096))
            return false;
        if (adds)
            size += tsdl->number;
        if (aligns)
            align = tsdl->number;
        while (token != VV_TSDL_END && !vv_tsdl_accept(tsdl, ';'))
            token = vv_tsdl_next(tsdl);
        if (token == VV_TSDL_END)
            return false;
    }
    *out_size = size;
    *out_align = align;
    return true;
}

static bool align_bits(struct vv_field_type *type, uint64_t bits)
{
    uint64_t bytes = bits / 8;
    if (bits % 8 != 0 || bytes == 0 || (bytes & (bytes - 1)) != 0 || bytes > ALIGN_BYTES_MAX)
        return false;
    if (type->align_bytes < bytes)
        type->align_bytes = (uint32_t)bytes;
    return true;
}

static enum varve_code read_number_type(struct type_reading *reading,
                                        struct vv_field_type **out_type)
{
    struct vv_tsdl_reader word = *reading->tsdl;
    uint64_t size = 0, align = 0;
    VV_TRY(new_type(reading->arena, VV_FIELD_NUMBER, out_type, reading->error));
    bool known = read_attributes(reading->tsdl, &size, &align) && size > 0 && size % 8 == 0;
    /* CTF's default: whole bytes are aligned to bytes. */
    if (known && align_bits(*out_type, align == 0 ? 8 : align)) {
        (*out_type)->size_bytes = (uint32_t)(size / 8);
        return VARVE_OK;
    }
    *reading->tsdl = word;
    return give_up(reading, out_type);
}

static enum varve_code read_type(struct type_reading *reading, struct vv_field_type **out_type);

static enum varve_code read_members(struct type_reading *reading, struct vv_field_type *structure)
{
    struct vv_field_type **end = &structure->members;
    while (!vv_tsdl_accept(reading->tsdl, '}')) {
        struct vv_field_type *member;
        VV_TRY(read_type(reading, &member));
        if (member->bad_word == NULL)
            VV_TRY(vv_field_declarator_read(reading->tsdl, reading->arena, &member,
                                            reading->error));
        if (member->bad_word == NULL && !vv_tsdl_accept(reading->tsdl, ';')) {
            vv_tsdl_next(reading->tsdl);
            VV_TRY(give_up(reading, &member));
        }
        *end = member;
        end = &member->next;
        if (structure->align_bytes < member->align_bytes)
            structure->align_bytes = member->align_bytes;
        if (structure->depth <= member->depth)
            structure->depth = member->depth + 1;
        structure->bad_word = member->bad_word;
        if (member->bad_word != NULL)
            break; /* the place of later members is unknown */
    }
    return VARVE_OK;
}

static enum varve_code read_struct(struct type_reading *reading, struct vv_field_type **out_type)
{
    if (reading->depth == DEPTH_MAX || !vv_tsdl_accept(reading->tsdl, '{'))
        return give_up(reading, out_type);
    VV_TRY(new_type(reading->arena, VV_FIELD_STRUCT, out_type, reading->error));
    reading->depth++;
    enum varve_code code = read_members(reading, *out_type);
    reading->depth--;
    VV_TRY(code);
    if ((*out_type)->bad_word != NULL)
        return VARVE_OK;
    if ((*out_type)->depth > DEPTH_MAX)
        return give_up(reading, out_type);
    struct vv_tsdl_reader ahead = *reading->tsdl;
    vv_tsdl_next(&ahead);
    if (!vv_tsdl_is(&ahead, "align"))
        return VARVE_OK;
    *reading->tsdl = ahead;
    if (!vv_tsdl_accept(reading->tsdl, '(') || vv_tsdl_next(reading->tsdl) != VV_TSDL_NUMBER ||
        !align_bits(*out_type, reading->tsdl->number) || !vv_tsdl_accept(reading->tsdl, ')'))
        return give_up(reading, out_type);
    return VARVE_OK;
}

static enum varve_code read_alias(struct type_reading *reading, struct vv_field_type **out_type)
{
    for (const struct vv_field_type *alias = reading->aliases; alias != NULL; alias = alias->next) {
        if (!vv_tsdl_is(reading->tsdl, alias->name))
            continue;
        VV_TRY(new_type(reading->arena, alias->kind, out_type, reading->error));
        **out_type = *alias;
        (*out_type)->next = NULL;
        return VARVE_OK;
    }
    return give_up(reading, out_type);
}

static enum varve_code read_type(struct type_reading *reading, struct vv_field_type **out_type)
{
    vv_tsdl_next(reading->tsdl);
    if (vv_tsdl_is(reading->tsdl, "integer") || vv_tsdl_is(reading->tsdl, "floating_point"))
        return read_number_type(reading, out_type);
    if (vv_tsdl_is(reading->tsdl, "struct"))
        return read_struct(reading, out_type);
    if (vv_tsdl_is(reading->tsdl, "string")) {
        uint64_t size, align;
        struct vv_tsdl_reader ahead = *reading->tsdl;
        if (vv_tsdl_accept(&ahead, '{') && read_attributes(reading->tsdl, &size, &align) == false)
            return give_up(reading, out_type);
        return new_type(reading->arena, VV_FIELD_STRING, out_type, reading->error);
    }
    return read_alias(reading, out_type);
}

enum varve_code vv_field_type_read(struct vv_tsdl_reader *reader,
                                   const struct vv_field_type *aliases, struct vv_arena *arena,
                                   struct vv_field_type **out_type, struct varve_error *error)
{
    struct type_reading reading = { reader, aliases, arena, error, 0 };
    return read_type(&reading, out_type);
}

enum varve_code vv_field_declarator_read(struct vv_tsdl_reader *reader, struct vv_arena *arena,
                                         struct vv_field_type **type, struct varve_error *error)
{
    struct type_reading reading = { reader, NULL, arena, error, 0 };
    const char *name;
    if (vv_tsdl_next(reader) != VV_TSDL_WORD)
        return give_up(&reading, type);
    VV_TRY(token_text(reader, arena, &name, error));
    while (vv_tsdl_accept(reader, '[')) {
        struct vv_field_type *list;
        VV_TRY(new_type(arena, VV_FIELD_LIST, &list, error));
        list->members = *type;
        list->align_bytes = (*type)->align_bytes;
        list->depth = (*type)->depth + 1;
        enum vv_tsdl_token token = vv_tsdl_next(reader);
        if (token == VV_TSDL_NUMBER)
            list->count = reader->number;
        else if (token == VV_TSDL_WORD)
            VV_TRY(token_text(reader, arena, &list->count_name, error));
        if ((token != VV_TSDL_NUMBER && token != VV_TSDL_WORD) || !vv_tsdl_accept(reader, ']') ||
            list->depth > DEPTH_MAX)
            return give_up(&reading, type);
        *type = list;
    }
    (*type)->name = name;
    return VARVE_OK;
}

/* ---- measuring ---- */

struct named_count {
    const char *name;
    uint64_t value;
};

struct measuring {
    struct vv_bytes bytes;
    size_t at;
    struct named_count counts[COUNTS_MAX]; /* innermost scope last                               */
    int count;
    size_t steps; /* limited by the bytes: types may multiply without taking a byte               */
};

static bool measure(struct measuring *measuring, const struct vv_field_type *type);

static void remember(struct measuring *measuring, const struct vv_field_type *type)
{
    uint64_t value = 0;
    if (type->size_bytes > sizeof value || type->name == NULL || measuring->count == COUNTS_MAX)
        return;
    memcpy(&value, measuring->bytes.data + measuring->at, type->size_bytes);
    measuring->counts[measuring->count++] = (struct named_count){ type->name, le64toh(value) };
}

static bool find_count(const struct measuring *measuring, const char *name, uint64_t *out_value)
{
    for (int i = measuring->count - 1; i >= 0; i--) {
        if (strcmp(measuring->counts[i].name, name) == 0) {
            *out_value = measuring->counts[i].value;
            return true;
        }
    }
    return false;
}

static bool measure_list(struct measuring *measuring, const struct vv_field_type *type)
{
    uint64_t left = type->count;
    if (type->count_name != NULL && !find_count(measuring, type->count_name, &left))
        return false;
    int scope = measuring->count;
    while (left > 0) {
        size_t before = measuring->at;
        if (!measure(measuring, type->members))
            return false;
        measuring->count = scope;
        /* If one element takes no byte, the others take none either. */
        left = measuring->at == before ? 0 : left - 1;
    }
    return true;
}

static bool measure_string(struct measuring *measuring)
{
    const unsigned char *text = measuring->bytes.data + measuring->at;
    const unsigned char *end = memchr(text, 0, measuring->bytes.length - measuring->at);
    if (end == NULL)
        return false;
    measuring->at += (size_t)(end - text) + 1;
    return true;
}

static bool measure(struct measuring *measuring, const struct vv_field_type *type)
{
    size_t align = type->align_bytes;
    measuring->at = (measuring->at + align - 1) / align * align;
    if (measuring->at > measuring->bytes.length ||
        measuring->steps++ > STEPS_MIN + STEPS_PER_BYTE * measuring->at)
        return false;
    int scope = measuring->count;
    switch (type->kind) {
    case VV_FIELD_NUMBER:
        if (!vv_bytes_has(measuring->bytes, measuring->at, type->size_bytes))
            return false;
        remember(measuring, type);
        measuring->at += type->size_bytes;
        return true;
    case VV_FIELD_STRING:
        return measure_string(measuring);
    case VV_FIELD_LIST:
        return measure_list(measuring, type);
    case VV_FIELD_STRUCT:
        for (const struct vv_field_type *member = type->members; member != NULL;
             member = member->next)
            if (!measure(measuring, member))
                return false;
        measuring->count = scope;
        return true;
    case VV_FIELD_UNSIZED:
        break;
    }
    return false;
}

bool vv_field_type_measure(const struct vv_field_type *type, struct vv_bytes bytes,
                           size_t *out_bytes)
{
    struct measuring measuring = { .bytes = bytes };
    if (!measure(&measuring, type))
        return false;
    *out_bytes = measuring.at;
    return true;
}
