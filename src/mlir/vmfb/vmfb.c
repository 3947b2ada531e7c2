/* SPDX-License-Identifier: Apache-2.0 */
/* vmfb.c — a flatbuffer's tables of functions and locations, written as MLIR. */
#include "mlir/vmfb/vmfb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/bytes.h"

#define ZIP "PK\3\4"
#define ZIP_HEADER_BYTES 30u
#define ZIP_METHOD_AT 8u
#define ZIP_NAME_AT 26u
#define IDENTIFIER "IREE"
#define PREFIX_BYTES 4u /* the flatbuffer's size stands before it                                 */
/* Strings and lists may be shared, so that a small file could say much. */
#define TEXT_PER_BYTE 64u
#define TEXT_BYTES_MIN (UINT64_C(1) << 20)

/* The numbers of fields in their tables, and of types in the union. */
enum { MODULE_DEBUG = 15 };
enum { DEBUG_TYPES, DEBUG_LOCATIONS, DEBUG_FUNCTIONS };
enum { FUNCTION_NAME, FUNCTION_LOCATIONS };
enum type { UNKNOWN, CALLSITE, FILE_LINE, FUSED, NAME };

struct text { size_t at; uint32_t location; };

struct reader {
    const char *path;
    struct vv_bytes bytes;  /* the flatbuffer                                                   */
    uint64_t base;          /* where it lies in the file                                        */
    size_t types, locations, functions; /* vectors; 0 = not there                               */
    uint32_t count;         /* of locations                                                     */
    struct text *texts;     /* of metadata, in order of their offsets                           */
    uint32_t text_count;
    FILE *out;
    uint64_t written, limit;
};

/* Offsets may lead anywhere; what is said lies in the file. */
static enum varve_code wrong(const struct reader *reader, size_t at, const char *what,
                             struct varve_error *error)
{
    at = at < reader->bytes.length ? at : reader->bytes.length;
    return vv_fail_at(error, VARVE_CORRUPT, reader->base + at, "'%s': %s", reader->path, what);
}

/* ---- flatbuffers ---- */

/* *out_at = at + the offset that stands there. */
static enum varve_code follow(const struct reader *reader, size_t at, size_t *out_at,
                              struct varve_error *error)
{
    uint32_t offset;
    if (!vv_bytes_u32(reader->bytes, at, &offset) || offset == 0 ||
        !vv_bytes_has(reader->bytes, at + offset, 4))
        return wrong(reader, at, "an offset that leads outside", error);
    *out_at = at + offset;
    return VARVE_OK;
}

/* Where a table has the field; 0 = it has not. */
static enum varve_code field(const struct reader *reader, size_t table, unsigned number,
                             size_t *out_at, struct varve_error *error)
{
    uint32_t back;
    uint16_t size = 0, offset = 0;
    *out_at = 0;
    if (!vv_bytes_u32(reader->bytes, table, &back))
        return wrong(reader, table, "a table that is cut", error);
    int64_t vtable = (int64_t)table - (int32_t)back;
    if (vtable < 0 || !vv_bytes_u16(reader->bytes, (size_t)vtable, &size))
        return wrong(reader, table, "a table without its list of fields", error);
    if (size < 4 + 2 * number + 2)
        return VARVE_OK;
    if (!vv_bytes_u16(reader->bytes, (size_t)vtable + 4 + 2 * number, &offset))
        return wrong(reader, (size_t)vtable, "a list of fields that is cut", error);
    *out_at = offset == 0 ? 0 : table + offset;
    return VARVE_OK;
}

/* The table, string or vector that a field leads to; 0 = the table has no such field. */
static enum varve_code child(const struct reader *reader, size_t table, unsigned number,
                             size_t *out_at, struct varve_error *error)
{
    VV_TRY(field(reader, table, number, out_at, error));
    return *out_at == 0 ? VARVE_OK : follow(reader, *out_at, out_at, error);
}

static enum varve_code number_of(const struct reader *reader, size_t table, unsigned number,
                                 uint32_t *out_value, struct varve_error *error)
{
    size_t at;
    *out_value = 0;
    VV_TRY(field(reader, table, number, &at, error));
    if (at != 0 && !vv_bytes_u32(reader->bytes, at, out_value))
        return wrong(reader, at, "a number that is cut", error);
    return VARVE_OK;
}

