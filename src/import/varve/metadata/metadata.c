/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/counted.h"
#include "base/utf8.h"
#include "ctf/layout.h"
#include "ctf/metadata_write.h"

#define SIGNATURE "/* CTF 1.8 */"
/* metadata in packets: CTF allows it, but varve never writes it */
#define PACKETED_MAGIC 0x75D11D57u

struct reading {
    struct vv_metadata *metadata;
    struct varve_error *error;
};

/* Reads one "key = value;" of a block. The reader is at the value's first token. */
typedef enum varve_code pair_reader(struct reading *reading, const struct vv_tsdl_reader *key,
                                    struct vv_tsdl_reader *value, void *context);

static enum varve_code corrupt(struct reading *reading, size_t offset, const char *what)
{
    return vv_fail_at(reading->error, VARVE_CORRUPT, offset, "%s", what);
}

static enum varve_code read_text(struct reading *reading, const struct vv_tsdl_reader *value,
                                 const char **out_text)
{
    if (value->token != VV_TSDL_STRING)
        return VARVE_OK; /* a value of another type, from a later version, is ignored */
    const char *text = vv_tsdl_text(value, &reading->metadata->arena);
    if (text == NULL)
        return vv_fail(reading->error, VARVE_NO_MEMORY, "no memory for event classes");
    *out_text = text;
    return VARVE_OK;
}

static enum varve_code read_signed(struct reading *reading, const struct vv_tsdl_reader *value,
                                   int64_t *out_number)
{
    if (value->token != VV_TSDL_NUMBER || value->number > INT64_MAX)
        return corrupt(reading, value->begin, "a number must stand here");
    *out_number = value->negative ? -(int64_t)value->number : (int64_t)value->number;
    return VARVE_OK;
}

/* Reads "{ key = value; … }", in which "key := type;" may also occur. */
static enum varve_code read_block(struct reading *reading, struct vv_tsdl_reader *block,
                                  pair_reader *read_pair, void *context)
{
    if (!vv_tsdl_accept(block, '{'))
        return corrupt(reading, block->position, "'{' must stand here");
    while (!vv_tsdl_accept(block, '}')) {
        struct vv_tsdl_reader pair;
        bool torn;
        if (!vv_tsdl_statement(block, &pair, &torn))
            return corrupt(reading, block->position, "a block without end");
        vv_tsdl_next(&pair);
        struct vv_tsdl_reader key = pair;
        vv_tsdl_accept(&pair, ':');
        if (key.token != VV_TSDL_WORD || !vv_tsdl_accept(&pair, '='))
            return corrupt(reading, key.begin, "'key = value;' must stand here");
        struct vv_tsdl_reader value = pair;
        vv_tsdl_next(&value);
        VV_TRY(read_pair(reading, &key, vv_tsdl_is(&key, "fields") ? &pair : &value, context));
    }
    return VARVE_OK;
}

static enum varve_code read_clock_pair(struct reading *reading, const struct vv_tsdl_reader *key,
                                       struct vv_tsdl_reader *value, void *context)
{
    (void)context;
    struct vv_metadata *metadata = reading->metadata;
    if (vv_tsdl_is(key, "offset_s"))
        return read_signed(reading, value, &metadata->offset_s);
    if (vv_tsdl_is(key, "offset"))
        return read_signed(reading, value, &metadata->offset_ticks);
    if (!vv_tsdl_is(key, "freq"))
        return VARVE_OK;
    int64_t frequency = 0;
    VV_TRY(read_signed(reading, value, &frequency));
    if (frequency <= 0)
        return corrupt(reading, value->begin, "a clock's frequency must be above 0");
    metadata->frequency_hz = (uint64_t)frequency;
    metadata->has_clock = true;
    return VARVE_OK;
}

