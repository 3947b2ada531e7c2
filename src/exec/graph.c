/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/graph.h"

#include <errno.h>

#include "base/error.h"
#include "base/system/os.h"
#include "exec/description.h"
#include "exec/graph_records.h"
#include "record/process_folder.h"
#include "record/thread.h"

/* So many items are written at a time: some 0.1 ms with the lock held. */
#define ITEMS_AT_ONCE 512u

struct graph_row {
    uint32_t number;     /* 0 = the row is free                                                 */
    uint32_t root;       /* number of the outermost graph                                       */
    uint32_t graphs;     /* of an outermost graph: with its subgraphs                           */
    uint32_t node_count;
    uint8_t *bytes;      /* of an outermost graph: graph_bytes.h                                */
    size_t size;
    struct varve_placement *placements;
    size_t placement_count;
    /* Of an outermost graph: how far its records are in the session of this serial; 0 = none. */
    uint32_t serial;
    bool is_whole;
    struct vv_graph_progress progress;
};

uint64_t *vv_graph_ready;
static struct graph_row *rows;
static uint32_t last_number;
static uint32_t open_root; /* the last graph whose records have begun                            */

static struct graph_row *row_at(uint32_t graph)
{
    return &rows[graph % VARVE_GRAPHS_MAX];
}

bool vv_graph_is_there(uint32_t graph)
{
    return graph != 0 && rows != NULL && row_at(graph)->number == graph;
}

const char *vv_graph_name(uint32_t graph)
{
    const struct graph_row *root = row_at(row_at(graph)->root);
    struct vv_graph_cursor cursor = { root->bytes, 0 };
    struct vv_item_graph item;
    (void)vv_graph_next(&cursor);
    vv_graph_read_graph(&cursor, &item);
    return item.name;
}

/* ---- records ---- */

/* Writes some of the records of the graph and its subgraphs. *out_is_whole says whether that were
 * the last. False: there is no session. Lock held. */
static bool write_some(struct graph_row *root, bool *out_is_whole)
{
    if (!vv_process_folder_ensure())
        return false;
    if (root->serial != vv_session.serial) {
        root->serial = vv_session.serial;
        root->is_whole = false;
        root->progress = (struct vv_graph_progress){ .cursor.bytes = root->bytes,
                                                     .root = root->number };
    }
    if (!root->is_whole) {
        root->is_whole = vv_graph_records_write(&root->progress, ITEMS_AT_ONCE);
        for (uint32_t g = 0; g < root->graphs && root->is_whole; g++) {
            const struct graph_row *row = row_at(root->number + g);
            vv_placement_records_write(row->number, row->placements, row->placement_count,
                                       &root->progress);
        }
        if (root->progress.lost != 0)
            vv_thread_discard(&vv_self, root->progress.lost);
        root->progress.lost = 0;
    }
    *out_is_whole = root->is_whole;
    return true;
}

/* Records of one graph and its subgraphs follow each other. So a graph waits for another whose
 * records have begun, and helps to write them. */
static struct graph_row *next_to_write(struct graph_row *root)
{
    struct graph_row *open = vv_graph_is_there(open_root) ? row_at(open_root) : NULL;
    return open != NULL && !open->is_whole && open->serial == vv_session.serial ? open : root;
}

/* True: call again. */
static bool meet_some(uint32_t graph)
{
    bool is_whole = true;
    if (!vv_recorder_lock())
        return false;
    struct graph_row *root = vv_graph_is_there(graph) ? row_at(row_at(graph)->root) : NULL,
                     *next = root != NULL ? next_to_write(root) : NULL;
    if (next != NULL)
        open_root = next->number;
    if (next != NULL && write_some(next, &is_whole) && next != root)
        is_whole = false;
    else if (root != NULL && root->is_whole && root->serial == vv_session.serial)
        __atomic_store_n(&vv_graph_ready[graph % VARVE_GRAPHS_MAX],
                         (uint64_t)graph << 32 | vv_session.serial, __ATOMIC_RELEASE);
    vv_recorder_unlock();
    return !is_whole;
}

