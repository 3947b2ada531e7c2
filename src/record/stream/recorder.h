/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h — the recorder's state for the process and for each thread. Internal to src/record.
 *
 * The hot path (record/hot_path.h) touches only the calling thread's vv_self, its open packet and
 * the control page. The slow path is everything else, and runs between vv_recorder_lock and
 * vv_recorder_unlock, which keep errno, forbid cancellation, block signals and mark the thread
 * busy. After a fault a handler may still come. The handler finds its thread busy and never waits:
 * if it cannot write a record at once, it counts the record as lost. doc/threading.md */
#ifndef VV_RECORD_STREAM_RECORDER_H
#define VV_RECORD_STREAM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/clock.h"
#include "record/stream/birth.h"
#include "record/stream/stream.h"
#include "varve/varve.h"

/* ---- a thread ---- */

#define VV_DEPTH_TRACKED 256u

struct vv_thread { /* cold part, from a slab; one list holds those of all sessions              */
    struct vv_thread *next, *previous;
    struct vv_thread *next_kept; /* next in the list vv_self.kept                               */
    const struct vv_self *owner; /* only to compare with: its memory ends with its thread */
    struct vv_stream stream;
    uint32_t serial;      /* serial of the session that the thread records into                 */
    char name[16];        /* kernel's name, as last written to the trace                        */
    bool named;           /* the program named it: the kernel's name does not count             */
};

#define VV_GIVEN_NAME_BYTES 64u

struct vv_self { /* hot part, thread-local: one cache line up to writer.behind                   */
    /* The vv_epoch_word of `epoch` without observers, while all open ranges are recorded and none
     * is a frame; VV_NOT_PLAIN at other times. So one comparison in the hot path excludes all
     * unusual cases. */
    uint64_t plain_word;
    uint32_t epoch;       /* vv_epoch when depth was last valid                                 */
    uint32_t era;         /* ticks >> VV_ERA_SHIFT when the slow path last looked at the clock  */
    uint32_t depth;       /* number of open ranges, recorded or not                             */
    uint32_t step_depth;  /* depth of the open step; 0 = no step is open                        */
    uint32_t skips;       /* bits set in skipped[]; none is set at or above depth               */
    uint32_t met;         /* the PyTorch collector's generation in which it last saw this thread */
    struct vv_writer writer;
    /* Bit d: the range that made depth d + 1 is not recorded. */
    uint64_t skipped[VV_DEPTH_TRACKED / 64];
    uint32_t frames;      /* bits set in framed[]; none is set at or above depth                */
    /* Bit d: the range that made depth d + 1 is a frame (record/outliving_range.h). */
    uint64_t framed[VV_DEPTH_TRACKED / 64];
    struct vv_thread *thread; /* NULL = not attached                                            */
    struct vv_thread *kept; /* detached, but still mapped: writer.left has packets of theirs */
    uint64_t entered_ns;  /* when the thread entered the slow path                              */
    uint64_t retry_ticks; /* attaching failed: the time of the next try                         */
    int saved_errno, saved_cancel, saved_cancel_type; /* while it has the lock                  */
    uint64_t saved_signals;        /* signal mask of the thread, likewise                       */
    bool busy;            /* while it has the lock                                              */
    uint32_t name_id;     /* string id of the program's name for the thread; 0 = none           */
    uint32_t given_id;    /* of the last name that its language gave it; then it is the name     */
    char given[VV_GIVEN_NAME_BYTES]; /* such a name, from before the thread attached             */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct vv_self, writer.left) <= 64,
               "what each record needs is one cache line");
extern _Thread_local struct vv_self vv_self;

/* An era is about a second. So the gap between two records of a packet stays far below 2^44 ticks,
 * after which the low bits repeat. */
#define VV_ERA_SHIFT VV_CLOCK_SECOND_BITS

/* Identifies one start of recording in one process. A thread's knowledge is valid as long as the
 * epoch is the same. */
static inline uint64_t vv_epoch_word(void)
{
    return __atomic_load_n(&varve_control_page.epoch, __ATOMIC_RELAXED) + vv_birth_word();
}
static inline uint32_t vv_epoch(void)
{
    return (uint32_t)vv_epoch_word();
}
#define VV_NOT_PLAIN UINT64_MAX /* no word */

/* ---- the lock ---- */

/* False: this thread has the lock already, and the caller is a signal handler, which must do
 * nothing. A child that the recorder was not told of becomes a process of its own here. */
VV_MUST_USE bool vv_recorder_lock(void);
void vv_recorder_unlock(void);
/* In a forked child: takes the lock anew, and calls the function that vv_recorder_on_fork was
 * given. */
void vv_recorder_lock_in_child(void);
/* Called once, before there is any record. */
void vv_recorder_on_fork(void (*forked)(void));

/* ---- the process ---- */

struct vv_session {
    bool running;
    bool on_demand;            /* begun paused: the program may switch it, too                   */
    /* As in struct vv_session_manner (record/session/session.h); changed under the lock, atomic. */
    const char *begun_by;
    /* As in struct vv_session_manner, these three; max_bytes is 0 if the streams may grow. A forked
     * child has the same limits. */
    uint64_t max_bytes;
    uint64_t keep_bytes, keep_ns;
    uint32_t wanted_layers;    /* layers for a start that names none                             */
    bool has_folder;           /* false in a forked child that has recorded nothing yet          */
    uint32_t serial;           /* grows with each session, and in a forked child                 */
    uint64_t begun_ticks;      /* when the session began; atomic                                 */
    struct vv_own_folder output; /* NAME.varve; id 0: it could not be examined yet                */
    struct vv_own_folder folder; /* the sub-folder of this process                               */
    uint64_t instances;        /* number of threads' streams made so far                         */
    struct vv_stream stream;   /* the process's own stream                                       */
    struct vv_writer writer;
    uint64_t latest_ticks;     /* time of the last record in that stream                         */
    struct vv_clock_sample begin, latest;
    uint64_t frequency_hz, precision_ticks;
    uint64_t slow_ns;          /* time that all threads spent with the lock held                */
    uint64_t record_cost_ps;   /* measured once                                                  */
    uint64_t refine_ns;        /* age of the session when it rewrites the metadata               */
    uint64_t retry_ticks;      /* making the folder failed: the time of the next try             */
    bool (*on_first_record)(void); /* makes the folder: process_folder.h */
    const struct vv_options *options; /* given by the user; each folder gets a copy; NULL = none  */
};
extern struct vv_session vv_session;

/* The number of records lost outside any stream that lost.h counts in memory. The number moves into
 * the process's stream as soon as there is one. */
extern uint64_t vv_session_homeless;

#endif