static enum varve_code read_env_pair(struct reading *reading, const struct vv_tsdl_reader *key,
                                     struct vv_tsdl_reader *value, void *context)
{
    (void)context;
    struct vv_metadata *metadata = reading->metadata;
    if (vv_tsdl_is(key, "hostname"))
        return read_text(reading, value, &metadata->host);
    if (vv_tsdl_is(key, "program"))
        return read_text(reading, value, &metadata->program);
    if (vv_tsdl_is(key, "pid"))
        return read_signed(reading, value, &metadata->pid);
    if (vv_tsdl_is(key, "record_cost_ps"))
        return read_signed(reading, value, &metadata->record_cost_ps);
    if (vv_tsdl_is(key, "begin_realtime_ns"))
        return read_signed(reading, value, &metadata->begin_realtime_ns);
    if (vv_tsdl_is(key, "reserve_bytes"))
        return read_signed(reading, value, &metadata->reserve_bytes);
    if (vv_tsdl_is(key, "keep_bytes"))
        return read_signed(reading, value, &metadata->keep_bytes);
    if (vv_tsdl_is(key, "keep_ns"))
        return read_signed(reading, value, &metadata->keep_ns);
    if (vv_tsdl_is(key, "rank"))
        return read_signed(reading, value, &metadata->rank);
    if (vv_tsdl_is(key, "world_size"))
        return read_signed(reading, value, &metadata->world_size);
    if (vv_tsdl_is(key, "storage"))
        return read_text(reading, value, &metadata->storage);
    if (!vv_tsdl_is(key, "varve_format"))
        return VARVE_OK;
    int64_t format = 0;
    VV_TRY(read_signed(reading, value, &format));
    if (format > VV_CTF_FORMAT_VERSION)
        VV_FAIL(reading->error, VARVE_UNSUPPORTED,
                "it is of format version %lld, and this varve reads version %d: read it with a "
                "newer varve",
                (long long)format, VV_CTF_FORMAT_VERSION);
    metadata->has_format = true;
    return VARVE_OK;
}

/* ---- event classes ---- */

static unsigned hex_value(char c)
{
    return c >= '0' && c <= '9'                       ? (unsigned)(c - '0')
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a' + 10)
                                                      : 16;
}

static enum varve_code decode_percent(struct reading *reading, const char *text, size_t length,
                                      const char **out_text)
{
    /* Three times the length: each invalid byte may become U+FFFD. */
    struct vv_arena *arena = &reading->metadata->arena;
    char *plain = vv_arena_alloc(arena, length + 1), *repaired = NULL;
    if (plain == NULL)
        return vv_fail(reading->error, VARVE_NO_MEMORY, "no memory for event classes");
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        bool escape = text[i] == '%' && length - i > 2 && hex_value(text[i + 1]) < 16 &&
                      hex_value(text[i + 2]) < 16;
        plain[written++] = escape ? (char)(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]))
                                  : text[i];
        i += escape ? 2 : 0;
    }
    *out_text = plain;
    if (vv_utf8_is_text(plain, written))
        return VARVE_OK;
    repaired = vv_arena_alloc(arena, written * 3 + 1);
    if (repaired == NULL)
        return vv_fail(reading->error, VARVE_NO_MEMORY, "no memory for event classes");
    vv_utf8_repair(plain, written, repaired);
    *out_text = repaired;
    return VARVE_OK;
}

static bool begins(const char *text, size_t length, const char *prefix, size_t *out_length)
{
    *out_length = strlen(prefix);
    return vv_text_begins(text, length, prefix);
}

static enum varve_code read_parameter(struct reading *reading, const char *text, size_t length,
                                      struct vv_metadata_class *class)
{
    size_t prefix;
    if (begins(text, length, "file=", &prefix))
        return decode_percent(reading, text + prefix, length - prefix, &class->file);
    if (begins(text, length, "line=", &prefix)) {
        class->line = (uint32_t)strtoul(text + prefix, NULL, 10);
    } else if (begins(text, length, "layer=", &prefix)) {
        char name[16] = "";
        if (length - prefix < sizeof name)
            memcpy(name, text + prefix, length - prefix);
        for (uint32_t bit = 1; bit <= UINT16_MAX; bit <<= 1)
            if (name[0] != '\0' && strcmp(vv_layer_name(bit), name) == 0)
                class->layer = (uint16_t)bit;
    }
    return VARVE_OK;
}

