/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c — writes arrows: those that the program marked, and those from forward to backward
 * operators.
 *
 * An arrow ends in slices. Perfetto connects an end to the slice or instant that began last on the
 * row, even if that has ended, and ignores an arrival that is written before its departure. So the
 * end of a marked arrow is written at its own time, or earlier: just before something else begins
 * inside its slice. Arrows between forward and backward operators have their ends exactly at the
 * begins of the operators, where HTA looks for them. Ids count from 1 in each category, so (cat,
 * name, id) is unique. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/binary_search.h"
#include "base/text/json_write.h"
#include "export/chrome/chrome.h"
#include "export/chrome/words.h"
#include "meaning/autograd_links.h"
#include "model/find.h"

struct arrow {
    const char *category, *name;
    uint64_t id;
    uint32_t from, to;       /* slices                                                          */
    int64_t from_ns, to_ns;  /* the instants at which its ends are written                      */
};

/* ---- the instant at which an end may be written ---- */

struct instant { uint32_t track; int64_t time_ns; };

struct instants { struct instant *rows; size_t count; };

static int by_time(const void *a, const void *b)
{
    const struct instant *left = a, *right = b;
    if (left->track != right->track)
        return left->track < right->track ? -1 : 1;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

/* Collects marks and allocations: they are written as instants, which hide the slice around
 * them. */
static enum varve_code collect_instants(const struct vv_model *model, struct instants *out_instants,
                                        struct varve_error *error)
{
    size_t marks = (size_t)model->marks.table.count,
           allocations = (size_t)model->memory.table.count;
    struct instant *rows = calloc(marks + allocations + 1, sizeof *rows);
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to order %zu instants", marks + allocations);
    for (size_t i = 0; i < marks; i++)
        rows[i] = (struct instant){ model->marks.track[i], model->marks.time_ns[i] };
    for (size_t i = 0; i < allocations; i++)
        rows[marks + i] = (struct instant){ model->memory.track[i], model->memory.time_ns[i] };
    qsort(rows, marks + allocations, sizeof *rows, by_time);
    *out_instants = (struct instants){ rows, marks + allocations };
    return VARVE_OK;
}

static int64_t first_instant(const struct instants *instants, uint32_t track, int64_t from_ns)
{
    const struct instant wanted = { track, from_ns };
    size_t at = VV_FIRST_NOT(i, 0, instants->count, by_time(&instants->rows[i], &wanted) < 0);
    return at < instants->count && instants->rows[at].track == track ? instants->rows[at].time_ns
                                                                     : INT64_MAX;
}

/* The last instant up to wanted_ns at which nothing after the slice has begun on its row. */
static int64_t latest_in(const struct vv_chrome_writer *writer, const struct instants *instants,
                         uint32_t slice, int64_t wanted_ns)
{
    const struct vv_slices *slices = &writer->model->slices;
    const uint32_t *lane_of = writer->layout->lane_of;
    uint32_t track = slices->track[slice], next = slice + 1;
    int64_t begin_ns = slices->begin_ns[slice], hidden_ns = INT64_MAX;
    while (next < slices->table.count && slices->track[next] == track &&
           lane_of[next] != lane_of[slice] && slices->begin_ns[next] <= wanted_ns)
        next++;
    if (next < slices->table.count && slices->track[next] == track &&
        lane_of[next] == lane_of[slice])
        hidden_ns = slices->begin_ns[next];
    if (writer->layout->lanes[lane_of[slice]].number == 0) {
        int64_t instant_ns = first_instant(instants, track, begin_ns);
        hidden_ns = instant_ns < hidden_ns ? instant_ns : hidden_ns;
    }
    if (wanted_ns < hidden_ns)
        return wanted_ns;
    return hidden_ns - 1 > begin_ns ? hidden_ns - 1 : begin_ns;
}

/* ---- writing ---- */

static void put_end(struct vv_chrome_writer *writer, const struct arrow *arrow, bool arrives)
{
    const struct vv_model *model = writer->model;
    uint32_t slice = arrives ? arrow->to : arrow->from;
    const struct vv_chrome_lane *lane = &writer->layout->lanes[writer->layout->lane_of[slice]];
    uint32_t process = model->tracks.process[lane->track];
    int64_t ts_ns =
        vv_chrome_since_base_ns(writer->layout, arrives ? arrow->to_ns : arrow->from_ns);
    fprintf(writer->stream, "%s\n{\"ph\": \"%s\", \"cat\": \"%s\", \"name\": ",
            writer->has_event ? "," : "", arrives ? "f" : "s", arrow->category);
    vv_json_write_text(writer->stream, arrow->name);
    fprintf(writer->stream,
            ", \"id\": %" PRIu64 ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", \"ts\": %" PRId64
            ".%03d%s}",
            arrow->id, process != VV_NONE ? writer->layout->pids[process] : 1, lane->tid,
            ts_ns / 1000, (int)(ts_ns % 1000), arrives ? ", \"bp\": \"e\"" : "");
    writer->has_event = true;
}

static void put_arrow(struct vv_chrome_writer *writer, const struct arrow *arrow)
{
    put_end(writer, arrow, false);
    put_end(writer, arrow, true);
    writer->counts.flows++;
}

static void put_marked(struct vv_chrome_writer *writer, const struct instants *instants)
{
    const struct vv_model *model = writer->model;
    const struct vv_flows *flows = &model->flows;
    uint64_t id = 0;
    for (uint64_t i = 0; i < flows->table.count; i++) {
        const char *category = vv_kineto_known(vv_intern_text(&model->strings, flows->category[i]));
        /* put_backward writes these, at the begins of their operators. */
        if (vv_is_autograd_arrow(model, i))
            continue;
        struct arrow arrow = {
            .category = category != NULL ? category : "flow",
            .name = vv_intern_text(&model->strings, flows->name[i]),
            .from = vv_slice_holding(model, flows->from_track[i], flows->from_ns[i]),
            .to = vv_slice_holding(model, flows->to_track[i], flows->to_ns[i]),
        };
        if (arrow.from == VV_NONE || arrow.to == VV_NONE) {
            writer->counts.flows_left_out++;
            continue;
        }
        arrow.id = ++id;
        arrow.from_ns = latest_in(writer, instants, arrow.from, flows->from_ns[i]);
        arrow.to_ns = latest_in(writer, instants, arrow.to, flows->to_ns[i]);
        if (arrow.from_ns > arrow.to_ns)
            arrow.from_ns = model->slices.begin_ns[arrow.from];
        /* No instants suit both ends. So the ends keep their own times, and the viewer connects
         * them to a slice inside the right one. */
        if (arrow.from_ns > arrow.to_ns) {
            arrow.from_ns = flows->from_ns[i];
            arrow.to_ns = flows->to_ns[i];
        }
        put_arrow(writer, &arrow);
    }
}

static void put_link(struct vv_chrome_writer *writer, uint64_t id, uint32_t from, uint32_t to)
{
    const int64_t *begin_ns = writer->model->slices.begin_ns;
    struct arrow arrow = { "fwdbwd", "fwdbwd", id, from, to, begin_ns[from], begin_ns[to] };
    put_arrow(writer, &arrow);
}

/* Writes the producer's arrows. Backward operators without one get an arrow from the forward
 * operator that their numbers name. */
static enum varve_code put_backward(struct vv_chrome_writer *writer, struct varve_error *error)
{
    const struct vv_flows *flows = &writer->model->flows;
    struct vv_autograd_links links = { 0 };
    uint64_t id = 0;
    for (uint64_t i = 0; i < flows->table.count; i++)
        if (vv_is_autograd_arrow(writer->model, i))
            put_link(writer, ++id, flows->from_slice[i], flows->to_slice[i]);
    enum varve_code code = vv_autograd_links(writer->model, &links, error);
    for (size_t i = 0; i < links.count && code == VARVE_OK; i++)
        if (!links.items[i].is_drawn)
            put_link(writer, ++id, links.items[i].forward, links.items[i].backward);
    return code;
}

enum varve_code vv_chrome_put_flows(struct vv_chrome_writer *writer, struct varve_error *error)
{
    struct instants instants = { 0 };
    VV_TRY(collect_instants(writer->model, &instants, error));
    put_marked(writer, &instants);
    free(instants.rows);
    return put_backward(writer, error);
}
