/* SPDX-License-Identifier: Apache-2.0 */
/* process.h — one process folder of a trace being read into the model; private to the varve
 * reader (varve*.c).
 *
 * Order of work (varve/process.c): where the threads' packets lie, then the same of the process's own
 * stream, then metadata; then its own stream is decoded, which gives strings and pauses, then each
 * thread; in the end what needs all threads: open ranges, asynchronous ranges, flows.
 * Thread-compatible. */
#ifndef VV_IMPORT_VARVE_PROCESS_H
#define VV_IMPORT_VARVE_PROCESS_H

#include "base/array.h"
#include "ctf/layout.h"
#include "import/rows/key_map.h"
#include "import/rows/list_cache.h"
#include "import/varve/metadata.h"
#include "import/varve/packets.h"
#include "import/varve/timeline.h"
#include "model/model.h"

/* What a record makes the reader do. The built-in classes' actions are their ids. */
enum vv_action {
    VV_ACTION_UNDECLARED = VV_EVENT_NONE,
    VV_ACTION_SITE = 48,     /* + enum vv_site_kind                                             */
    VV_ACTION_PASS = 56,     /* a class of a later version: its fields are measured             */
    VV_ACTION_UNSIZED = 57   /* … and cannot be                                                 */
};
_Static_assert((int)VV_EVENT_BUILTIN_COUNT <= VV_ACTION_SITE, "one action each");

struct vv_event_class {
    uint32_t name;    /* string of the model                                                    */
    uint32_t source;  /* row in sources; 0 = none                                               */
    uint32_t row;     /* in metadata->classes                                                   */
    uint16_t layer;
    uint8_t action;   /* enum vv_action                                                         */
    uint8_t words : 4;      /* of the whole record; 0 = the record itself says                  */
    uint8_t plain_ends : 1, plain_begins : 1; /* all that it does: varve/ranges.h               */
};

/* Strings, and an enum vv_collector_state. */
struct vv_collector { uint32_t name, state, text; };
struct vv_pause { uint64_t ticks; int64_t time_ns; };
struct vv_sample { int64_t time_ns; uint64_t monotonic_ns, uncertainty_ns; };
struct vv_thread_name { uint64_t tid; uint32_t name, order; };

/* One end of a flow or of an asynchronous range. */
struct vv_pair_end {
    uint64_t id, ticks;
    int64_t time_ns;
    uint32_t name, track, source;
    uint16_t layer;
    uint8_t kind; /* enum vv_site_kind                                                          */
};

/* An operator that asks for a collective. */
struct vv_dispatch {
    int64_t in_elements, out_elements, begin_ns, group_size;
    uint32_t slice, dtype, group; /* string; 0 = not known                                      */
};

struct vv_open_range {
    int64_t begin_ns, inside_ns; /* what the ranges that ended in it took, of those directly in it  */
    uint32_t slice, step;        /* rows; step is VV_NONE for what is not a step                */
    uint32_t phase;              /* row: innermost phase from here outwards; VV_NONE            */
    bool in_step;                /* a step lies around it, or it is one                         */
};


struct vv_process_reader {
    struct vv_model *model;
    const struct vv_metadata *metadata;
    uint32_t process;                    /* row                                                 */
    struct vv_timeline timeline;
    struct vv_event_class *classes;      /* class_count of them, by id                          */
    uint32_t class_count;
    struct vv_key_map strings;           /* string id -> the model's                            */
    bool has_step_names;                 /* among the strings                                   */
    VV_ARRAY_OF(struct vv_pause) pauses; /* by time                                             */
    bool is_paused;                      /* by the process's own stream, so far                 */
    VV_ARRAY_OF(struct vv_sample) samples;
    VV_ARRAY_OF(struct vv_thread_name) thread_names;
    VV_ARRAY_OF(struct vv_pair_end) pair_ends;
    VV_ARRAY_OF(struct vv_open_range) open_ranges; /* that no thread and no pause has ended; of a
                                            thread, innermost last                              */
    VV_ARRAY_OF(struct vv_dispatch) dispatches;
    VV_ARRAY_OF(struct vv_collector) collectors; /* each once                                   */
    bool has_calls;                      /* PyTorch's operators: varve/call.c                   */
    bool has_backend;                    /* some range is a collective's own: varve/torch.c      */
    VV_ARRAY_OF(char) text;              /* being put together                                  */
    struct vv_seen_words shapes, calls;  /* varve/shapes.c, varve/call.c                        */
    uint32_t process_name;               /* string                                              */
    uint64_t *window;                    /* VV_WINDOW_BYTES of a stream                         */
    struct vv_range_run *run;            /* the one at hand: varve/ranges.h                     */
    struct vv_waves *waves;              /* varve/parallel.h; NULL until they are needed            */
    unsigned threads;                    /* that may read                                       */
    uint64_t events, lost;
    uint64_t slow_ns;                    /* spent in the recorder beside writing records        */
    bool forgot;                         /* a flight recorder has removed its oldest parts      */
    int64_t first_ns, last_ns;           /* of any record; valid if events > 0                  */
};

#define VV_WINDOW_BYTES (UINT32_C(1) << 20)

/* Appends one item to an array of the reader. */
#define VV_PUSH(array, item, error)                                                                 \
    do {                                                                                            \
        VV_TRY(vv_array_reserve(&(array)->items, &(array)->capacity, (array)->count + 1,            \
                                sizeof *(array)->items, (error)));                                  \
        (array)->items[(array)->count++] = (item);                                                  \
    } while (0)

/* varve/process.c: reads one process folder, with as many threads. */
enum varve_code vv_process_read(struct vv_model *model, const char *folder_path, unsigned threads,
                                struct varve_error *error);

/* varve/classes.c: fills `classes` from metadata. */
enum varve_code vv_classes_make(struct vv_process_reader *process, struct varve_error *error);

/* The model's string for string `id` of the process. */
enum varve_code vv_process_string(struct vv_process_reader *process, uint64_t id, uint32_t *out_id,
                                  struct varve_error *error);

/* varve/shapes.c: the model's string for an operator's inputs: `count` words, at least one, as in the record. */
enum varve_code vv_shapes_text(struct vv_process_reader *process, const uint64_t *words, size_t count,
                               uint32_t *out_text, struct varve_error *error);

/* Appends "[32,1,28,28] f32" to process->text. */
enum varve_code vv_shape_write(struct vv_process_reader *process, uint32_t dtype, uint32_t rank,
                               const int64_t *dims, struct varve_error *error);

/* varve/torch.c: what is only known when all streams are decoded; the rows are where the process's own begin. */
enum varve_code vv_torch_finish(struct vv_process_reader *process, uint32_t first_slice, uint32_t first_step,
                                size_t first_placed, struct varve_error *error);

/* varve/stream.c: decodes one stream. */
enum varve_code vv_stream_read(struct vv_process_reader *process, const struct vv_packets *packets,
                               struct varve_error *error);

/* varve/pairs.c: joins the ends of flows and asynchronous ranges, once all streams are decoded. */
enum varve_code vv_pairs_join(struct vv_process_reader *process, struct varve_error *error);

/* varve/memory.c: puts the model's memory table in order of time and gives releases their size. */
enum varve_code vv_memory_join(struct vv_model *model, struct varve_error *error);

/* varve/manifest.c: reads what was run, if there is a manifest. */
enum varve_code vv_manifest_read(struct vv_model *model, const char *path,
                                 struct varve_error *error);

#endif
