/* SPDX-License-Identifier: Apache-2.0 */
/* past.h — says afterwards what a thread of the host did: ranges that are over, and what they were.
 *
 * For runtimes and interfaces that hand on a range only when it has ended, with its own begin and
 * end, and its details in calls of their own, before or after. Who can call varve_begin and
 * varve_end as the work happens should do so: a range that is still open is in the trace then.
 *
 *     int64_t begin = (int64_t)varve_ticks();
 *     …
 *     struct varve_past_range_info range = { sizeof range, VARVE_LAYER_OP, "launch", "conv1", 0,
 *                                            VARVE_CLOCK_TICKS, 0, begin, (int64_t)varve_ticks() };
 *     varve_past_range(&range);
 *
 * The range counts as time of its thread, as other ranges do. Details go to the range that holds
 * their instant: begin < instant <= end. All functions are thread-safe; not from signal
 * handlers. */
#ifndef VARVE_PAST_H
#define VARVE_PAST_H

#include "varve/device.h"
#include "varve/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct varve_past_range_info {
    uint32_t struct_size; /* sizeof(struct varve_past_range_info)                              */
    uint32_t layer;       /* one VARVE_LAYER_ bit; of several bits the lowest counts           */
    const char *name;     /* UTF-8, at most 1023 bytes are kept; copied                        */
    const char *subject;  /* what it worked on, such as a node's name; NULL = none; copied     */
    uint64_t thread;      /* the kernel's id of the thread; 0 = the calling thread             */
    uint32_t clock;       /* VARVE_CLOCK_TICKS … VARVE_CLOCK_REALTIME                          */
    uint32_t reserved;    /* 0                                                                 */
    int64_t begin;        /* in the clock; 0, or a tick before the session = it began before   */
    int64_t end;          /* an end before the begin is kept as no duration, and counted       */
    /* end of ABI 0 */
};

enum varve_past_kind {
    VARVE_PAST_INTEGERS = 0, /* values are int64_t                                             */
    VARVE_PAST_REALS,        /* double                                                         */
    VARVE_PAST_TEXTS,        /* const char *, UTF-8, at most 1023 bytes are kept; copied       */
    VARVE_PAST_HEX,          /* uint64_t: addresses, identities, bytes                         */
    VARVE_PAST_BOOLS,        /* int64_t, 0 or 1                                                */
    VARVE_PAST_TENSORS       /* struct varve_graph_tensor, of which `identity` is not kept     */
};

/* What is known of a range: a key with one value or several. The key "type" with a text says which
 * kind of operator the range ran, and becomes the range's name. */
struct varve_past_value {
    const char *key;    /* must not be empty; copied                                           */
    uint32_t kind;      /* enum varve_past_kind                                                */
    uint32_t count;     /* at most 255 are kept                                                */
    const void *values; /* `count` of them; read during the call only                          */
};

#define VARVE_PAST_ALONE 1u /* the note is no range's: it stands at its instant                */
#define VARVE_PAST_RAW 2u   /* nobody knew the fields: the values are the producer's bytes     */

struct varve_past_note_info {
    uint32_t struct_size; /* sizeof(struct varve_past_note_info)                               */
    uint32_t layer;       /* of the range; 0 = the innermost of any layer                      */
    const char *name;     /* must not be empty; at most 1023 bytes are kept; copied            */
    uint64_t thread;      /* the kernel's id of the thread; 0 = the calling thread             */
    uint32_t clock;       /* VARVE_CLOCK_TICKS … VARVE_CLOCK_REALTIME                          */
    uint32_t flags;       /* VARVE_PAST_…                                                      */
    int64_t time;         /* in the clock; 0, or a tick before the session = not known         */
    uint64_t correlation; /* the range started the work of this number (device.h); 0 = none    */
    const struct varve_past_value *values;
    uint32_t value_count; /* at most 64 are kept, each tensor counted                          */
    uint32_t reserved;    /* 0                                                                 */
    /* end of ABI 0 */
};

VARVE_API VARVE_DIRECT void varve_emit_past_range(const struct varve_past_range_info *info);
VARVE_API VARVE_DIRECT void varve_emit_past_note(const struct varve_past_note_info *info);

/* A thread did this. A struct that is too small and an unknown clock are counted as lost. */
static inline void varve_past_range(const struct varve_past_range_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() & info->layer))
        varve_emit_past_range(info);
}

/* A range was this. The note may come before or after its range, from any thread. A note that no
 * range holds is kept as an instant, and counted. */
static inline void varve_past_note(const struct varve_past_note_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() != 0 &&
                       (info->layer == 0 || (varve_layers() & info->layer) != 0)))
        varve_emit_past_note(info);
}

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_PAST 1
#include "varve/unlinked.h"
#endif
#endif
