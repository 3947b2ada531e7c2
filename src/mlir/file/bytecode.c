/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/file/bytecode.h"

#include <stdlib.h>
#include <string.h>

#define VERSION_MAX 6
/* What is written since which version. */
#define DIALECT_VERSIONS_SINCE 1
#define OP_COUNT_SINCE 4
#define NATIVE_SINCE 5

enum section { STRINGS, DIALECTS, ATTRIBUTES, ATTRIBUTE_OFFSETS, IR, RESOURCES, RESOURCE_OFFSETS,
               DIALECT_VERSIONS, PROPERTIES, SECTION_COUNT };

struct reader {
    const uint8_t *bytes; /* of the file                                                         */
    uint64_t at, end;
    struct varve_error *error;
};

struct file {
    struct reader sections[SECTION_COUNT]; /* end 0: absent                                      */
    struct vv_mlir_word *strings;
    uint64_t string_count;
    uint64_t version;
};

static enum varve_code cut(const struct reader *reader)
{
    return vv_fail_at(reader->error, VARVE_TRUNCATED, reader->end, "the bytecode ends too early");
}

static enum varve_code wrong(const struct reader *reader, const char *what)
{
    return vv_fail_at(reader->error, VARVE_CORRUPT, reader->at, "the bytecode has %s", what);
}

/* The zeros at the bottom of the first byte say how many bytes follow it; 8 if all are zero. */
static enum varve_code take_number(struct reader *reader, uint64_t *out_number)
{
    if (reader->at >= reader->end)
        return cut(reader);
    unsigned first = reader->bytes[reader->at];
    unsigned more = first == 0 ? 8 : (unsigned)__builtin_ctz(first);
    if (reader->end - reader->at - 1 < more)
        return cut(reader);
    uint64_t number = 0;
    if (more == 8) {
        for (unsigned i = 8; i > 0; i--)
            number = number << 8 | reader->bytes[reader->at + i];
    } else {
        for (unsigned i = more + 1; i > 0; i--)
            number = number << 8 | reader->bytes[reader->at + i - 1];
        number >>= more + 1;
    }
    reader->at += more + 1;
    *out_number = number;
    return VARVE_OK;
}

/* Of things that take at least a byte each. */
static enum varve_code take_count(struct reader *reader, uint64_t *out_count)
{
    uint64_t count;
    VV_TRY(take_number(reader, &count));
    if (count > reader->end - reader->at)
        return wrong(reader, "a count that is larger than what follows");
    *out_count = count;
    return VARVE_OK;
}

static enum varve_code take_section(struct reader *reader, unsigned *out_id,
                                    struct reader *out_section)
{
    uint64_t length, alignment;
    if (reader->at >= reader->end)
        return cut(reader);
    unsigned id = reader->bytes[reader->at++];
    VV_TRY(take_number(reader, &length));
    if ((id & 0x80) != 0) {
        VV_TRY(take_number(reader, &alignment));
        if (alignment == 0 || (alignment & (alignment - 1)) != 0)
            return wrong(reader, "an alignment that is no power of 2");
        uint64_t padding = (alignment - reader->at % alignment) % alignment;
        if (padding > reader->end - reader->at)
            return cut(reader);
        reader->at += padding;
    }
    if (length > reader->end - reader->at)
        return cut(reader);
    *out_section = *reader;
    out_section->end = reader->at + length;
    reader->at += length;
    *out_id = id & 0x7f;
    return VARVE_OK;
}

static enum varve_code find_sections(struct reader *reader, struct file *file)
{
    while (reader->at < reader->end) {
        struct reader section;
        unsigned id;
        VV_TRY(take_section(reader, &id, &section));
        if (id >= SECTION_COUNT)
            return wrong(reader, "a section of unknown kind");
        if (file->sections[id].end != 0)
            return wrong(reader, "a section twice");
        file->sections[id] = section;
    }
    if (file->sections[STRINGS].end == 0 || file->sections[DIALECTS].end == 0)
        return wrong(reader, "no strings or no dialects");
    return VARVE_OK;
}

