/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_bytes.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "ctf/layout.h"

const char trace_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 32; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 64; signed = false; } := u64;\n"
    "env { varve_format = 1; hostname = \"host\"; pid = 100; program = \"/usr/bin/train\"; };\n"
    "clock { name = varve; freq = 1000000000; offset_s = 1763700000; offset = 0; };\n"
    "event { id = 64; name = \"conv2d\"; stream_id = 0;"
    " model.emf.uri = \"varve:begin?layer=OP&line=41&file=tr%20ain.c\"; fields := struct { }; };\n"
    "event { id = 65; name = \"conv2d\"; model.emf.uri = \"varve:next?layer=OP\"; };\n"
    "event { id = 75; name = \"loss\"; model.emf.uri = \"varve:counter?layer=METRIC\"; };\n"
    "event { id = 84; name = \"copy\"; model.emf.uri = \"varve:async_begin?layer=DEVICE\"; };\n"
    "event { id = 85; name = \"copy\"; model.emf.uri = \"varve:async_end?layer=DEVICE\"; };\n"
    "event { id = 94; name = \"send\"; model.emf.uri = \"varve:flow_out?layer=COMM\"; };\n"
    "event { id = 95; name = \"send\"; model.emf.uri = \"varve:flow_in?layer=COMM\"; };\n"
    "event { id = 96; name = \"forward\"; model.emf.uri = \"varve:begin?layer=STEP\"; };\n"
    "event { id = 106; name = \"here\"; model.emf.uri = \"varve:mark?layer=API\"; };\n"
    "event { id = 40; name = \"future.thing\"; fields := struct { u8 kind; u32 n; u64 items[n];"
    " string text; } align(64); };\n"
    "event { id = 41; name = \"odd.thing\"; fields := struct { variant <kind> { u8 a; } v; }; };\n";

void trace_write(const struct trace *trace, const char *name, const void *data, size_t bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", trace->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

void trace_make(struct trace *trace, const char *metadata)
{
    const char *folder = getenv("TMPDIR");
    snprintf(trace->path, sizeof trace->path, "%s/varve-XXXXXX", folder != NULL ? folder : "/tmp");
    assert_non_null(mkdtemp(trace->path));
    char process[96];
    snprintf(process, sizeof process, "%s/" PROCESS, trace->path);
    assert_int_equal(mkdir(process, 0700), 0);
    if (*metadata != '\0')
        trace_write(trace, PROCESS "/metadata", metadata, strlen(metadata));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void trace_remove(struct trace *trace)
{
    nftw(trace->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

enum varve_code trace_import(const struct trace *trace, struct vv_model **out_model,
                             struct varve_error *error)
{
    return vv_import(trace->path, out_model, error);
}

void stream_packet(struct stream_bytes *stream, uint64_t instance, uint64_t begin_ticks,
                   uint64_t sequence, uint64_t discarded)
{
    struct vv_packet_header header = { .magic = VV_CTF_MAGIC,
                                       .stream_instance = instance,
                                       .begin_ticks = begin_ticks,
                                       .sequence = sequence,
                                       .discarded = discarded,
                                       .tid = instance == 0 ? 0 : 99 + instance };
    stream->packet = stream->count;
    memcpy(&stream->words[stream->count], &header, sizeof header);
    stream->count += sizeof header / 8;
}

void stream_leave(struct stream_bytes *stream, size_t packet_bytes)
{
    size_t content_bytes = (stream->count - stream->packet) * 8;
    if (packet_bytes == 0)
        packet_bytes = content_bytes;
    stream->words[stream->packet + 4] = content_bytes * 8;
    stream->words[stream->packet + 5] = packet_bytes * 8;
    while ((stream->count - stream->packet) * 8 < packet_bytes)
        stream->words[stream->count++] = 0;
}

void stream_record(struct stream_bytes *stream, uint32_t id, uint64_t ticks,
                   const uint64_t *payload, size_t payload_words)
{
    stream->words[stream->count++] = vv_record_word(id, ticks);
    for (size_t i = 0; i < payload_words; i++)
        stream->words[stream->count++] = payload[i];
}

void stream_string(struct stream_bytes *stream, uint64_t ticks, uint32_t id, const char *text)
{
    uint64_t payload[32] = { 0 };
    size_t words = (strlen(text) + 7) / 8;
    payload[0] = (uint64_t)words * 8 << 32 | id;
    memcpy(payload + 1, text, strlen(text));
    stream_record(stream, VV_EVENT_STRING, ticks, payload, 1 + words);
}

enum varve_code import_thread(struct stream_bytes *thread, struct vv_model **out_model,
                              struct varve_error *error)
{
    static struct stream_bytes own;
    struct trace trace;
    own.count = 0;
    stream_packet(&own, 0, 0, 0, 0);
    stream_leave(&own, 0);
    trace_make(&trace, trace_metadata);
    trace_write(&trace, PROCESS "/process.0", own.words, own.count * 8);
    trace_write(&trace, PROCESS "/thread.1.0", thread->words, thread->count * 8);
    enum varve_code code = trace_import(&trace, out_model, error);
    trace_remove(&trace);
    return code;
}

void begin_thread(struct stream_bytes *thread)
{
    thread->count = 0;
    stream_packet(thread, 1, 1000, 0, 0);
}

struct vv_model *import_whole(struct stream_bytes *thread)
{
    struct vv_model *model = NULL;
    struct varve_error error = { .message = "" };
    enum varve_code code = import_thread(thread, &model, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(code, VARVE_OK);
    return model;
}

uint32_t slice_named(const struct vv_model *model, const char *name)
{
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (strcmp(vv_intern_text(&model->strings, model->slices.name[row]), name) == 0)
            return row;
    fail_msg("no slice '%s'", name);
    return VV_NONE;
}