void vv_graph_meet(uint32_t graph)
{
    while (meet_some(graph)) {
    }
}

/* ---- registration ---- */

static bool make_table(void)
{
    if (rows == NULL)
        rows = vv_os_reserve(VARVE_GRAPHS_MAX * sizeof *rows);
    if (vv_graph_ready == NULL && rows != NULL)
        __atomic_store_n(&vv_graph_ready, vv_os_reserve(VARVE_GRAPHS_MAX * sizeof *vv_graph_ready),
                         __ATOMIC_RELEASE);
    return vv_graph_ready != NULL;
}

/* The first of `count` numbers that follow each other and whose rows are free; 0: there are
 * none. */
static uint32_t find_numbers(uint32_t count)
{
    uint32_t run = 0, number = last_number;
    for (uint32_t tried = 0; tried < 2 * VARVE_GRAPHS_MAX; tried++) {
        number++;
        run = number == 0 || row_at(number)->number != 0 ? 0 : run + 1;
        if (run == count)
            return number - count + 1;
    }
    return 0;
}

/* A graph that has no number yet. */
struct kept {
    uint8_t *bytes;
    size_t size;
    uint32_t *node_counts; /* of each graph                                                     */
    uint32_t graphs;
};

/* Fills the rows of the graph and its subgraphs. A row is there when its number is stored. */
static void fill_rows(uint32_t number, const struct kept *kept)
{
    for (uint32_t g = kept->graphs; g > 0; g--) {
        struct graph_row *row = row_at(number + g - 1);
        *row = (struct graph_row){ .root = number, .node_count = kept->node_counts[g - 1] };
        if (g == 1) {
            row->graphs = kept->graphs;
            row->bytes = kept->bytes;
            row->size = kept->size;
        }
        __atomic_store_n(&row->number, number + g - 1, __ATOMIC_RELEASE);
    }
    last_number = number + kept->graphs - 1;
}

static enum varve_code add(const struct kept *kept, uint32_t *out_graph, struct varve_error *error)
{
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE,
                "varve_graph_register: called by a signal handler inside a call of Varve's");
    bool has_table = make_table();
    uint32_t number = has_table ? find_numbers(kept->graphs) : 0;
    if (number != 0)
        fill_rows(number, kept);
    vv_recorder_unlock();
    if (!has_table)
        VV_FAIL(error, VARVE_NO_MEMORY, "varve_graph_register: no memory for the table of graphs");
    if (number == 0)
        VV_FAIL(error, VARVE_LIMIT, "varve_graph_register: at most %u graphs at the same time",
                VARVE_GRAPHS_MAX);
    *out_graph = number;
    return VARVE_OK;
}

static enum varve_code keep(const struct varve_graph_info *info, struct kept *kept,
                            uint32_t *out_graph, struct varve_error *error)
{
    if (kept->bytes == NULL || kept->node_counts == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "varve_graph_register: no memory: %zu bytes", kept->size);
    if (!vv_graph_bytes_write(info, kept->bytes, kept->size, kept->node_counts, kept->graphs))
        VV_FAIL(error, VARVE_INVALID,
                "varve_graph_register: the graph changed while it was registered");
    return add(kept, out_graph, error);
}

static enum varve_code register_graph(const struct varve_graph_info *info, uint32_t *out_graph,
                                      struct varve_error *error)
{
    struct kept kept = { 0 };
    VV_TRY(vv_description_check(info, error));
    kept.size = vv_graph_bytes_count(info, &kept.graphs);
    size_t counts_bytes = kept.graphs * sizeof *kept.node_counts;
    kept.bytes = vv_os_reserve(kept.size);
    kept.node_counts = vv_os_reserve(counts_bytes);
    enum varve_code code = keep(info, &kept, out_graph, error);
    if (kept.node_counts != NULL)
        vv_os_unmap(kept.node_counts, counts_bytes);
    if (kept.bytes != NULL && code != VARVE_OK)
        vv_os_unmap(kept.bytes, kept.size);
    return code;
}