/* The lengths stand in front, the last string's first, and count a NUL. */
static enum varve_code read_strings(struct file *file)
{
    struct reader *reader = &file->sections[STRINGS];
    VV_TRY(take_count(reader, &file->string_count));
    file->strings = calloc(file->string_count + 1, sizeof *file->strings);
    if (file->strings == NULL)
        VV_FAIL(reader->error, VARVE_NO_MEMORY, "no memory for the strings of the bytecode");
    uint64_t end = reader->end;
    for (uint64_t i = file->string_count; i > 0; i--) {
        uint64_t length;
        VV_TRY(take_number(reader, &length));
        if (length == 0 || end < reader->at || length > end - reader->at)
            return wrong(reader, "a string that does not fit");
        end -= length;
        file->strings[i - 1] = (struct vv_mlir_word){ (const char *)reader->bytes + end,
                                                      length - 1 };
    }
    if (end < reader->at)
        return wrong(reader, "strings that do not fit");
    return VARVE_OK;
}

static enum varve_code take_string(const struct file *file, struct reader *reader, bool has_flag,
                                   struct vv_mlir_word *out_word, bool *out_flag)
{
    uint64_t number;
    VV_TRY(take_number(reader, &number));
    if (has_flag) {
        *out_flag = (number & 1) != 0;
        number >>= 1;
    }
    if (number >= file->string_count)
        return wrong(reader, "the number of a string that is not there");
    *out_word = file->strings[number];
    return VARVE_OK;
}

static enum varve_code read_dialect_names(const struct file *file, struct reader *reader,
                                          struct vv_mlir_bytecode *bytecode)
{
    uint64_t count;
    VV_TRY(take_count(reader, &count));
    if (count > UINT32_MAX)
        return wrong(reader, "too many dialects");
    bytecode->dialects = calloc(count + 1, sizeof *bytecode->dialects);
    if (bytecode->dialects == NULL)
        VV_FAIL(reader->error, VARVE_NO_MEMORY, "no memory for the dialects of the bytecode");
    bytecode->dialect_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++) {
        bool has_version = false;
        VV_TRY(take_string(file, reader, file->version >= DIALECT_VERSIONS_SINCE,
                           &bytecode->dialects[i].name, &has_version));
        struct reader version;
        unsigned id;
        if (has_version)
            VV_TRY(take_section(reader, &id, &version));
    }
    return VARVE_OK;
}

static enum varve_code read_op_names(const struct file *file, struct reader *reader,
                                     struct vv_mlir_bytecode *bytecode)
{
    uint64_t all, number, count;
    if (file->version >= OP_COUNT_SINCE)
        VV_TRY(take_count(reader, &all));
    /* each takes a byte */
    bytecode->ops = calloc(reader->end - reader->at + 1, sizeof *bytecode->ops);
    if (bytecode->ops == NULL)
        VV_FAIL(reader->error, VARVE_NO_MEMORY, "no memory for the operations of the bytecode");
    while (reader->at < reader->end) {
        VV_TRY(take_number(reader, &number));
        VV_TRY(take_count(reader, &count));
        if (number >= bytecode->dialect_count)
            return wrong(reader, "the number of a dialect that is not there");
        struct vv_mlir_dialect *dialect = &bytecode->dialects[number];
        for (uint64_t i = 0; i < count; i++) {
            struct vv_mlir_op_name *op = &bytecode->ops[bytecode->op_count++];
            op->dialect = (uint32_t)number;
            VV_TRY(take_string(file, reader, file->version >= NATIVE_SINCE, &op->name,
                               &op->is_native));
            dialect->op_count++;
            dialect->is_native |= op->is_native;
        }
    }
    return VARVE_OK;
}

static enum varve_code read_keys(const struct file *file, struct reader *reader,
                                 struct vv_mlir_word owner, struct vv_mlir_bytecode *bytecode)
{
    uint64_t count, size;
    VV_TRY(take_count(reader, &count));
    for (uint64_t i = 0; i < count; i++) {
        struct vv_mlir_word key;
        VV_TRY(take_string(file, reader, false, &key, NULL));
        VV_TRY(take_number(reader, &size));
        if (reader->at >= reader->end)
            return cut(reader);
        reader->at++; /* its kind */
        VV_TRY(vv_mlir_resources_add(&bytecode->resources, (struct vv_mlir_resource){ owner, key },
                                     reader->error));
    }
    return VARVE_OK;
}

