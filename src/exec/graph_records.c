/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/graph_records.h"

#include <stdio.h>
#include <string.h>

#include "ctf/layout.h"
#include "record/stream/process_stream.h"
#include "record/string.h"
#include "varve/exec.h"

#define TEXT_WORDS ((VARVE_GRAPH_NAME_BYTES + 7) / 8)
#define TENSORS_A_RECORD 8u
#define CONTEXT_BYTES 11u /* ",4294967295" */

static void put(struct vv_graph_progress *progress, const uint64_t *words, size_t count)
{
    progress->lost += !vv_process_stream_put(words, count);
}

static uint32_t string_of(struct vv_graph_progress *progress, const char *text)
{
    if (*text == '\0')
        return 0;
    uint32_t id = vv_string_id(text);
    progress->lost += id == 0;
    return id;
}

static uint64_t halves(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static void write_graph(struct vv_graph_progress *progress)
{
    struct vv_item_graph item;
    vv_graph_read_graph(&progress->cursor, &item);
    progress->graph = progress->graph == 0 ? progress->root : progress->graph + 1;
    progress->node = 0;
    uint32_t parent = item.parent == 0 ? 0 : progress->root + item.parent - 1;
    const uint64_t record[] = { VV_EVENT_GRAPH,
                                halves(progress->graph, string_of(progress, item.name)),
                                halves(parent, item.parent_node), item.node_count,
                                (uint64_t)item.graph_id, item.edge_count };
    put(progress, record, sizeof record / sizeof *record);
}

/* A text of a node with `kind`. */
static void write_text(struct vv_graph_progress *progress, enum vv_node_text_kind kind,
                       const char *text)
{
    uint64_t record[3 + TEXT_WORDS] = { VV_EVENT_NODE_TEXT };
    size_t length = strlen(text), words = (length + 7) / 8;
    const struct vv_node_text_payload head = { progress->graph, (uint32_t)words * 8,
                                               progress->node, kind };
    memcpy(record + 1, &head, sizeof head);
    memcpy(record + 3, text, length);
    put(progress, record, 3 + words);
}

static void write_tensors(struct vv_graph_progress *progress, uint32_t count)
{
    uint64_t record[3 + TENSORS_A_RECORD * (sizeof(struct vv_node_tensor) / 8 + 16)] = {
        VV_EVENT_NODE_TENSORS, halves(progress->graph, progress->node), count
    };
    size_t words = 3;
    for (uint32_t i = 0; i < count; i++) {
        struct vv_item_tensor item;
        vv_graph_read_tensor(&progress->cursor, &item);
        const struct vv_node_tensor tensor = { .side = (uint8_t)item.side,
                                               .dtype = (uint8_t)item.dtype, .rank = item.rank,
                                               .format = string_of(progress, item.format),
                                               .identity = item.identity };
        memcpy(record + words, &tensor, sizeof tensor);
        words += sizeof tensor / 8;
        memcpy(record + words, item.dims, 8 * (size_t)item.rank);
        words += item.rank;
    }
    put(progress, record, words);
}

static void write_contexts(struct vv_graph_progress *progress, uint32_t count)
{
    char text[VARVE_GRAPH_NAME_BYTES + 1] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned context = (unsigned)vv_graph_read_number(&progress->cursor);
        if (used + CONTEXT_BYTES >= sizeof text) {
            write_text(progress, VV_NODE_CONTEXTS, text);
            used = 0;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", used > 0 ? "," : "",
                                 context);
    }
    write_text(progress, VV_NODE_CONTEXTS, text);
}

static void write_node(struct vv_graph_progress *progress)
{
    struct vv_item_node item;
    vv_graph_read_node(&progress->cursor, &item);
    uint64_t record[1 + sizeof(struct vv_node_payload) / 8 + TEXT_WORDS] = { VV_EVENT_NODE };
    size_t length = strlen(item.name), words = (length + 7) / 8;
    const struct vv_node_payload head = {
        .graph = progress->graph, .length = (uint32_t)words * 8, .node = progress->node,
        .type = string_of(progress, item.type),
        .framework_type = string_of(progress, item.framework_type), .task_type = item.task_type,
        .block_dim = item.block_dim, .mix_block_dim = item.mix_block_dim,
        .parent_input = item.parent_input, .stream = item.stream, .flop = item.flop,
        .bytes = item.bytes,
    };
    memcpy(record + 1, &head, sizeof head);
    memcpy(record + 1 + sizeof head / 8, item.name, length);
    put(progress, record, 1 + sizeof head / 8 + words);
    for (uint32_t done = 0; done < item.tensor_count; done += TENSORS_A_RECORD) {
        uint32_t rest = item.tensor_count - done;
        write_tensors(progress, rest < TENSORS_A_RECORD ? rest : TENSORS_A_RECORD);
    }
    for (uint32_t i = 0; i < item.origin_count; i++)
        write_text(progress, VV_NODE_ORIGIN, vv_graph_read_text(&progress->cursor));
    if (item.context_count > 0)
        write_contexts(progress, item.context_count);
    progress->node++;
}

static void write_edge(struct vv_graph_progress *progress)
{
    struct vv_item_edge item;
    vv_graph_read_edge(&progress->cursor, &item);
    const uint64_t record[] = { VV_EVENT_EDGE, halves(progress->graph, item.from_node),
                                halves(item.from_output, item.to_node), item.to_input };
    put(progress, record, sizeof record / sizeof *record);
}

bool vv_graph_records_write(struct vv_graph_progress *progress, uint32_t items)
{
    for (; items > 0; items--) {
        switch (vv_graph_next(&progress->cursor)) {
        case VV_ITEM_GRAPH:
            write_graph(progress);
            break;
        case VV_ITEM_NODE:
            write_node(progress);
            break;
        case VV_ITEM_EDGE:
            write_edge(progress);
            break;
        default:
            return true;
        }
    }
    return false;
}

void vv_placement_records_write(uint32_t graph, const struct varve_placement *placements,
                                size_t count, struct vv_graph_progress *progress)
{
    for (size_t i = 0; i < count; i++) {
        const struct varve_placement *placed = &placements[i];
        const uint64_t record[] = { VV_EVENT_PLACEMENT, halves(graph, placed->node),
                                    halves(placed->first_use, placed->last_use),
                                    halves(placed->device, (uint32_t)i), placed->offset,
                                    placed->bytes };
        put(progress, record, sizeof record / sizeof *record);
    }
}
