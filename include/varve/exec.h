/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h — says which node of which graph runs, for programs that execute graphs.
 *
 * A runtime registers a graph once (varve/graph.h says how a graph is described). From then on a
 * record names a node by two numbers; name, type, tensors and the rest come from the graph:
 *
 *     varve_graph_register(&graph_info, &graph, &error);
 *
 *     varve_model_load_begin(&model_info, &model, &error);  a range: how long loading takes
 *     …
 *     varve_model_load_end(model);
 *
 *     varve_model_begin(model, step);                       an execution of the model
 *         varve_execute_begin(graph, node);                 an operator runs on this thread
 *             varve_launch(42);                             it starts work 42 (varve/device.h)
 *         varve_execute_end(graph, node);
 *     varve_model_end(model);
 *     …
 *     varve_activity(&activity_info);                       later: the device did work 42
 *
 *     varve_model_unload(model);
 *     varve_graph_unregister(graph);
 *
 * Begins and ends are ranges like those of varve_begin and varve_end: they nest on their thread.
 * What a node launches and allocates belongs to it by these ranges and by numbers, never by time.
 * If the device runs a whole graph by itself, varve_task says which node each piece of work is of.
 *
 * Graphs and models last until they are unregistered and unloaded, through all sessions; forked
 * children have them too. Each session that uses a graph has its records. The numbers of graphs and
 * models are the library's, from 1 on, and 0 is none; the runtime's own numbers are recorded beside
 * them. Every function is thread-safe. None exits, prints, blocks on a device or changes errno.
 * Functions with an error parameter are not for signal handlers, the others are. */
#ifndef VARVE_EXEC_H
#define VARVE_EXEC_H

#include "varve/device.h"
#include "varve/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- graphs ---- */

#define VARVE_GRAPHS_MAX 16384u        /* registered at the same time, with subgraphs            */
#define VARVE_GRAPH_NAME_BYTES 1023u   /* of each name that is kept                              */
#define VARVE_NODE_TENSORS_MAX 65535u
#define VARVE_NODE_CONTEXTS_MAX 4096u
#define VARVE_GRAPH_DEPTH_MAX 16u      /* levels of subgraphs                                    */

/* Copies the graph. *out_graph is its number, and 0 after a failure. Its subgraphs get the numbers
 * that follow: in the order of nodes, and of each node's subgraphs, each directly followed by its
 * own. VARVE_INVALID: the description is wrong (the error says which node, and what is wrong with
 * it); or the graph has a circle, whose nodes the error names. Edges of control count for circles,
 * too. VARVE_LIMIT: a number above is exceeded. VARVE_NO_MEMORY. VARVE_STATE: called from a signal
 * handler, inside a call of Varve's. */
VARVE_API enum varve_code varve_graph_register(const struct varve_graph_info *info,
                                               uint32_t *out_graph, struct varve_error *error);

/* Forgets the graph and its subgraphs, and frees their memory. What was recorded stays. The numbers
 * are not used again. Unknown numbers, and those of subgraphs, are ignored. */
VARVE_API void varve_graph_unregister(uint32_t graph);

/* ---- static memory plans ---- */

#define VARVE_USE_TO_END UINT32_MAX /* the buffer is in use up to the end of the graph          */

/* A buffer in a plan that was made before the graph runs. */
struct varve_placement {
    uint32_t struct_size; /* sizeof(struct varve_placement)                                    */
    uint32_t node;        /* that writes the buffer                                            */
    uint32_t device;      /* VARVE_DEVICE(kind, index)                                         */
    uint32_t reserved;    /* 0                                                                 */
    uint64_t offset;      /* in its device's arena, in bytes                                   */
    uint64_t bytes;
    uint32_t first_use;   /* numbers of nodes of this graph: the first that uses the buffer …  */
    uint32_t last_use;    /* … and the last; or VARVE_USE_TO_END                               */
    /* end of ABI 0 */
};
#define VARVE_PLACEMENT_INIT \
    { (uint32_t)sizeof(struct varve_placement), 0, VARVE_DEVICE_CPU, 0, 0, 0, 0, VARVE_USE_TO_END }

