/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.c — Perfetto's protobuf traces: a list of packets, each of them field 1 of the file.
 * perfetto.h lists the other parts. doc/formats.md. */
#include "import/perfetto/perfetto.h"

#include <stdio.h>
#include <stdlib.h>

#define REPORT_BYTES (UINT64_C(1) << 20)
#define PACKET_TAG (VV_TRACE_PACKET << 3 | VV_WIRE_BYTES)

/* ---- the file ---- */

/* Reads the whole packets of the file. *out_is_cut: a packet after them is not whole. */
static enum varve_code read_file(struct vv_perfetto *reader, struct vv_window *window,
                                 bool *out_is_cut, struct varve_error *error)
{
    for (uint64_t at = 0, reported = 0; at < window->size_bytes;) {
        struct vv_window_field field;
        struct vv_bytes bytes;
        struct vv_protobuf packet;
        VV_TRY(vv_window_field(window, at, UINT64_MAX, &field, error));
        *out_is_cut = field.is_cut;
        if (field.is_cut)
            return VARVE_OK;
        if (field.number != VV_TRACE_PACKET || field.wire != VV_WIRE_BYTES) {
            reader->model->health.ignored++;
        } else {
            VV_TRY(vv_window_at(window, field.data_offset, field.value, &bytes, error));
            if (bytes.length < field.value)
                return vv_fail_at(error, VARVE_TRUNCATED, at, "the file became shorter");
            vv_protobuf_init(&packet, bytes.data, (size_t)field.value, field.data_offset);
            VV_TRY(vv_perfetto_packet_read(reader, &packet, error));
        }
        at = field.next_offset;
        if (window->source != NULL && at >= reported + REPORT_BYTES) {
            vv_source_report(window->source, at);
            reported = at;
        }
    }
    return VARVE_OK;
}

/* ---- packets that are not read ---- */

static const struct {
    uint8_t field;
    const char *name;
} packet_names[] = {
    { VV_TRACEPACKET_FTRACE_EVENTS, "ftrace_events" },
    { VV_TRACEPACKET_PROCESS_TREE, "process_tree" },
    { VV_TRACEPACKET_INODE_FILE_MAP, "inode_file_map" },
    { VV_TRACEPACKET_CHROME_EVENTS, "chrome_events" },
    { VV_TRACEPACKET_SYS_STATS, "sys_stats" },
    { VV_TRACEPACKET_PROCESS_STATS, "process_stats" },
    { VV_TRACEPACKET_TRACE_CONFIG, "trace_config" },
    { VV_TRACEPACKET_FTRACE_STATS, "ftrace_stats" },
    { VV_TRACEPACKET_TRACE_STATS, "trace_stats" },
    { VV_TRACEPACKET_SYNCHRONIZATION_MARKER, "synchronization_marker" },
    { VV_TRACEPACKET_PROFILE_PACKET, "profile_packet" },
    { VV_TRACEPACKET_ANDROID_LOG, "android_log" },
    { VV_TRACEPACKET_SYSTEM_INFO, "system_info" },
    { VV_TRACEPACKET_TRIGGER, "trigger" },
    { VV_TRACEPACKET_PACKAGES_LIST, "packages_list" },
    { VV_TRACEPACKET_PERFETTO_METATRACE, "perfetto_metatrace" },
    { VV_TRACEPACKET_CHROME_METADATA, "chrome_metadata" },
    { VV_TRACEPACKET_GPU_COUNTER_EVENT, "gpu_counter_event" },
    { VV_TRACEPACKET_GPU_RENDER_STAGE_EVENT, "gpu_render_stage_event" },
    { VV_TRACEPACKET_STREAMING_PROFILE_PACKET, "streaming_profile_packet" },
    { VV_TRACEPACKET_PERF_SAMPLE, "perf_sample" },
    { VV_TRACEPACKET_CPU_INFO, "cpu_info" },
    { VV_TRACEPACKET_SERVICE_EVENT, "service_event" },
    { VV_TRACEPACKET_EXTENSION_DESCRIPTOR, "extension_descriptor" },
    { VV_TRACEPACKET_FRAME_TIMELINE_EVENT, "frame_timeline_event" },
    { VV_TRACEPACKET_UI_STATE, "ui_state" },
    { VV_TRACEPACKET_TRACE_UUID, "trace_uuid" },
    { VV_PERFETTO_OTHERS, "others" },
};

static enum varve_code add_fact(struct vv_perfetto *reader, unsigned field,
                                struct varve_error *error)
{
    char key[64];
    uint32_t row, id;
    snprintf(key, sizeof key, "packets not read: field %u", field);
    for (size_t i = 0; i < sizeof packet_names / sizeof packet_names[0]; i++)
        if (packet_names[i].field == field)
            snprintf(key, sizeof key, "packets not read: %s", packet_names[i].name);
    VV_TRY(vv_model_text(reader->model, key, &id, error));
    VV_TRY(vv_model_add_fact(reader->model, &row, error));
    reader->model->facts.key[row] = id;
    reader->model->facts.value[row] = reader->passed[field];
    reader->model->facts.kind[row] = VV_ARG_INT;
    return VARVE_OK;
}

static enum varve_code add_facts(struct vv_perfetto *reader, struct varve_error *error)
{
    for (unsigned field = 0; field <= VV_PERFETTO_OTHERS; field++)
        if (reader->passed[field] > 0)
            VV_TRY(add_fact(reader, field, error));
    return VARVE_OK;
}