/* How many items a vector has: all of them are in the file. 0 for none. */
static enum varve_code count_of(const struct reader *reader, size_t vector, size_t item_bytes,
                                uint32_t *out_count, struct varve_error *error)
{
    uint32_t count = 0;
    if (vector != 0 && (!vv_bytes_u32(reader->bytes, vector, &count) ||
                        !vv_bytes_has(reader->bytes, vector + 4, count * (uint64_t)item_bytes)))
        return wrong(reader, vector, "a list that leads outside", error);
    *out_count = count;
    return VARVE_OK;
}

/* ---- writing ---- */

static void put(struct reader *reader, const char *text)
{
    reader->written += strlen(text);
    fputs(text, reader->out);
}

static void put_number(struct reader *reader, const char *before, uint32_t number)
{
    char text[16];
    put(reader, before);
    snprintf(text, sizeof text, "%u", number);
    put(reader, text);
}

/* Quoted, as MLIR writes strings. */
static enum varve_code put_string(struct reader *reader, size_t string, struct varve_error *error)
{
    uint32_t length;
    VV_TRY(count_of(reader, string, 1, &length, error));
    const unsigned char *text = reader->bytes.data + string + 4;
    put(reader, "\"");
    for (uint32_t i = 0; i < length && reader->written < reader->limit; i++) {
        bool is_plain = text[i] >= ' ' && text[i] != '"' && text[i] != '\\' && text[i] != 127;
        reader->written += is_plain ? 1 : 3;
        fprintf(reader->out, is_plain ? "%c" : "\\%02X", text[i]);
    }
    put(reader, "\"");
    return VARVE_OK;
}

static enum varve_code type_of(const struct reader *reader, uint32_t location, uint8_t *out_type,
                               struct varve_error *error)
{
    *out_type = UNKNOWN;
    if (location < reader->count &&
        !vv_bytes_u8(reader->bytes, reader->types + 4 + location, out_type))
        return wrong(reader, reader->types, "a list of types that is cut", error);
    return VARVE_OK;
}

/* A name for a location that there is. */
static void put_reference(struct reader *reader, uint32_t location)
{
    if (location < reader->count)
        put_number(reader, "#vm", location);
    else
        put(reader, "unknown");
}

static enum varve_code put_callsite(struct reader *reader, size_t table, struct varve_error *error)
{
    uint32_t callee, caller;
    VV_TRY(number_of(reader, table, 0, &callee, error));
    VV_TRY(number_of(reader, table, 1, &caller, error));
    put(reader, "callsite(");
    put_reference(reader, callee);
    put(reader, " at ");
    put_reference(reader, caller);
    put(reader, ")");
    return VARVE_OK;
}

static enum varve_code put_file(struct reader *reader, size_t table, struct varve_error *error)
{
    uint32_t line, column;
    size_t name;
    VV_TRY(child(reader, table, 0, &name, error));
    VV_TRY(number_of(reader, table, 1, &line, error));
    VV_TRY(number_of(reader, table, 2, &column, error));
    VV_TRY(put_string(reader, name, error));
    put_number(reader, ":", line);
    put_number(reader, ":", column);
    return VARVE_OK;
}

/* Is it the first location with this text? */
static bool is_own(const struct reader *reader, size_t at, uint32_t location)
{
    uint32_t first = VV_FIRST_NOT(i, 0, reader->text_count, reader->texts[i].at < at);
    return first < reader->text_count && reader->texts[first].location == location;
}

/* The metadata is the text of an attribute. */
static enum varve_code put_fused(struct reader *reader, uint32_t location_of, size_t table,
                                 struct varve_error *error)
{
    size_t metadata, list;
    uint32_t count, length, location;
    VV_TRY(child(reader, table, 0, &metadata, error));
    VV_TRY(child(reader, table, 1, &list, error));
    VV_TRY(count_of(reader, list, 4, &count, error));
    VV_TRY(count_of(reader, metadata, 1, &length, error));
    put(reader, "fused");
    if (length > 0 && is_own(reader, metadata, location_of)) {
        put(reader, "<");
        fwrite(reader->bytes.data + metadata + 4, 1, length, reader->out);
        reader->written += length;
        put(reader, ">");
    }
    put(reader, "[");
    for (uint32_t i = 0; i < count && reader->written < reader->limit; i++) {
        if (!vv_bytes_u32(reader->bytes, list + 4 + 4 * (size_t)i, &location))
            return wrong(reader, list, "a list that is cut", error);
        put(reader, i > 0 ? ", " : "");
        put_reference(reader, location);
    }
    put(reader, count == 0 ? "unknown]" : "]");
    return VARVE_OK;
}