/* Keeps `count` placements as the graph's plan, in place of its former plan; they are copied.
 * `varve memory` shows the plan and its conflicts. VARVE_NOT_FOUND: there is no such graph.
 * VARVE_INVALID: which placement, and what is wrong with it. VARVE_NO_MEMORY, VARVE_STATE: as
 * above. */
VARVE_API enum varve_code varve_graph_place(uint32_t graph,
                                            const struct varve_placement *placements,
                                            size_t count, struct varve_error *error);

/* ---- models: graphs that are loaded to be executed ---- */

#define VARVE_MODELS_MAX 4096u /* loaded at the same time                                       */
#define VARVE_MODEL_NAME_BYTES 127u

struct varve_model_info {
    uint32_t struct_size; /* sizeof(struct varve_model_info)                                   */
    uint32_t graph;       /* that it executes; 0 = not known                                   */
    const char *name;     /* UTF-8; copied; NULL = the graph's name                            */
    int64_t model_id;     /* the runtime's own numbers; -1 = none                              */
    int64_t session_id;
    /* end of ABI 0 */
};
#define VARVE_MODEL_INFO_INIT { (uint32_t)sizeof(struct varve_model_info), 0, NULL, -1, -1 }

/* Adds a model, and begins the range of its loading on the calling thread, of layer RUNTIME.
 * *out_model is its number, and 0 after a failure; then there is no range. VARVE_INVALID,
 * VARVE_NOT_FOUND (the graph), VARVE_LIMIT, VARVE_NO_MEMORY, VARVE_STATE: as above. */
VARVE_API enum varve_code varve_model_load_begin(const struct varve_model_info *info,
                                                 uint32_t *out_model, struct varve_error *error);
/* Ends the range of the loading, on the thread that began it. */
VARVE_API void varve_model_load_end(uint32_t model);
/* Forgets the model. Its number is not used again. Unknown numbers are ignored. */
VARVE_API void varve_model_unload(uint32_t model);

/* ---- what executors tell, and who hears it ---- */

/* The kinds of events, and bits of a mask of them. */
#define VARVE_EXECUTOR_LOAD_BEGIN 0x01u
#define VARVE_EXECUTOR_LOAD_END 0x02u
#define VARVE_EXECUTOR_UNLOAD 0x04u
#define VARVE_EXECUTOR_MODEL_BEGIN 0x08u
#define VARVE_EXECUTOR_MODEL_END 0x10u
#define VARVE_EXECUTOR_EXECUTE_BEGIN 0x20u
#define VARVE_EXECUTOR_EXECUTE_END 0x40u
#define VARVE_EXECUTOR_ALL 0x7fu

struct varve_executor_event {
    uint32_t struct_size; /* sizeof(struct varve_executor_event)                               */
    uint32_t kind;        /* one VARVE_EXECUTOR_                                                  */
    uint32_t model;       /* 0 for events of a node                                            */
    uint32_t graph;       /* 0 for events of a model without a graph                           */
    uint32_t node;        /* of an event of a node                                             */
    uint32_t reserved;
    int64_t step;         /* of VARVE_EXECUTOR_MODEL_BEGIN                                        */
    /* end of ABI 0 */
};

typedef void (*varve_executor_callback)(void *context, const struct varve_executor_event *event);

#define VARVE_SUBSCRIBERS_MAX 32u

/* From now on `callback` is called for the events of the mask, on the thread that tells of them,
 * whether or not anything is recorded: before the range of a begin begins, and after the range of
 * an end has ended. It may be called by several threads at once. *out_subscriber is not 0.
 * VARVE_INVALID: no callback, or no such events. VARVE_LIMIT: VARVE_SUBSCRIBERS_MAX are there.
 * VARVE_STATE: as above. */
