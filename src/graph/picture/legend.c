/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/picture/legend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 256
#define OWN_LINES (4 + VV_DAG_EDGE_KINDS) /* scale, zero, aside, critical, edges                */

/* ---- lines ---- */

struct maker {
    struct vv_picture *picture;
    struct vv_legend_line *lines;
    char (*texts)[TEXT_BYTES];
    size_t count;
};

static void say(struct maker *maker, enum vv_legend_kind kind, const char *key,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
static void say(struct maker *maker, enum vv_legend_kind kind, const char *key,
                const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(maker->texts[maker->count], TEXT_BYTES, format, values);
    va_end(values);
    maker->lines[maker->count] = (struct vv_legend_line){ .kind = kind, .key = key,
                                                          .text = maker->texts[maker->count] };
    maker->count++;
}

static void say_scale(struct maker *maker)
{
    const struct vv_picture *picture = maker->picture;
    char scale[100];
    vv_picture_scale_text(picture, scale, sizeof scale);
    if (picture->rank_count == 0)
        say(maker, VV_LEGEND_SCALE, "colour", "%s: no node has any", scale);
    else if (picture->is_equal)
        say(maker, VV_LEGEND_SCALE, "colour", "%s: all equal, %s", scale, picture->most_text);
    else
        say(maker, VV_LEGEND_SCALE, "colour", "%s: %s to %s", scale, picture->least_text,
            picture->most_text);
}

/* ---- what the graph has ---- */

/* "1 node", "24 nodes" */
static const char *number(uint64_t count, const char *what, char text[VV_NUMBER_BYTES])
{
    char digits[VV_NUMBER_BYTES - 10];
    vv_number_count(count < INT64_MAX ? (int64_t)count : INT64_MAX, digits, sizeof digits);
    snprintf(text, VV_NUMBER_BYTES, "%s %s%s", digits, what, count == 1 ? "" : "s");
    return text;
}

static void say_nodes(struct maker *maker)
{
    const struct vv_picture *picture = maker->picture;
    const struct vv_dag_nodes *nodes = &picture->dag->nodes;
    uint64_t zeros = 0, aside = 0, critical = 0;
    int64_t critical_ns = 0;
    char text[VV_NUMBER_BYTES], time[VV_NUMBER_BYTES] = "";
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        unsigned class = vv_picture_class(picture, row);
        bool is_drawn = !picture->has_children[row];
        zeros += is_drawn && class == VV_COLOUR_ZERO;
        aside += is_drawn && class == VV_COLOUR_ASIDE;
        critical += is_drawn && (nodes->flags[row] & VV_DAG_CRITICAL) != 0;
        if (is_drawn && nodes->critical_ns[row] > 0 &&
            __builtin_add_overflow(critical_ns, nodes->critical_ns[row], &critical_ns))
            critical_ns = INT64_MAX;
    }
    if (zeros > 0)
        say(maker, VV_LEGEND_ZERO, "grey",
            picture->options.metric == VV_METRIC_MEMORY ? "no memory, or not known: %s"
                                                        : "no time: %s",
            number(zeros, "node", text));
    if (aside > 0)
        say(maker, VV_LEGEND_ASIDE, "dashed outline",
            "time not known, or of what is not shown: %s", number(aside, "node", text));
    if (critical == 0)
        return;
    if (critical_ns > 0)
        vv_number_duration(critical_ns, time, sizeof time);
    say(maker, VV_LEGEND_CRITICAL, "thick outline", "critical path: %s%s%s",
        number(critical, "node", text), time[0] != '\0' ? ", " : "", time);
}

static void say_edges(struct maker *maker)
{
    const struct vv_dag_edges *edges = &maker->picture->dag->edges;
    uint64_t counts[VV_DAG_EDGE_KINDS] = { 0 };
    char text[VV_NUMBER_BYTES];
    for (uint64_t row = 0; row < edges->table.count; row++)
        if (edges->kind[row] < VV_DAG_EDGE_KINDS)
            counts[edges->kind[row]]++;
    for (unsigned kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        if (counts[kind] == 0)
            continue;
        say(maker, VV_LEGEND_EDGE, vv_dag_edge_word((enum vv_dag_edge_kind)kind), "%s: %s",
            vv_strokes[kind].says, number(counts[kind], "edge", text));
        maker->lines[maker->count - 1].edge = (enum vv_dag_edge_kind)kind;
    }
}

enum varve_code vv_legend_make(struct vv_picture *picture, struct varve_error *error)
{
    const struct vv_dag *dag = picture->dag;
    size_t note_count = dag->notes.table.count;
    struct maker maker = { .picture = picture };
    VV_TRY(VV_SCRATCH_ARRAY(&picture->scratch, &maker.lines, OWN_LINES + note_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(&picture->scratch, &maker.texts, OWN_LINES, error));
    say_scale(&maker);
    say_nodes(&maker);
    say_edges(&maker);
    for (size_t row = 0; row < note_count; row++)
        maker.lines[maker.count++] = (struct vv_legend_line){
            .kind = VV_LEGEND_NOTE,
            .key = vv_dag_string(dag, dag->notes.key[row]),
            .text = vv_dag_string(dag, dag->notes.text[row]),
        };
    picture->legend = maker.lines;
    picture->legend_count = maker.count;
    return VARVE_OK;
}
