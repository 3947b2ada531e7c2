/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/metadata_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"

#define NS_PER_S INT64_C(1000000000)
/* after escaping; together with FILE_TEXT and the frame less than a class */
#define NAME_TEXT_BYTES_MAX 2400u
#define FILE_TEXT_BYTES_MAX 1200u

static const char types[] =
    "/* CTF 1.8 */\n\n"
    "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := utf8;\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 8; align = 8; signed = true; } := i8;\n"
    "typealias integer { size = 32; align = 32; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 64; signed = false; } := u64;\n"
    "typealias integer { size = 64; align = 64; signed = true; } := i64;\n"
    "typealias integer { size = 64; align = 64; signed = false; base = 16; } := x64;\n"
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 64; } := f64;\n\n"
    "trace {\n"
    "  major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { u32 magic; u32 stream_id; u64 stream_instance_id; };\n"
    "};\n\n";

static const char streams[] =
    "typealias integer { size = 64; align = 64; signed = false; map = clock.varve.value; } := "
    "u64_clock;\n\n"
    "stream {\n"
    "  id = 0;\n"
    "  packet.context := struct {\n"
    "    u64 content_size; u64 packet_size; u64_clock timestamp_begin;\n"
    "    u64 packet_seq_num; u64 events_discarded; u64 tid;\n"
    "  } align(256);\n"
    "  event.header := struct {\n"
    "    integer { size = 20; align = 1; signed = false; } id;\n"
    "    integer { size = 44; align = 1; signed = false; map = clock.varve.value; } timestamp;\n"
    "  } align(64);\n"
    "};\n\n";

static const struct {
    enum vv_event_id id;
    const char *name, *fields;
} builtins[] = {
#define VV_ROW(number, id, name, words, fields) { VV_EVENT_##id, name, fields },
    VV_EVENTS(VV_ROW)
#undef VV_ROW
};
_Static_assert((int)VV_EVENT_BUILTIN_COUNT <= (int)VV_SITE_ID_FIRST, "they end where sites begin");

static const struct {
    const char *uri, *fields;
} kinds[VV_SITE_KINDS] = {
    [VV_KIND_BEGIN] = { "begin", "" },
    [VV_KIND_NEXT] = { "next", "" },
    [VV_KIND_MARK] = { "mark", "" },
    [VV_KIND_COUNTER] = { "counter", "f64 value;" },
    [VV_KIND_ASYNC_BEGIN] = { "async_begin", "u64 id;" },
    [VV_KIND_ASYNC_END] = { "async_end", "u64 id;" },
    [VV_KIND_FLOW_OUT] = { "flow_out", "u64 id;" },
    [VV_KIND_FLOW_IN] = { "flow_in", "u64 id;" },
};

__attribute__((format(printf, 2, 3))) static void add(struct vv_tsdl *text, const char *format, ...)
{
    size_t room = text->capacity - text->length;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->data + text->length, room, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= room)
        text->full = true;
    else
        text->length += (size_t)length;
}

/* The number of bytes of the UTF-8 character at `at`; 1 if it is malformed. */
static size_t character_bytes(const char *at)
{
    unsigned char lead = (unsigned char)*at;
    size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 1;
    return bytes;
}

/* Writes a TSDL string literal, cut between characters to `limit` bytes of text. */
static void add_literal(struct vv_tsdl *text, const char *value, size_t limit)
{
    add(text, "\"");
    size_t written = 0;
    for (const char *at = value; *at != '\0';) {
        char piece[8];
        size_t bytes = character_bytes(at);
        if (*at == '"' || *at == '\\')
            snprintf(piece, sizeof piece, "\\%c", *at);
        else if (*at == '\n')
            snprintf(piece, sizeof piece, "\\n");
        else if ((unsigned char)*at < 0x20 || *at == 0x7f)
            snprintf(piece, sizeof piece, "\\%03o", (unsigned)(unsigned char)*at);
        else
            snprintf(piece, sizeof piece, "%.*s", (int)bytes, at);
        if (written + strlen(piece) > limit)
            break;
        add(text, "%s", piece);
        written += strlen(piece);
        at += bytes;
    }
    add(text, "\"");
}

static bool is_plain_in_uri(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("/._-+:@~", byte) != NULL);
}

/* Percent-encodes as much of the end of `path` as fits into `limit` bytes. */
static void add_uri_path(struct vv_tsdl *text, const char *path, size_t limit)
{
    size_t start = strlen(path), cost = 0;
    while (start > 0) {
        size_t one = is_plain_in_uri((unsigned char)path[start - 1]) ? 1 : 3;
        if (cost + one > limit)
            break;
        cost += one;
        start--;
    }
    for (const char *at = path + start; *at != '\0'; at++) {
        if (is_plain_in_uri((unsigned char)*at))
            add(text, "%c", *at);
        else
            add(text, "%%%02X", (unsigned)(unsigned char)*at);
    }
}

