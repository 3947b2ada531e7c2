/* SPDX-License-Identifier: Apache-2.0 */
/* building.h — a graph while it is made: what the files of graph/build share.
 *
 * Nodes come first. Then every slice has a `holder`: its own node, or that of the innermost slice
 * around it that has one. Arrows of the trace end at holders. Thread-compatible. */
#ifndef VV_GRAPH_BUILD_BUILDING_H
#define VV_GRAPH_BUILD_BUILDING_H

#include "derive/devices/device_work.h"
#include "derive/select/scope.h"
#include "derive/select/traits.h"
#include "graph/build/build.h"
#include "meaning/host_role.h"

struct vv_graph_building {
    const struct vv_model *model;       /* borrowed, as is the question                          */
    const struct vv_question *question;
    struct vv_scratch *scratch;
    struct vv_dag *dag;
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_traits traits;
    struct vv_host_roles roles;
    uint32_t *holder;       /* slice -> node; VV_NONE: nothing around it has a node               */
    uint32_t *slice_of;     /* node -> slice; VV_NONE: the node is no slice                       */
    size_t slice_capacity;
    uint32_t *text_of;      /* string of the model -> string of the graph + 1; 0 = not yet        */
    uint32_t *where_of;     /* track -> string of the graph + 1                                   */
    uint32_t *input_of, *output_of; /* string of the model, of shapes -> strings of the graph + 1 */
    uint32_t *outside_of;   /* track -> its node OUTSIDE; VV_NONE                                */
    bool *chosen;           /* slice -> it gets a node, for a graph that chooses its slices      */
    bool has_ranks;         /* names of tracks have their rank                                    */
    unsigned wanted;        /* bit 1 << enum vv_dag_edge_kind: the question's edges               */
    uint64_t edges[VV_DAG_EDGE_KINDS];  /* edges made                                             */
    uint64_t backward[VV_DAG_EDGE_KINDS]; /* left out: they lead back in time                     */
    const char *unknown[VV_DAG_EDGE_KINDS]; /* why there are none; a static text                  */
};

/* One of the graphs that can be asked for. Its function makes nodes, edges and notes. */
struct vv_graph_kind {
    const char *word; /* as in question.of                                                      */
    unsigned edges;   /* bits 1 << enum vv_dag_edge_kind, if the question names none            */
    bool follows_time; /* only clocks that contradict each other can make a cycle                */
    enum varve_code (*build)(struct vv_graph_building *building, struct varve_error *error);
};

/* ---- nodes: nodes.c, node_texts.c ---- */

/* Which slices of the host get a node. */
typedef bool vv_graph_draws(const struct vv_graph_building *building, uint32_t slice);

/* A node for each slice of the chosen threads that `draws` names (NULL: every slice), and one of
 * kind OUTSIDE for each thread with steps. */
enum varve_code vv_graph_host_nodes(struct vv_graph_building *building, vv_graph_draws *draws,
                                    struct varve_error *error);
/* A node for each piece of chosen device work, and for each of a device's own waits. */
enum varve_code vv_graph_device_nodes(struct vv_graph_building *building,
                                      struct varve_error *error);
/* Fills `holder`. Call when all slices have their nodes. */
void vv_graph_find_holders(struct vv_graph_building *building);
/* memory_bytes; flop and bytes that the program does not say. Both come after the holders. */
void vv_graph_add_memory(struct vv_graph_building *building);
enum varve_code vv_graph_add_costs(struct vv_graph_building *building, struct varve_error *error);

enum varve_code vv_graph_add_slice_node(struct vv_graph_building *building, uint32_t slice,
                                        enum vv_dag_kind kind, int64_t self_ns,
                                        uint32_t *out_node, struct varve_error *error);
/* A text of the model in the graph. */
enum varve_code vv_graph_text(struct vv_graph_building *building, uint32_t string,
                              uint32_t *out_text, struct varve_error *error);
/* The name of a track for people, with its rank where there are several. */
enum varve_code vv_graph_where(struct vv_graph_building *building, uint32_t track,
                               uint32_t *out_text, struct varve_error *error);
/* The two halves of ops.shapes. */
enum varve_code vv_graph_shapes(struct vv_graph_building *building, uint32_t shapes,
                                uint32_t *out_inputs, uint32_t *out_outputs,
                                struct varve_error *error);

/* "[8,4] f32", and how many bytes it has; 0 = not known. */
enum varve_code vv_graph_tensor(struct vv_graph_building *building, uint32_t tensor,
                                uint32_t *out_text, uint64_t *out_bytes, struct varve_error *error);

/* ---- edges ---- */

static inline bool vv_graph_wants(const struct vv_graph_building *building,
                                  enum vv_dag_edge_kind kind)
{
    return (building->wanted & 1u << kind) != 0;
}

/* The node of a slice or of what is around it; VV_NONE for VV_NONE. */
static inline uint32_t vv_graph_holder(const struct vv_graph_building *building, uint32_t slice)
{
    return slice != VV_NONE ? building->holder[slice] : VV_NONE;
}

/* Adds an edge. Does nothing if an end is VV_NONE or both are the same. An edge to a node that
 * begins before the other (edges of kind SYNC: that ends before it) is left out and counted. */
enum varve_code vv_graph_edge(struct vv_graph_building *building, uint32_t from, uint32_t to,
                              enum vv_dag_edge_kind kind, uint32_t name,
                              struct varve_error *error);

enum varve_code vv_graph_nesting_edges(struct vv_graph_building *building,
                                       struct varve_error *error);
enum varve_code vv_graph_flow_edges(struct vv_graph_building *building,
                                    struct varve_error *error);
enum varve_code vv_graph_stream_edges(struct vv_graph_building *building,
                                      struct varve_error *error);
enum varve_code vv_graph_data_edges(struct vv_graph_building *building,
                                    struct varve_error *error);
enum varve_code vv_graph_sync_edges(struct vv_graph_building *building,
                                    struct varve_error *error);
/* Comes after all others: an edge to each node that no other edge leads to. */
enum varve_code vv_graph_order_edges(struct vv_graph_building *building,
                                     struct varve_error *error);

/* Applies the question's selection to the graph of a file: selection.c. */
enum varve_code vv_graph_choose(struct vv_graph_building *building, struct varve_error *error);

/* Marks what is on the critical path: critical.c. */
enum varve_code vv_graph_mark_critical(struct vv_graph_building *building,
                                       struct varve_error *error);

#endif