static enum varve_code put_name(struct reader *reader, size_t table, struct varve_error *error)
{
    size_t name;
    uint32_t inner;
    uint8_t type;
    VV_TRY(child(reader, table, 0, &name, error));
    VV_TRY(number_of(reader, table, 1, &inner, error));
    VV_TRY(type_of(reader, inner, &type, error));
    VV_TRY(put_string(reader, name, error));
    if (type == UNKNOWN)
        return VARVE_OK;
    put(reader, "(");
    put_reference(reader, inner);
    put(reader, ")");
    return VARVE_OK;
}

static enum varve_code put_location(struct reader *reader, uint32_t location,
                                    struct varve_error *error)
{
    static enum varve_code (*const writers[])(struct reader *, size_t, struct varve_error *) = {
        [CALLSITE] = put_callsite, [FILE_LINE] = put_file, [FUSED] = NULL, [NAME] = put_name,
    };
    uint8_t type;
    size_t table;
    VV_TRY(type_of(reader, location, &type, error));
    put_number(reader, "#vm", location);
    put(reader, " = loc(");
    if (type == UNKNOWN || type >= sizeof writers / sizeof *writers) {
        put(reader, "unknown");
    } else {
        VV_TRY(follow(reader, reader->locations + 4 + 4 * (size_t)location, &table, error));
        VV_TRY(type == FUSED ? put_fused(reader, location, table, error)
                             : writers[type](reader, table, error));
    }
    put(reader, ")\n");
    return VARVE_OK;
}

/* Each location once, where the function's code first has it. */
static enum varve_code put_function(struct reader *reader, uint32_t number, uint32_t *seen,
                                    struct varve_error *error)
{
    size_t table, name, list;
    uint32_t count, location = 0;
    VV_TRY(follow(reader, reader->functions + 4 + 4 * (size_t)number, &table, error));
    VV_TRY(child(reader, table, FUNCTION_NAME, &name, error));
    VV_TRY(child(reader, table, FUNCTION_LOCATIONS, &list, error));
    VV_TRY(count_of(reader, list, 8, &count, error));
    put(reader, "vm.func @");
    VV_TRY(put_string(reader, name, error));
    put(reader, " {\n");
    for (uint32_t i = 0; i < count && reader->written < reader->limit; i++) {
        if (!vv_bytes_u32(reader->bytes, list + 8 + 8 * (size_t)i, &location))
            return wrong(reader, list, "a list of locations that is cut", error);
        if (location >= reader->count || seen[location] == number + 1)
            continue;
        seen[location] = number + 1;
        put_number(reader, "  vm.instruction loc(#vm", location);
        put(reader, ")\n");
    }
    put(reader, "} loc(unknown)\n");
    return VARVE_OK;
}

static int compare_texts(const void *left, const void *right)
{
    const struct text *a = left, *b = right;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at)
                          : (a->location > b->location) - (a->location < b->location);
}

static enum varve_code collect_texts(struct reader *reader, struct varve_error *error)
{
    for (uint32_t location = 0; location < reader->count; location++) {
        uint8_t type;
        size_t table, metadata;
        VV_TRY(type_of(reader, location, &type, error));
        if (type != FUSED)
            continue;
        VV_TRY(follow(reader, reader->locations + 4 + 4 * (size_t)location, &table, error));
        VV_TRY(child(reader, table, 0, &metadata, error));
        if (metadata != 0)
            reader->texts[reader->text_count++] = (struct text){ metadata, location };
    }
    if (reader->text_count > 0)
        qsort(reader->texts, reader->text_count, sizeof *reader->texts, compare_texts);
    return VARVE_OK;
}