static enum varve_code read_resources(const struct file *file, struct vv_mlir_bytecode *bytecode)
{
    struct reader reader = file->sections[RESOURCE_OFFSETS];
    uint64_t tools, number;
    if (reader.end == 0)
        return VARVE_OK;
    VV_TRY(take_count(&reader, &tools));
    for (uint64_t i = 0; i < tools; i++) {
        struct vv_mlir_word owner;
        VV_TRY(take_string(file, &reader, false, &owner, NULL));
        VV_TRY(read_keys(file, &reader, owner, bytecode));
    }
    while (reader.at < reader.end) {
        VV_TRY(take_number(&reader, &number));
        if (number >= bytecode->dialect_count)
            return wrong(&reader, "the number of a dialect that is not there");
        VV_TRY(read_keys(file, &reader, bytecode->dialects[number].name, bytecode));
    }
    return VARVE_OK;
}

static enum varve_code read_file(struct reader *reader, struct file *file,
                                 struct vv_mlir_bytecode *bytecode)
{
    reader->at = 4;
    VV_TRY(take_number(reader, &file->version));
    bytecode->version = file->version;
    if (file->version > VERSION_MAX)
        VV_FAIL_SAID(reader->error, VARVE_UNSUPPORTED,
                     "MLIR bytecode of version %llu is not known here (0 to %d are); print it as "
                     "text with the tool that wrote it",
                     (unsigned long long)file->version, VERSION_MAX);
    const uint8_t *nul = reader->at < reader->end
                             ? memchr(reader->bytes + reader->at, 0, reader->end - reader->at)
                             : NULL;
    if (nul == NULL)
        return cut(reader);
    bytecode->producer.text = (const char *)reader->bytes + reader->at;
    bytecode->producer.bytes = (uint64_t)(nul - reader->bytes) - reader->at;
    reader->at += bytecode->producer.bytes + 1;
    VV_TRY(find_sections(reader, file));
    VV_TRY(read_strings(file));
    struct reader dialects = file->sections[DIALECTS];
    VV_TRY(read_dialect_names(file, &dialects, bytecode));
    VV_TRY(read_op_names(file, &dialects, bytecode));
    return read_resources(file, bytecode);
}

enum varve_code vv_mlir_bytecode_read(const char *bytes, uint64_t count,
                                      struct vv_mlir_bytecode *out_bytecode,
                                      struct varve_error *error)
{
    struct reader reader = { .bytes = (const uint8_t *)bytes, .end = count, .error = error };
    struct file file = { 0 };
    struct vv_mlir_bytecode bytecode = { 0 };
    if (count < 4 || memcmp(bytes, "ML\xefR", 4) != 0)
        return vv_fail_at(error, VARVE_CORRUPT, 0, "this is no MLIR bytecode");
    enum varve_code code = read_file(&reader, &file, &bytecode);
    free(file.strings);
    if (code != VARVE_OK) {
        vv_mlir_bytecode_deinit(&bytecode);
        return code;
    }
    *out_bytecode = bytecode;
    return VARVE_OK;
}

void vv_mlir_bytecode_deinit(struct vv_mlir_bytecode *bytecode)
{
    free(bytecode->dialects);
    free(bytecode->ops);
    vv_mlir_resources_deinit(&bytecode->resources);
    *bytecode = (struct vv_mlir_bytecode){ 0 };
}

bool vv_mlir_bytecode_is_vhlo(const struct vv_mlir_bytecode *bytecode)
{
    for (uint32_t i = 0; i < bytecode->dialect_count; i++) {
        const struct vv_mlir_word *name = &bytecode->dialects[i].name;
        if (bytecode->dialects[i].op_count > 0 && name->bytes == 4 &&
            memcmp(name->text, "vhlo", 4) == 0)
            return true;
    }
    return false;
}