/* "varve:KIND?layer=LAYER&line=LINE&file=FILE" */
static enum varve_code read_uri(struct reading *reading, const char *uri,
                                struct vv_metadata_class *class)
{
    static const char *const kinds[VV_SITE_KINDS] = {
        [VV_KIND_BEGIN] = "begin",           [VV_KIND_NEXT] = "next",
        [VV_KIND_MARK] = "mark",             [VV_KIND_COUNTER] = "counter",
        [VV_KIND_ASYNC_BEGIN] = "async_begin", [VV_KIND_ASYNC_END] = "async_end",
        [VV_KIND_FLOW_OUT] = "flow_out",     [VV_KIND_FLOW_IN] = "flow_in",
    };
    if (strncmp(uri, "varve:", 6) != 0)
        return VARVE_OK;
    uri += 6;
    size_t length = strcspn(uri, "?");
    for (unsigned kind = 0; kind < VV_SITE_KINDS; kind++)
        if (vv_text_is(uri, length, kinds[kind]))
            class->kind = (uint8_t)kind;
    for (uri += length; *uri != '\0'; uri += length) {
        uri++;
        length = strcspn(uri, "&");
        VV_TRY(read_parameter(reading, uri, length, class));
    }
    return VARVE_OK;
}

static enum varve_code read_event_pair(struct reading *reading, const struct vv_tsdl_reader *key,
                                       struct vv_tsdl_reader *value, void *context)
{
    struct vv_metadata_class *class = context;
    if (vv_tsdl_is(key, "id")) {
        if (value->token != VV_TSDL_NUMBER || value->negative || value->number == 0 ||
            value->number > VV_ID_MASK)
            return corrupt(reading, value->begin, "an event's id must lie between 1 and 1048575");
        class->id = (uint32_t)value->number;
        return VARVE_OK;
    }
    if (vv_tsdl_is(key, "name"))
        return read_text(reading, value, &class->name);
    if (vv_tsdl_is(key, "model.emf.uri")) {
        const char *uri = "";
        VV_TRY(read_text(reading, value, &uri));
        return read_uri(reading, uri, class);
    }
    if (!vv_tsdl_is(key, "fields"))
        return VARVE_OK;
    struct vv_field_type *type;
    VV_TRY(vv_field_type_read(value, reading->metadata->aliases, &reading->metadata->arena, &type,
                              reading->error));
    class->fields = type;
    return VARVE_OK;
}

static enum varve_code read_event(struct reading *reading, struct vv_tsdl_reader *statement)
{
    struct vv_metadata *metadata = reading->metadata;
    struct vv_metadata_class class = { .kind = VV_CLASS_KIND_OTHER, .name = "" };
    size_t begin = statement->begin;
    VV_TRY(read_block(reading, statement, read_event_pair, &class));
    if (class.id == 0)
        return corrupt(reading, begin, "an event class without an id");
    VV_TRY(vv_array_reserve(&metadata->classes, &metadata->class_capacity,
                            metadata->class_count + 1, sizeof class, reading->error));
    metadata->classes[metadata->class_count++] = class;
    return VARVE_OK;
}

/* Reads "typealias TYPE := NAME". Only named types of a form that fields use are kept. */
static enum varve_code read_alias(struct reading *reading, struct vv_tsdl_reader *statement)
{
    struct vv_metadata *metadata = reading->metadata;
    struct vv_field_type *type;
    VV_TRY(vv_field_type_read(statement, metadata->aliases, &metadata->arena, &type,
                              reading->error));
    if (type->bad_word != NULL || !vv_tsdl_accept(statement, ':') ||
        !vv_tsdl_accept(statement, '='))
        return VARVE_OK;
    VV_TRY(vv_field_declarator_read(statement, &metadata->arena, &type, reading->error));
    if (type->bad_word == NULL) {
        type->next = metadata->aliases;
        metadata->aliases = type;
    }
    return VARVE_OK;
}

