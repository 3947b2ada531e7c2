/* SPDX-License-Identifier: Apache-2.0 */
/* iree.c — IREE's profile bundles: the probe, the records, and what takes their payloads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/iree/iree.h"
#include "varve/varve.h"

#define MAGIC "IRPF"
#define MAJOR 1
#define FILE_HEADER_BYTES 24u
#define RECORD_HEADER_BYTES 104u
#define CONTENT_PREFIX "application/vnd.iree.hal.profile."
#define TEXT_BYTES_MAX 4096u /* of a content type and a name                                      */

enum pass { DESCRIPTIONS, EVENTS, NOTHING_NEEDED, LEFT_OUT };

/* The content types; `least` is how long a struct must be. */
static const struct content {
    const char *type;
    uint8_t pass;
    uint32_t least;
    vv_iree_take *take;
} contents[] = {
    { "devices", DESCRIPTIONS, 16, vv_iree_take_device },
    { "executable-functions", DESCRIPTIONS, 48, vv_iree_take_function },
    { "executable-exports", DESCRIPTIONS, 48, vv_iree_take_function }, /* before 1.6              */
    { "command-operations", DESCRIPTIONS, 96, vv_iree_take_command },
    { "clock-correlations", DESCRIPTIONS, 72, vv_iree_take_clock },
    { "host-execution-events", EVENTS, 144, vv_iree_take_host_execution },
    { "dispatch-events", EVENTS, 88, vv_iree_take_dispatch },
    { "queue-events", EVENTS, 88, vv_iree_take_queue_event },
    { "queue-device-events", EVENTS, 96, vv_iree_take_queue_device_event },
    { "memory-events", EVENTS, 112, vv_iree_take_memory },
    { "session", NOTHING_NEEDED, 0, NULL },
    { "queues", NOTHING_NEEDED, 0, NULL },
    { "executables", NOTHING_NEEDED, 0, NULL },
    { "executable-code-objects", NOTHING_NEEDED, 0, NULL },
    { "executable-code-object-loads", NOTHING_NEEDED, 0, NULL },
    { "command-buffers", NOTHING_NEEDED, 0, NULL },
    { "event-relationships", NOTHING_NEEDED, 0, NULL },
};
static const struct content left_out = { "", LEFT_OUT, 0, NULL };

static const struct content *find_content(const char *type, size_t length)
{
    const size_t prefix = strlen(CONTENT_PREFIX);
    if (length <= prefix || memcmp(type, CONTENT_PREFIX, prefix) != 0)
        return &left_out;
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        if (strlen(contents[i].type) == length - prefix &&
            memcmp(contents[i].type, type + prefix, length - prefix) == 0)
            return &contents[i];
    return &left_out;
}

/* ---- records ---- */

struct record {
    uint64_t offset, bytes, payload_at, payload_bytes, dropped;
    const struct content *content;
};

/* *out_bytes is empty, and the bundle counts as cut, if the file ends before. */
static enum varve_code bytes_at(struct vv_iree *iree, uint64_t offset, uint64_t wanted,
                                struct vv_bytes *out_bytes, struct varve_error *error)
{
    VV_TRY(vv_window_at(&iree->window, offset, wanted, out_bytes, error));
    if (out_bytes->length < wanted) {
        iree->is_cut = true;
        out_bytes->length = 0;
    } else {
        out_bytes->length = (size_t)wanted;
    }
    return VARVE_OK;
}

static bool fits(const struct record *record, uint64_t header, uint64_t texts)
{
    return header >= RECORD_HEADER_BYTES && texts <= 2 * (uint64_t)TEXT_BYTES_MAX &&
           record->bytes >= header + texts &&
           record->bytes - header - texts >= record->payload_bytes;
}

static enum varve_code read_header(struct vv_iree *iree, struct record *record,
                                   struct varve_error *error)
{
    struct vv_bytes head, texts;
    VV_TRY(bytes_at(iree, record->offset, RECORD_HEADER_BYTES, &head, error));
    if (iree->is_cut)
        return VARVE_OK;
    uint32_t header = vv_iree_u32(head, 56), type_bytes = vv_iree_u32(head, 60);
    uint32_t name_bytes = vv_iree_u32(head, 64);
    record->bytes = vv_iree_u64(head, 0);
    record->payload_bytes = vv_iree_u64(head, 8);
    record->dropped = vv_iree_u64(head, 88);
    iree->session = vv_iree_u64(head, 16);
    iree->device = vv_iree_u32(head, 68);
    iree->queue = vv_iree_u32(head, 72);
    if (!fits(record, header, (uint64_t)type_bytes + name_bytes))
        return vv_fail_at(error, VARVE_CORRUPT, record->offset,
                          "a record of %" PRIu64 " bytes with a header of %" PRIu32
                          ", texts of %" PRIu32 " and %" PRIu32 ", a payload of %" PRIu64,
                          record->bytes, header, type_bytes, name_bytes, record->payload_bytes);
    VV_TRY(bytes_at(iree, record->offset + header, type_bytes + name_bytes, &texts, error));
    if (iree->is_cut)
        return VARVE_OK;
    record->payload_at = record->offset + header + type_bytes + name_bytes;
    record->content = find_content((const char *)texts.data, type_bytes);
    return vv_model_add_text(iree->model, (const char *)texts.data + type_bytes, name_bytes,
                             &iree->producer, error);
}

