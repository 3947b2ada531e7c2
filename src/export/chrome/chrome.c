/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.c — the document around the events: Kineto's keys in Kineto's order. doc/chrome.md.
 *
 * Keys have a blank after the colon, and distributedInfo has a line of its own before the events,
 * because HTA finds the rank by searching the text. At the same ts, slices come before the events
 * that bind to them. */
#include "export/chrome/chrome.h"

#include <inttypes.h>

#include "base/text/json_write.h"
#include "varve/varve.h"

#define TEXT_OF_(number) #number
#define TEXT_OF(number) TEXT_OF_(number)

/* Several ranks may have devices with the same index: the first one is written. */
static void put_devices(const struct vv_chrome_writer *writer)
{
    const struct vv_devices *devices = &writer->model->devices;
    uint64_t named[(UINT16_MAX + 1) / 64] = { 0 }, written = 0;
    fputs("\"deviceProperties\": [", writer->stream);
    for (uint64_t row = 0; row < devices->table.count; row++) {
        uint32_t index = devices->device[row] & 0xffff;
        if (devices->name[row] == 0 || (named[index / 64] >> index % 64 & 1) != 0)
            continue;
        named[index / 64] |= UINT64_C(1) << index % 64;
        fprintf(writer->stream, "%s{\"id\": %u, \"name\": ", written++ > 0 ? ", " : "", index);
        vv_json_write_text(writer->stream,
                           vv_intern_text(&writer->model->strings, devices->name[row]));
        fputc('}', writer->stream);
    }
    fputs("],\n", writer->stream);
}

static void put_head(const struct vv_chrome_writer *writer)
{
    const struct vv_model *model = writer->model;
    FILE *stream = writer->stream;
    fputs("{\n\"schemaVersion\": 1,\n", stream);
    put_devices(writer);
    fputs("\"distributedInfo\": {\"backend\": \"\", \"rank\": 0, \"world_size\": 1},\n",
          stream);
    if (model->run.host != 0) {
        fputs("\"host_name\": ", stream);
        vv_json_write_text(stream, vv_intern_text(&model->strings, model->run.host));
        fputs(",\n", stream);
    }
    if (model->tensors.table.count > 0)
        fputs("\"record_shapes\": 1,\n", stream);
    if (model->memory.table.count > 0)
        fputs("\"profile_memory\": 1,\n", stream);
    fprintf(stream,
            "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": %" PRId64
            ",\n\"traceEvents\": [",
            writer->layout->base_ns);
}

/* Data that Kineto has no key for; readers ignore unknown keys. */
static void put_tail(const struct vv_chrome_writer *writer)
{
    const struct vv_run *run = &writer->model->run;
    const struct vv_health *health = &writer->model->health;
    FILE *stream = writer->stream;
    fprintf(stream, "\n],\n\"varve\": {\"version\": \"%s\", \"command\": ",
            TEXT_OF(VARVE_VERSION_MAJOR) "." TEXT_OF(VARVE_VERSION_MINOR) "." TEXT_OF(
                VARVE_VERSION_PATCH));
    vv_json_write_text(stream, run->command != 0
                                   ? vv_intern_text(&writer->model->strings, run->command)
                                   : NULL);
    fprintf(stream,
            ", \"events\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"truncated_files\": %" PRIu64
            ", \"unfinished\": %" PRIu64 ", \"clock_uncertainty_ns\": ",
            run->events, run->lost, health->truncated_files, health->unfinished);
    if (run->clock_uncertainty_ns >= 0)
        vv_json_write_int(stream, run->clock_uncertainty_ns);
    else
        fputs("null", stream);
    fprintf(stream,
            ", \"flows_left_out\": %" PRIu64 ", \"counter_values_left_out\": %" PRIu64 "}\n}\n",
            writer->counts.flows_left_out, writer->counts.counter_values_left_out);
}

static enum varve_code write_chrome(const struct vv_model *model, const char *path, FILE *stream,
                                    struct vv_export_counts *out_counts, struct varve_error *error)
{
    (void)path;
    struct vv_chrome_layout layout;
    struct vv_chrome_writer writer = { .model = model, .layout = &layout, .stream = stream };
    enum varve_code code = vv_chrome_layout_init(&layout, model, error);
    if (code == VARVE_OK) {
        vv_chrome_find_arguments(&writer);
        put_head(&writer);
        vv_chrome_put_names(&writer);
        vv_chrome_put_found_steps(&writer);
        vv_chrome_put_slices(&writer);
        vv_chrome_put_marks(&writer);
        vv_chrome_put_counters(&writer);
        code = vv_chrome_put_memory(&writer, error);
    }
    if (code == VARVE_OK)
        code = vv_chrome_put_flows(&writer, error);
    if (code == VARVE_OK) {
        put_tail(&writer);
        *out_counts = writer.counts;
    }
    vv_chrome_layout_deinit(&layout);
    return code;
}

const struct vv_exporter vv_exporter_chrome = {
    .name = "chrome",
    .title = "Chrome JSON, as PyTorch writes it: Perfetto, HTA, chrome://tracing",
    .extension = ".json",
    .write = write_chrome,
};