static enum varve_code read_statement(struct reading *reading, struct vv_tsdl_reader *statement)
{
    vv_tsdl_next(statement);
    if (vv_tsdl_is(statement, "event"))
        return read_event(reading, statement);
    if (vv_tsdl_is(statement, "typealias"))
        return read_alias(reading, statement);
    if (vv_tsdl_is(statement, "clock"))
        return read_block(reading, statement, read_clock_pair, NULL);
    if (vv_tsdl_is(statement, "env"))
        return read_block(reading, statement, read_env_pair, NULL);
    return VARVE_OK;
}

static enum varve_code check_signature(const char *text, size_t length, struct varve_error *error)
{
    size_t known = length < strlen(SIGNATURE) ? length : strlen(SIGNATURE);
    uint32_t magic = 0;
    if (length >= sizeof magic)
        memcpy(&magic, text, sizeof magic);
    if (magic == PACKETED_MAGIC)
        VV_FAIL(error, VARVE_UNSUPPORTED, "it is a CTF trace, but not one that varve wrote");
    if (memcmp(text, SIGNATURE, known) != 0)
        return vv_fail_at(error, VARVE_CORRUPT, 0, "the first line must be '" SIGNATURE "'");
    if (known < strlen(SIGNATURE))
        return vv_fail_at(error, VARVE_TRUNCATED, length, "the file ends too early");
    return VARVE_OK;
}

/* Class ids are unique. */
static int compare_ids(const void *a, const void *b)
{
    const struct vv_metadata_class *left = a, *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static enum varve_code check_whole(struct vv_metadata *metadata, size_t length,
                                   struct varve_error *error)
{
    if (!metadata->has_format && (metadata->has_clock || metadata->class_count > 0))
        VV_FAIL(error, VARVE_UNSUPPORTED, "it is a CTF trace, but not one that varve wrote");
    if (!metadata->has_format || !metadata->has_clock)
        return vv_fail_at(error, VARVE_TRUNCATED, length, "the file ends before its clock block");
    if (metadata->class_count > 1)
        qsort(metadata->classes, metadata->class_count, sizeof *metadata->classes, compare_ids);
    for (size_t i = 1; i < metadata->class_count; i++)
        if (metadata->classes[i].id == metadata->classes[i - 1].id)
            VV_FAIL(error, VARVE_CORRUPT, "event class %u stands there twice ('%s' and '%s')",
                    metadata->classes[i].id, metadata->classes[i - 1].name,
                    metadata->classes[i].name);
    return VARVE_OK;
}

enum varve_code vv_metadata_read(const char *text, size_t length, struct vv_metadata *out_metadata,
                                 struct varve_error *error)
{
    VV_TRY(check_signature(text, length, error));
    struct vv_metadata *metadata = out_metadata;
    *metadata = (struct vv_metadata){ .host = "", .program = "", .storage = "", .rank = -1 };
    vv_arena_init(&metadata->arena);
    struct reading reading = { metadata, error };
    struct vv_tsdl_reader reader = vv_tsdl_part(text, 0, length), statement;
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && vv_tsdl_statement(&reader, &statement, &metadata->torn))
        code = read_statement(&reading, &statement);
    if (code == VARVE_OK)
        code = check_whole(metadata, length, error);
    if (code != VARVE_OK)
        vv_metadata_deinit(metadata);
    return code;
}

void vv_metadata_deinit(struct vv_metadata *metadata)
{
    if (metadata == NULL)
        return;
    free(metadata->classes);
    vv_arena_deinit(&metadata->arena);
    *metadata = (struct vv_metadata){ .host = "", .program = "", .storage = "" };
}
