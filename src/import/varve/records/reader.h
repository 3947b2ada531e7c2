/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h — what is known of a process while its folder is read. The records' actions, in this
 * room, add to it and to the model; import/varve/process calls them. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_READER_H
#define VV_IMPORT_VARVE_RECORDS_READER_H

#include "base/array.h"
#include "ctf/layout.h"
#include "import/rows/key_map.h"
#include "import/rows/list_cache.h"
#include "import/varve/metadata/metadata.h"
#include "import/varve/packets/packets.h"
#include "import/varve/packets/timeline.h"
#include "import/varve/records/counts.h"
#include "import/varve/records/devices.h"
#include "import/varve/records/graphs.h"
#include "import/varve/records/past.h"
#include "import/varve/records/points.h"
#include "import/varve/records/values.h"
#include "model/model.h"

/* What the reader does with a record. For the built-in classes, the action is the id. */
enum vv_action {
    VV_ACTION_UNDECLARED = VV_EVENT_NONE,
    VV_ACTION_SITE = 64,     /* + enum vv_site_kind                                             */
    VV_ACTION_PASS = 72,     /* a class of a later version: its fields are measured             */
    VV_ACTION_UNSIZED = 73   /* … and cannot be measured                                        */
};
_Static_assert((int)VV_EVENT_BUILTIN_COUNT <= VV_ACTION_SITE, "one action each");

struct vv_event_class {
    uint32_t name;    /* string of the model                                                    */
    uint32_t source;  /* row in sources; 0 = none                                               */
    uint32_t row;     /* row in metadata->classes                                               */
    uint16_t layer;
    uint8_t action;   /* enum vv_action                                                         */
    uint8_t words : 4;      /* words of the whole record; 0 = the record itself says it         */
    /* all that a plain record does: ranges.h */
    uint8_t plain_ends : 1, plain_begins : 1, is_note : 1;
};

/* name and text are strings; state is an enum vv_collector_state. */
struct vv_collector { uint32_t name, state, text; };
struct vv_pause { uint64_t ticks; int64_t time_ns; };
struct vv_sample { int64_t time_ns, realtime_ns; uint64_t monotonic_ns, uncertainty_ns; };
struct vv_thread_name { uint64_t tid; uint32_t name, order; };

/* One end of a flow or of an asynchronous range. */
struct vv_pair_end {
    uint64_t id, ticks;
    int64_t time_ns;
    uint32_t name, track, source;
    uint16_t layer;
    uint8_t kind; /* enum vv_site_kind                                                          */
};

/* An operator that starts a collective. */
struct vv_dispatch {
    int64_t in_elements, out_elements, begin_ns, group_size;
    uint32_t slice, dtype, group; /* group is a string; 0 = not known                           */
};

/* A group of ranks, and which of them the process is; size 0 = not known. */
struct vv_group_said { int64_t size, rank; };

struct vv_open_range {
    /* inside_ns is the time of the ended ranges directly inside this one. */
    int64_t begin_ns, inside_ns;
    uint32_t slice, step;        /* rows; step is VV_NONE if it is not a step                   */
    uint32_t phase;              /* row: innermost phase that is or holds it; VV_NONE           */
    bool in_step;                /* it is a step, or lies in one                                */
};


struct vv_process_reader {
    struct vv_model *model;
    const struct vv_metadata *metadata;
    uint32_t process;                    /* row                                                 */
    struct vv_timeline timeline;
    struct vv_event_class *classes;      /* class_count of them, by id                          */
    uint32_t class_count;
    struct vv_key_map strings;           /* string id -> the model's string                     */
    bool has_step_names;                 /* some string is the name of a step                   */
    VV_ARRAY_OF(struct vv_pause) pauses; /* in order of time                                    */
    bool is_paused;                      /* the state at this place in the process's own stream */
    VV_ARRAY_OF(struct vv_sample) samples;
    VV_ARRAY_OF(struct vv_thread_name) thread_names;
    VV_ARRAY_OF(struct vv_pair_end) pair_ends;
    /* Ranges that neither a thread nor a pause has ended; those of a thread innermost last. */
    VV_ARRAY_OF(struct vv_open_range) open_ranges;
    VV_ARRAY_OF(struct vv_dispatch) dispatches;
    VV_ARRAY_OF(struct vv_collector) collectors; /* each collector once                         */
    struct vv_devices_said devices;
    struct vv_values_said values;
    struct vv_counts_said counts;
    struct vv_past_said past;
    struct vv_graphs_said graphs;
    struct vv_marks_said marks;
    struct vv_group_said group;          /* the largest one of its collectives                  */
    bool has_calls;                      /* there are operators of PyTorch: call.c              */
    bool has_backend;                    /* some range is a backend's own collective: torch.c    */
    VV_ARRAY_OF(char) text;              /* a text under construction                           */
    struct vv_seen_words shapes, operators, calls; /* operator.c, call.c                        */
    uint32_t process_name;               /* string                                              */
    uint64_t *window;                    /* VV_WINDOW_BYTES of a stream                         */
    struct vv_range_run *run;            /* the current run: ranges.h                           */
    struct vv_waves *waves;              /* parallel.h; NULL until needed */
    unsigned threads;                    /* how many threads may read                           */
    uint64_t events, lost;
    uint64_t slow_ns;                    /* time in the recorder other than writing records     */
    bool forgot;                         /* a flight recorder has removed its oldest parts      */
    int64_t first_ns, last_ns;           /* first and last record; valid if events > 0          */
};

/* Appends one item to an array of the reader. */
#define VV_PUSH(array, item, error)                                                      \
    do {                                                                                 \
        VV_TRY(vv_array_reserve(&(array)->items, &(array)->capacity, (array)->count + 1, \
                                sizeof *(array)->items, (error)));                       \
        (array)->items[(array)->count++] = (item);                                       \
    } while (0)

/* strings.c: the model's string for string `id` of the process. */
enum varve_code vv_process_string(struct vv_process_reader *process, uint64_t id, uint32_t *out_id,
                                  struct varve_error *error);

/* The process says which rank of a group it is. The largest group counts. */
static inline void vv_group_say(struct vv_process_reader *process, int64_t size, int64_t rank)
{
    if (size > process->group.size && rank >= 0 && rank < size)
        process->group = (struct vv_group_said){ size, rank };
}

/* shapes.c: the model's string for an operator's inputs. `words` are `count` words: a dtype, a rank
 * and dims for each input. They have been checked. */
enum varve_code vv_shapes_text(struct vv_process_reader *process, const uint64_t *words,
                               size_t count, uint32_t *out_text, struct varve_error *error);

/* Appends "[32,1,28,28] f32" to process->text. */
enum varve_code vv_shape_write(struct vv_process_reader *process, uint32_t dtype, uint32_t rank,
                               const int64_t *dims, struct varve_error *error);

/* Appends " -> ": the shapes that follow are of outputs. */
enum varve_code vv_shape_arrow(struct vv_process_reader *process, struct varve_error *error);

/* torch.c: does what needs all streams decoded. The rows are those at which this process begins. */
enum varve_code vv_torch_finish(struct vv_process_reader *process, uint32_t first_slice,
                                uint32_t first_step, size_t first_placed,
                                struct varve_error *error);

#endif