static enum varve_code read_items(struct vv_iree *iree, const struct record *record,
                                  struct varve_error *error)
{
    uint64_t at = record->payload_at, end = at + record->payload_bytes;
    while (at < end) {
        struct vv_bytes item;
        VV_TRY(bytes_at(iree, at, end - at < 4 ? end - at : 4, &item, error));
        if (iree->is_cut)
            return VARVE_OK;
        uint32_t bytes = vv_iree_u32(item, 0);
        if (bytes < record->content->least || bytes > end - at)
            return vv_fail_at(error, VARVE_CORRUPT, at,
                              "a struct of %" PRIu32 " bytes among the %s: at least %" PRIu32
                              ", at most %" PRIu64 " are possible",
                              bytes, record->content->type, record->content->least, end - at);
        VV_TRY(bytes_at(iree, at, bytes, &item, error));
        if (iree->is_cut)
            return VARVE_OK;
        VV_TRY(record->content->take(iree, item, at, error));
        at += bytes;
    }
    return VARVE_OK;
}

static enum varve_code read_records(struct vv_iree *iree, enum pass pass, uint64_t at,
                                    struct varve_error *error)
{
    struct vv_processes *processes = &iree->model->processes;
    iree->is_cut = iree->window.is_cut && at >= iree->window.size_bytes;
    while (at < iree->window.size_bytes && !iree->is_cut) {
        struct record record = { .offset = at };
        VV_TRY(read_header(iree, &record, error));
        if (iree->is_cut)
            break;
        if (record.content->pass == pass)
            VV_TRY(read_items(iree, &record, error));
        if (pass == EVENTS) {
            processes->lost[iree->process] += record.dropped;
            iree->model->health.ignored += record.content->pass == LEFT_OUT;
        }
        if (__builtin_add_overflow(at, record.bytes, &at))
            at = UINT64_MAX;
    }
    iree->is_cut = iree->is_cut || at > iree->window.size_bytes;
    return VARVE_OK;
}

/* ---- the file ---- */

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && head_bytes >= 4 && memcmp(head, MAGIC, 4) == 0;
}

/* *out_at: where the records begin. */
static enum varve_code read_file_header(struct vv_iree *iree, uint64_t *out_at,
                                        struct varve_error *error)
{
    struct vv_bytes head;
    uint16_t major = 0, minor = 0;
    VV_TRY(vv_window_at(&iree->window, 0, FILE_HEADER_BYTES, &head, error));
    if (!vv_bytes_u16(head, 4, &major) || !vv_bytes_u16(head, 6, &minor) ||
        head.length < FILE_HEADER_BYTES)
        VV_FAIL(error, VARVE_TRUNCATED, "'%s' ends within the header of a profile bundle",
                iree->job->path);
    if (major != MAJOR)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "'%s' is a profile bundle of version %u.%u; varve reads version %d: export it "
                     "with the IREE that wrote it",
                     iree->job->path, major, minor, MAJOR);
    *out_at = vv_iree_u32(head, 8);
    if (*out_at < FILE_HEADER_BYTES)
        return vv_fail_at(error, VARVE_CORRUPT, 8, "the header has %" PRIu64 " bytes", *out_at);
    return VARVE_OK;
}

static enum varve_code read_bundle(struct vv_iree *iree, struct varve_error *error)
{
    struct vv_processes *processes = &iree->model->processes;
    uint64_t at = 0;
    VV_TRY(read_file_header(iree, &at, error));
    VV_TRY(vv_model_add_process(iree->model, &iree->process, error));
    processes->scope[iree->process] = iree->job->scope;
    processes->rank[iree->process] = -1;
    processes->clock_uncertainty_ns[iree->process] = -1;
    VV_TRY(vv_model_text(iree->model, "IREE", &processes->name[iree->process], error));
    VV_TRY(read_records(iree, DESCRIPTIONS, at, error));
    vv_iree_number_commands(iree);
    VV_TRY(read_records(iree, EVENTS, at, error));
    iree->model->health.truncated_files += iree->is_cut;
    return vv_iree_place_spans(iree, error);
}

static enum varve_code read_profile(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_iree iree = { .job = job, .model = job->model };
    enum varve_code code =
        vv_window_open(&iree.window, job->source, job->options->max_memory_bytes, error);
    if (code == VARVE_OK)
        code = read_bundle(&iree, error);
    for (size_t i = 0; i < iree.clocks.count; i++)
        free(iree.clocks.items[i].pairs.items);
    free(iree.clocks.items);
    free(iree.commands.items);
    free(iree.spans.items);
    vv_row_map_deinit(&iree.rows);
    vv_window_close(&iree.window);
    return code;
}

const struct vv_importer vv_importer_ireeprof = {
    .name = "ireeprof",
    .title = "IREE profile bundle",
    .probe = probe,
    .read = read_profile,
    .is_recording = vv_is_always_recording,
};