VARVE_API enum varve_code varve_graph_register(const struct varve_graph_info *info,
                                               uint32_t *out_graph, struct varve_error *error)
{
    int saved_errno = errno;
    *out_graph = 0;
    enum varve_code code = register_graph(info, out_graph, error);
    if (code == VARVE_OK && varve_layers() != 0)
        vv_graph_meet(*out_graph);
    errno = saved_errno;
    return code;
}

static void free_placements(struct graph_row *row)
{
    if (row->placements != NULL)
        vv_os_unmap(row->placements, row->placement_count * sizeof *row->placements);
    row->placements = NULL;
    row->placement_count = 0;
}

VARVE_API void varve_graph_unregister(uint32_t graph)
{
    int saved_errno = errno;
    if (!vv_recorder_lock())
        return;
    if (vv_graph_is_there(graph) && row_at(graph)->root == graph) {
        struct graph_row root = *row_at(graph);
        for (uint32_t g = graph; g < graph + root.graphs; g++) {
            __atomic_store_n(&vv_graph_ready[g % VARVE_GRAPHS_MAX], 0, __ATOMIC_RELEASE);
            __atomic_store_n(&row_at(g)->number, 0, __ATOMIC_RELEASE);
            free_placements(row_at(g));
        }
        vv_os_unmap(root.bytes, root.size);
    }
    vv_recorder_unlock();
    errno = saved_errno;
}

/* ---- static memory plans ---- */

/* The structs of a program may be longer than ours; all are as long as the first. */
static const struct varve_placement *placement_at(const struct varve_placement *placements,
                                                  size_t index)
{
    return (const struct varve_placement *)(const void *)((const char *)placements +
                                                          index * placements->struct_size);
}

static enum varve_code check_placements(const struct varve_placement *placements, size_t count,
                                        uint32_t node_count, struct varve_error *error)
{
    if (count > 0 && placements == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_graph_place: %zu placements, and no array", count);
    if (count > UINT32_MAX)
        VV_FAIL(error, VARVE_LIMIT, "varve_graph_place: %zu placements", count);
    for (size_t i = 0; i < count; i++) {
        const struct varve_placement *placed = placement_at(placements, i);
        const char *wrong = placed->struct_size < sizeof *placed ||
                                    placed->struct_size != placements->struct_size
                                ? "its struct_size is too small, or not that of the first"
                            : placed->node >= node_count         ? "there is no such node"
                            : placed->first_use > placed->last_use
                                ? "its last use is before its first"
                                : NULL;
        if (wrong != NULL)
            VV_FAIL(error, VARVE_INVALID, "varve_graph_place: placement %zu, of node %u: %s", i,
                    placed->node, wrong);
    }
    return VARVE_OK;
}

/* Lock held. */
static enum varve_code place(uint32_t graph, const struct varve_placement *placements,
                             size_t count, struct varve_error *error)
{
    struct varve_placement *copy = NULL;
    if (!vv_graph_is_there(graph))
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_graph_place: there is no graph %u", graph);
    struct graph_row *row = row_at(graph), *root = row_at(row->root);
    VV_TRY(check_placements(placements, count, row->node_count, error));
    if (count > 0 && (copy = vv_os_reserve(count * sizeof *copy)) == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "varve_graph_place: no memory for %zu placements", count);
    for (size_t i = 0; i < count; i++)
        copy[i] = *placement_at(placements, i);
    free_placements(row);
    row->placements = copy;
    row->placement_count = count;
    if (root->is_whole && root->serial == vv_session.serial && vv_process_folder_ensure()) {
        vv_placement_records_write(graph, copy, count, &root->progress);
        if (root->progress.lost != 0)
            vv_thread_discard(&vv_self, root->progress.lost);
        root->progress.lost = 0;
    }
    return VARVE_OK;
}

VARVE_API enum varve_code varve_graph_place(uint32_t graph,
                                            const struct varve_placement *placements,
                                            size_t count, struct varve_error *error)
{
    int saved_errno = errno;
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE,
                "varve_graph_place: called by a signal handler inside a call of Varve's");
    enum varve_code code = place(graph, placements, count, error);
    vv_recorder_unlock();
    errno = saved_errno;
    return code;
}