static enum varve_code put_all(struct reader *reader, struct varve_error *error)
{
    uint32_t functions;
    VV_TRY(count_of(reader, reader->functions, 4, &functions, error));
    uint32_t *seen = calloc((size_t)reader->count + 1, sizeof *seen);
    reader->texts = calloc((size_t)reader->count + 1, sizeof *reader->texts);
    enum varve_code code =
        seen == NULL || reader->texts == NULL
            ? vv_fail(error, VARVE_NO_MEMORY, "no memory for %u locations", reader->count)
            : collect_texts(reader, error);
    for (uint32_t i = 0; i < functions && code == VARVE_OK; i++)
        code = reader->written < reader->limit ? put_function(reader, i, seen, error) : VARVE_OK;
    for (uint32_t i = 0; i < reader->count && code == VARVE_OK; i++)
        code = reader->written < reader->limit ? put_location(reader, i, error) : VARVE_OK;
    free(seen);
    free(reader->texts);
    VV_TRY(code);
    if (reader->written >= reader->limit)
        VV_FAIL(error, VARVE_LIMIT, "'%s' says more of locations than any program does",
                reader->path);
    return VARVE_OK;
}

/* ---- the file ---- */

/* Where the flatbuffer's size stands: behind the header of a zip archive's first file. */
static uint64_t start_of(struct vv_bytes file)
{
    uint16_t name = 0, extra = 0, method = 0;
    if (!vv_bytes_has(file, 0, ZIP_HEADER_BYTES) || memcmp(file.data, ZIP, 4) != 0)
        return 0;
    bool is_stored = vv_bytes_u16(file, ZIP_METHOD_AT, &method) && method == 0 &&
                     vv_bytes_u16(file, ZIP_NAME_AT, &name) &&
                     vv_bytes_u16(file, ZIP_NAME_AT + 2, &extra);
    return is_stored ? (uint64_t)ZIP_HEADER_BYTES + name + extra : 0;
}

bool vv_mlir_is_vmfb(const void *head, uint64_t bytes)
{
    const struct vv_bytes file = { head, (size_t)bytes };
    size_t at = (size_t)start_of(file) + PREFIX_BYTES + 4;
    return vv_bytes_has(file, at, 4) && memcmp(file.data + at, IDENTIFIER, 4) == 0;
}

static enum varve_code open_tables(struct reader *reader, struct varve_error *error)
{
    size_t root, debug;
    uint32_t types;
    VV_TRY(follow(reader, 0, &root, error));
    VV_TRY(child(reader, root, MODULE_DEBUG, &debug, error));
    if (debug != 0) {
        VV_TRY(child(reader, debug, DEBUG_TYPES, &reader->types, error));
        VV_TRY(child(reader, debug, DEBUG_LOCATIONS, &reader->locations, error));
        VV_TRY(child(reader, debug, DEBUG_FUNCTIONS, &reader->functions, error));
        VV_TRY(count_of(reader, reader->types, 1, &types, error));
        VV_TRY(count_of(reader, reader->locations, 4, &reader->count, error));
        reader->count = types < reader->count ? types : reader->count;
    }
    if (reader->count == 0)
        VV_FAIL_SAID(error, VARVE_NOT_FOUND,
                     "'%s' carries no locations: compile it without --iree-vm-bytecode-module-"
                     "strip-source-map", reader->path);
    return VARVE_OK;
}

enum varve_code vv_mlir_vmfb_text(const char *path, const void *data, uint64_t bytes,
                                  char **out_text, uint64_t *out_bytes, struct varve_error *error)
{
    const struct vv_bytes file = { data, (size_t)bytes };
    uint64_t start = start_of(file);
    struct reader reader = { .path = path, .limit = bytes * TEXT_PER_BYTE + TEXT_BYTES_MIN };
    uint32_t size = 0;
    char *text = NULL;
    size_t length = 0;
    if (!vv_bytes_u32(file, (size_t)start, &size) || size < 8 ||
        !vv_bytes_has(file, (size_t)start + PREFIX_BYTES, size))
        return vv_fail_at(error, VARVE_TRUNCATED, start < bytes ? start : bytes,
                          "'%s': the flatbuffer is cut", path);
    reader.base = start + PREFIX_BYTES;
    reader.bytes = (struct vv_bytes){ file.data + reader.base, size };
    VV_TRY(open_tables(&reader, error));
    reader.out = open_memstream(&text, &length);
    if (reader.out == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the locations of '%s'", path);
    enum varve_code code = put_all(&reader, error);
    bool is_written = !ferror(reader.out);
    if ((fclose(reader.out) != 0 || !is_written) && code == VARVE_OK)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the locations of '%s'", path);
    if (code != VARVE_OK) {
        free(text);
        return code;
    }
    *out_text = text;
    *out_bytes = length;
    return VARVE_OK;
}