/* ---- the reader ---- */

static void close_reader(struct vv_perfetto *reader)
{
    for (size_t i = 0; i < reader->sequence_count; i++) {
        struct vv_perfetto_sequence *sequence = &reader->sequences[i];
        for (int kind = 0; kind < VV_PERFETTO_INTERNED_COUNT; kind++)
            vv_key_map_deinit(&sequence->interned[kind]);
        vv_key_map_deinit(&sequence->counters);
        free(sequence->counter_values);
        free(sequence->extra_integers.items);
        free(sequence->extra_reals.items);
    }
    vv_perfetto_clocks_deinit(&reader->clocks);
    vv_key_map_deinit(&reader->sequence_ids);
    vv_key_map_deinit(&reader->track_ids);
    free(reader->sequences);
    free(reader->tracks);
    free(reader->events);
    free(reader->flow_ends);
    free(reader->text);
}

static void finish_processes(const struct vv_perfetto *reader, uint64_t first)
{
    struct vv_processes *processes = &reader->model->processes;
    for (uint64_t row = first; row < processes->table.count; row++)
        if (processes->begin_ns[row] > processes->end_ns[row])
            processes->begin_ns[row] = processes->end_ns[row] = 0;
}

static enum varve_code read_perfetto(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_perfetto reader = { .job = job, .model = job->model };
    struct vv_window window;
    bool is_cut = false;
    uint64_t first_process = job->model->processes.table.count;
    reader.clocks.trace_clock = vv_perfetto_clock_key(VV_PERFETTO_BOOTTIME, 0);
    enum varve_code code =
        vv_window_open(&window, job->source, job->options->max_memory_bytes, error);
    if (code == VARVE_OK)
        code = read_file(&reader, &window, &is_cut, error);
    if (code == VARVE_OK)
        code = vv_perfetto_tracks_place(&reader, error);
    if (code == VARVE_OK)
        code = vv_perfetto_join(&reader, error);
    if (code == VARVE_OK)
        code = add_facts(&reader, error);
    finish_processes(&reader, first_process);
    job->model->health.truncated_files += code == VARVE_OK && (is_cut || window.is_cut);
    vv_window_close(&window);
    close_reader(&reader);
    if (code != VARVE_OK)
        vv_error_note(error, "'%s'", job->path);
    return code;
}

/* ---- the probe ---- */

/* True if the packet has a field that packets may have, and all such fields have the right wire
 * type. */
static bool is_packet(struct vv_protobuf *packet)
{
    bool is_known = false;
    while (vv_protobuf_next(packet)) {
        bool is_number = packet->number == VV_TRACEPACKET_TIMESTAMP ||
                         packet->number == VV_TRACEPACKET_TRUSTED_PACKET_SEQUENCE_ID ||
                         packet->number == VV_TRACEPACKET_TRUSTED_UID ||
                         packet->number == VV_TRACEPACKET_SEQUENCE_FLAGS ||
                         packet->number == VV_TRACEPACKET_TIMESTAMP_CLOCK_ID ||
                         packet->number == VV_TRACEPACKET_TRUSTED_PID;
        bool is_message = packet->number == VV_TRACEPACKET_TRACK_EVENT ||
                          packet->number == VV_TRACEPACKET_TRACK_DESCRIPTOR ||
                          packet->number == VV_TRACEPACKET_CLOCK_SNAPSHOT ||
                          packet->number == VV_TRACEPACKET_INTERNED_DATA ||
                          packet->number == VV_TRACEPACKET_TRACE_PACKET_DEFAULTS ||
                          packet->number == VV_TRACEPACKET_TRACE_CONFIG ||
                          packet->number == VV_TRACEPACKET_COMPRESSED_PACKETS ||
                          packet->number == VV_TRACEPACKET_ZSTD_COMPRESSED_PACKETS ||
                          packet->number == VV_TRACEPACKET_SYNCHRONIZATION_MARKER;
        if ((is_number && packet->wire != VV_WIRE_VARINT) ||
            (is_message && packet->wire != VV_WIRE_BYTES))
            return false;
        is_known = is_known || is_number || is_message;
    }
    return is_known;
}

/* True if the first packets of the head are packets. */
static bool probe_perfetto(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    const unsigned char *at = (const unsigned char *)head, *end = at + head_bytes;
    bool has_packet = false;
    for (int i = 0; i < 8 && !is_folder && at < end; i++) {
        struct vv_protobuf packet;
        uint64_t length;
        if (*at++ != PACKET_TAG || !vv_protobuf_varint(&at, end, &length))
            return has_packet && at == end;
        bool is_whole = length <= (uint64_t)(end - at);
        size_t here = is_whole ? (size_t)length : (size_t)(end - at);
        vv_protobuf_init(&packet, at, here, 0);
        if (!is_whole && has_packet)
            return true;
        if (length > 0 && !is_packet(&packet))
            return false;
        has_packet = has_packet || length > 0;
        at += here;
    }
    return has_packet;
}

const struct vv_importer vv_importer_perfetto = {
    .name = "perfetto",
    .title = "Perfetto protobuf",
    .probe = probe_perfetto,
    .read = read_perfetto,
    .is_recording = vv_is_always_recording,
};