static void add_clock(struct vv_tsdl *text, const struct vv_tsdl_clock *clock)
{
    uint64_t hz = clock->frequency_hz;
    int64_t ticks_ns = (int64_t)((vv_u128)clock->ticks * (uint64_t)NS_PER_S / hz);
    int64_t origin_ns = clock->realtime_ns - ticks_ns; /* the instant of tick 0 */
    int64_t offset_s = origin_ns / NS_PER_S - (origin_ns % NS_PER_S < 0);
    uint64_t rest_ns = (uint64_t)(origin_ns - offset_s * NS_PER_S);
    uint64_t offset =
        (uint64_t)(((vv_u128)rest_ns * hz + (uint64_t)NS_PER_S / 2) / (uint64_t)NS_PER_S);
    add(text,
        "clock {\n  name = varve; description = \"%s\"; freq = %llu; precision = %llu;\n"
        "  offset_s = %lld; offset = %llu; absolute = true;\n};\n\n",
        clock->source, (unsigned long long)hz, (unsigned long long)clock->precision_ticks,
        (long long)offset_s, (unsigned long long)offset);
}

static void add_job(struct vv_tsdl *text, const struct vv_tsdl_job *job)
{
    if (job != NULL && job->rank >= 0)
        add(text, "  rank = %lld;\n", (long long)job->rank);
    if (job != NULL && job->world_size >= 0)
        add(text, "  world_size = %lld;\n", (long long)job->world_size);
    if (job != NULL && job->local_rank >= 0)
        add(text, "  local_rank = %lld;\n", (long long)job->local_rank);
}

static void add_environment(struct vv_tsdl *text, const struct vv_tsdl_clock *clock,
                            const struct vv_tsdl_process *process)
{
    add(text, "env {\n  tracer_name = \"varve\"; varve_format = %d;\n  hostname = ",
        VV_CTF_FORMAT_VERSION);
    add_literal(text, process->host, 256);
    add(text, "; pid = %lld; ppid = %lld;\n  program = ", (long long)process->pid,
        (long long)process->ppid);
    add_literal(text, process->program, NAME_TEXT_BYTES_MAX);
    add(text,
        ";\n  clock_source = \"%s\"; begin_realtime_ns = %lld; begin_ticks = %llu;\n"
        "  record_cost_ps = %llu;\n",
        clock->source, (long long)process->begin_realtime_ns,
        (unsigned long long)process->begin_ticks, (unsigned long long)process->record_cost_ps);
    if (process->keep_bytes != 0)
        add(text, "  keep_bytes = %llu;\n", (unsigned long long)process->keep_bytes);
    if (process->keep_ns != 0)
        add(text, "  keep_ns = %llu;\n", (unsigned long long)process->keep_ns);
    if (process->reserve_bytes != 0)
        add(text, "  reserve_bytes = %llu;\n", (unsigned long long)process->reserve_bytes);
    if (process->storage != NULL) {
        add(text, "  storage = ");
        add_literal(text, process->storage, 256);
        add(text, ";\n");
    }
    add_job(text, process->job);
    add(text, "};\n\n");
}

void vv_tsdl_prologue(struct vv_tsdl *text, const struct vv_tsdl_clock *clock,
                      const struct vv_tsdl_process *process)
{
    add(text, "%s", types);
    add_environment(text, clock, process);
    add_clock(text, clock);
    add(text, "%s", streams);
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        add(text, "event { id = %d; name = \"%s\"; stream_id = 0; fields := struct { %s }; };\n",
            (int)builtins[i].id, builtins[i].name, builtins[i].fields);
    add(text, "\n");
}

void vv_tsdl_class(struct vv_tsdl *text, const struct vv_tsdl_class *event)
{
    size_t start = text->length;
    add(text, "event { id = %u; name = ", event->id);
    add_literal(text, event->name, NAME_TEXT_BYTES_MAX);
    add(text, "; stream_id = 0; model.emf.uri = \"varve:%s?layer=%s", kinds[event->kind].uri,
        vv_layer_name(event->layer));
    if (event->file != NULL && *event->file != '\0') {
        add(text, "&line=%u&file=", event->line);
        add_uri_path(text, event->file, FILE_TEXT_BYTES_MAX);
    }
    add(text, "\"; fields := struct { %s }; };\n", kinds[event->kind].fields);
    if (text->full)
        text->length = start;
}
