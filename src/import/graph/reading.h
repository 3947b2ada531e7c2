/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h — a graph that is being read from a file of any form, and what becomes of it. The
 * reader of a form says what the file says, in its order; vv_graph_reading_end finds the ends of
 * edges, the groups and the ids, and puts the graph into the model.
 *
 * * Ids are texts, as files have them. Only files of this room use this header. Thread-compatible.
 */
#ifndef VV_IMPORT_GRAPH_READING_H
#define VV_IMPORT_GRAPH_READING_H

#include "base/array.h"
#include "graph/dag/members.h"
#include "import/input/format.h"
#include "import/rows/attribute.h"

#define VV_GRAPH_HAS_BEGIN 1u
#define VV_GRAPH_HAS_TIME 2u
#define VV_GRAPH_HAS_COUNT 4u
#define VV_GRAPH_HAS_NAME 8u
#define VV_GRAPH_NEGATIVE 16u
#define VV_GRAPH_HAS_LABEL 32u  /* the name is a label: any other name is better                */
#define VV_GRAPH_HAS_NUMBER 64u /* the id is a number that no other node has                    */

/* What is known of a node beside its row in the dag. */
struct vv_graph_node {
    uint32_t id; /* in ids; VV_NONE = it has none                                               */
    uint8_t flags;
};

/* What a node says that has no column: it becomes an argument of its slice. */
struct vv_graph_other {
    uint32_t row, key;
    struct vv_attribute attribute;
};

struct vv_graph_reading {
    const struct vv_import_job *job;
    struct vv_model *model;
    struct vv_dag dag;    /* until the end: ends and parents are in ids, and all ids are 0      */
    struct vv_intern ids;
    VV_ARRAY_OF(uint32_t) rows;             /* id -> row, or VV_NONE                            */
    VV_ARRAY_OF(struct vv_graph_node) nodes; /* by row                                          */
    VV_ARRAY_OF(struct vv_graph_other) others;
    size_t hints[VV_OF_COUNT];
    uint64_t closed_nodes, closed_edges;    /* rows whose ids are resolved                      */
    uint64_t double_ids, unknown_ends, late_parents, said_kinds;
    bool is_ours;      /* Varve has written it: nothing is guessed                              */
    bool has_all_run;  /* each node is one execution, also without a time                       */
    bool is_order;     /* the edges of other programs are only an order                         */
    bool is_simple;    /* two edges between the same nodes are one                              */
    bool has_bare_unit; /* a time without a unit was taken as ns                                */
};

enum varve_code vv_graph_reading_begin(struct vv_graph_reading *reading,
                                       const struct vv_import_job *job, struct varve_error *error);
void vv_graph_reading_free(struct vv_graph_reading *reading); /* idempotent; a zeroed one, too   */

enum varve_code vv_draft_add_node(struct vv_graph_reading *reading, uint32_t *out_row,
                                  struct varve_error *error);
/* Says a node's id. The first node with an id has it. */
enum varve_code vv_draft_set_id(struct vv_graph_reading *reading, uint32_t row, const char *text,
                                size_t length, struct varve_error *error);
/* The node with the id that other nodes cannot see; added if it is new. */
enum varve_code vv_draft_node_of(struct vv_graph_reading *reading, const char *text, size_t length,
                                 uint32_t *out_row, struct varve_error *error);
/* An edge from and to ids of nodes, which need not be there yet: vv_draft_id. */
enum varve_code vv_draft_id(struct vv_graph_reading *reading, const char *text, size_t length,
                            uint32_t *out_id, struct varve_error *error);
enum varve_code vv_draft_add_edge(struct vv_graph_reading *reading, uint32_t from_id,
                                  uint32_t to_id, uint32_t *out_row, struct varve_error *error);
/* Takes back the newest nodes from `row` on, which the end of the file cuts off, and the edges
 * after `edges`. */
void vv_draft_take_back(struct vv_graph_reading *reading, uint32_t row, uint64_t edges);

/* What a file says of a node or an edge. *out_is_kept is false if no column holds it. */
struct vv_graph_said {
    enum vv_member_of of;
    uint32_t row;
    const char *key, *text; /* the text of the value                                            */
    size_t length;
};
enum varve_code vv_draft_say(struct vv_graph_reading *reading, const struct vv_graph_said *said,
                             bool *out_is_kept, struct varve_error *error);
/* The same for a value that is only a text, at `offset` of the file. What no column holds is kept
 * as an argument, and occurrences are read as JSON. */
enum varve_code vv_draft_say_text(struct vv_graph_reading *reading,
                                  const struct vv_graph_said *said, uint64_t offset,
                                  struct varve_error *error);
enum varve_code vv_draft_keep_other(struct vv_graph_reading *reading, uint32_t row, uint32_t key,
                                    struct vv_attribute attribute, struct varve_error *error);
/* [[step,count,total_ns],…] and [["key","text"],…]; the array's first token was just read. */
enum varve_code vv_draft_read_occurrences(struct vv_graph_reading *reading, uint32_t row,
                                          struct vv_json *json, struct varve_error *error);
enum varve_code vv_draft_read_notes(struct vv_graph_reading *reading, struct vv_json *json,
                                    struct varve_error *error);
/* The same from texts that hold JSON, at `offset` of the file. `is_notes`: then it is ours. */
enum varve_code vv_draft_read_text(struct vv_graph_reading *reading, bool is_notes, uint32_t row,
                                   const char *text, uint64_t offset, struct varve_error *error);

/* A graph of the file is over: ids that come now are those of another one. */
enum varve_code vv_draft_close(struct vv_graph_reading *reading, struct varve_error *error);
/* `code` is that of the reader. VARVE_TRUNCATED: what is there is kept, and the file is counted.
 * Puts the graph into the model, and frees the reading. */
enum varve_code vv_graph_reading_end(struct vv_graph_reading *reading, enum varve_code code,
                                     struct varve_error *error);

/* Slices, flows and the dag tables of the model. to_model.c */
enum varve_code vv_draft_to_model(struct vv_graph_reading *reading, struct varve_error *error);

/* The whole file, NUL-terminated; the caller frees it. *out_is_cut: a compressed file ends early.
 */
enum varve_code vv_draft_read_all(const struct vv_import_job *job, char **out_text,
                                  size_t *out_length, bool *out_is_cut, struct varve_error *error);
/* Reads a graph that is JSON, of any form; the first token comes next. graph_json.c */
enum varve_code vv_draft_read_json(struct vv_graph_reading *reading, struct vv_json *json,
                                   struct varve_error *error);

#endif