VARVE_API enum varve_code varve_subscriber_add(uint32_t events, varve_executor_callback callback,
                                               void *context, uint32_t *out_subscriber,
                                               struct varve_error *error);
/* The callback is not called again, and when this returns it runs on no thread. Two calls do not
 * wait for threads that are just inside the callback: one made by a callback, and one made in a
 * forked child for a subscriber of its parent's. Unknown numbers are ignored. Not from signal
 * handlers. */
VARVE_API void varve_subscriber_remove(uint32_t subscriber);

/* The mask of events that somebody hears. Only the library writes it. */
#if defined(VARVE_DISABLE)
static inline uint32_t varve_executor_events(void)
{
    return 0;
}
#elif defined(VARVE_WEAK)
extern __attribute__((weak, visibility("hidden"))) const uint32_t *varve_weak_heard_;
static inline uint32_t varve_executor_events(void)
{
    if (VARVE_PAGE_ == NULL || varve_weak_heard_ == NULL)
        return 0;
    return __atomic_load_n(varve_weak_heard_, __ATOMIC_RELAXED);
}
#else
extern VARVE_API uint32_t varve_executor_heard;
static inline uint32_t varve_executor_events(void)
{
    return __atomic_load_n(&varve_executor_heard, __ATOMIC_RELAXED);
}
#endif

/* ---- executions ---- */

VARVE_API VARVE_DIRECT void varve_emit_model_begin(uint32_t model, int64_t step);
VARVE_API VARVE_DIRECT void varve_emit_model_end(uint32_t model);
VARVE_API VARVE_DIRECT void varve_emit_execute_begin(uint32_t graph, uint32_t node);
VARVE_API VARVE_DIRECT void varve_emit_execute_end(uint32_t graph, uint32_t node);

/* An execution of a model begins on the calling thread: a range of layer RUNTIME. `step` is the
 * executor's own number of it. */
static inline void varve_model_begin(uint32_t model, int64_t step)
{
    if (VARVE_UNLIKELY((varve_layers() | varve_executor_events()) != 0))
        varve_emit_model_begin(model, step);
}
static inline void varve_model_end(uint32_t model)
{
    if (VARVE_UNLIKELY((varve_layers() | varve_executor_events()) != 0))
        varve_emit_model_end(model);
}

/* The calling thread executes a node: a range of layer OP. Numbers that no graph has are recorded
 * as they are; readers count them. */
static inline void varve_execute_begin(uint32_t graph, uint32_t node)
{
    if (VARVE_UNLIKELY((varve_layers() | varve_executor_events()) != 0))
        varve_emit_execute_begin(graph, node);
}
static inline void varve_execute_end(uint32_t graph, uint32_t node)
{
    if (VARVE_UNLIKELY((varve_layers() | varve_executor_events()) != 0))
        varve_emit_execute_end(graph, node);
}

/* ---- device work that no range of the host started ---- */

struct varve_task_info {
    uint32_t struct_size; /* sizeof(struct varve_task_info)                                    */
    uint32_t graph;       /* of the node; 0 = none                                             */
    uint32_t node;
    uint32_t model;       /* whose execution it is part of; 0 = not known                      */
    int64_t step;         /* the execution's number; -1 = not known                            */
    /* end of ABI 0 */
};
#define VARVE_TASK_INFO_INIT { (uint32_t)sizeof(struct varve_task_info), 0, 0, 0, -1 }

VARVE_API VARVE_DIRECT void varve_emit_task(const struct varve_activity_info *info,
                                            const struct varve_task_info *task);

/* Like varve_activity, and says which node and which execution the work belongs to: for a model
 * that was loaded once, and whose tasks the device starts by itself. A name of NULL is the node's.
 * Not from signal handlers. */
static inline void varve_task(const struct varve_activity_info *info,
                              const struct varve_task_info *task)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_task(info, task);
}

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_EXEC 1
#include "varve/unlinked.h"
#endif
#endif
