/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h — what a process's trace says of graphs, models and what executes them (doc/format.md
 * §6). Private to import/varve.
 *
 * The process's own stream, with graphs, nodes, edges, plans and models, is read first: graphs.c.
 * Then the threads' streams name them by their numbers: executions.c. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_GRAPHS_H
#define VV_IMPORT_VARVE_RECORDS_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "import/rows/key_map.h"

struct vv_process_reader;
struct vv_record;
struct vv_stream_reader;

struct vv_graph_place {
    uint64_t offset, bytes;
    uint32_t graph, node; /* rows                                                               */
    uint32_t first_use, last_use, device;
    uint32_t plan;        /* which of the graph's plans                                         */
};

struct vv_execution_begun {
    uint32_t execution, slice; /* rows                                                          */
};

struct vv_graphs_said {
    struct vv_key_map graphs, models; /* number to row                                          */
    struct vv_key_map plans;          /* row of a graph to how many plans it had                */
    uint32_t graph, node; /* rows: the last that were added; VV_NONE while none is              */
    VV_ARRAY_OF(char) text; /* of the node: its further texts, up to now                        */
    uint32_t text_kind;   /* enum vv_node_text_kind                                             */
    VV_ARRAY_OF(struct vv_graph_place) places;
    VV_ARRAY_OF(struct vv_execution_begun) executions;
};

/* Actions of process/record.c. */
enum varve_code vv_graph_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error);
enum varve_code vv_node_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error);
enum varve_code vv_node_tensors_read(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error);
enum varve_code vv_node_text_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error);
enum varve_code vv_edge_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error);
enum varve_code vv_placement_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error);
enum varve_code vv_model_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error);
enum varve_code vv_model_event_read(struct vv_stream_reader *stream,
                                    const struct vv_record *record, struct varve_error *error);
enum varve_code vv_execute_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                struct varve_error *error);

/* The row of a node, of a model; VV_NONE if the trace does not have it, which is counted. */
uint32_t vv_node_at(struct vv_process_reader *process, uint32_t graph, uint32_t node);
uint32_t vv_model_at(struct vv_process_reader *process, uint32_t model);

/* When the process's own stream is read: adds what waited for its end. */
enum varve_code vv_graphs_end(struct vv_process_reader *process, struct varve_error *error);
/* When all streams are read and all ranges have ended: says how long executions took. */
void vv_executions_join(struct vv_process_reader *process);
void vv_graphs_said_deinit(struct vv_graphs_said *said); /* idempotent */

#endif
