/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h — the recorder's state: one a process, one a thread. Internal to src/record.
 *
 * Hot path (record/hot_path.h): touches only the calling thread's vv_self, its open packet and the control page.
 * Slow path (everything else): between vv_record_enter and vv_record_leave, which hold one lock, keep
 * errno, forbid cancellation, keep signals off and mark the thread busy. A handler that comes all the same (of
 * a fault) finds its thread busy and never waits: what it cannot write at once it counts as lost.
 * doc/threading.md */
#ifndef VV_RECORD_STREAM_RECORDER_H
#define VV_RECORD_STREAM_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/clock.h"
#include "record/stream/birth.h"
#include "record/stream/stream.h"
#include "settings/reserve.h"
#include "settings/schedule.h"
#include "varve/varve.h"

/* ---- a thread ---- */

#define VV_DEPTH_TRACKED 256u

struct vv_thread { /* cold part, from a slab; on one list, whatever its session                 */
    struct vv_thread *next, *previous;
    struct vv_thread *next_kept; /* struct vv_self, kept                                        */
    const struct vv_self *owner; /* to compare with, never to look into: it ends with its thread */
    struct vv_stream stream;
    uint32_t serial;      /* of the session it records into                                     */
    char name[16];        /* the kernel's, as last written to the trace                         */
    bool named;           /* by the program: the kernel's name does not matter                  */
};

struct vv_self { /* hot part, thread-local: up to writer.behind one cache line                   */
    uint32_t epoch;       /* vv_epoch, when depth was last valid                                */
    uint32_t plain_epoch; /* the same while no open range is skipped; else one that never comes: one
                             comparison tells the hot path that nothing unusual is open         */
    uint32_t era;         /* ticks >> VV_ERA_SHIFT when the slow path last looked at the clock  */
    uint32_t depth;       /* open ranges, recorded or not                                       */
    uint32_t step_depth;  /* depth just inside the open step; 0 = no step is open               */
    uint32_t skips;       /* bits set in skipped[]; none is set at or above depth               */
    uint32_t met;         /* for the collector of PyTorch: the generation in which it met the thread */
    struct vv_writer writer;
    uint64_t skipped[VV_DEPTH_TRACKED / 64]; /* bit d: the range that made depth d + 1 is not recorded */
    uint32_t frames;      /* bits set in framed[]; none is set at or above depth                */
    uint64_t framed[VV_DEPTH_TRACKED / 64]; /* bit d: the range that made depth d + 1 is a frame: record/outliving_range.h */
    struct vv_thread *thread; /* NULL = not attached                                            */
    struct vv_thread *kept; /* detached, and mapped: packets of theirs are in writer.left          */
    uint64_t entered_ns;  /* when the thread entered the slow path                              */
    uint64_t retry_ticks; /* attaching failed: not before this                                  */
    int saved_errno, saved_cancel, saved_cancel_type; /* between enter and leave                */
    uint64_t saved_signals;        /* the same: the mask of the thread                          */
    bool busy;            /* between enter and leave                                            */
    uint32_t name_id;     /* string: how the program named it; 0 = it did not                   */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct vv_self, writer.left) <= 64, "what each record needs is one cache line");
extern _Thread_local struct vv_self vv_self;

/* About a second; also keeps the gap between two records of a packet far below the 2^44 ticks after
 * which the low bits repeat. */
#define VV_ERA_SHIFT VV_CLOCK_SECOND_BITS

/* Which start of recording this is, and in which process: what a thread knows is valid as long as this is the same. */
static inline uint32_t vv_epoch(void)
{
    return __atomic_load_n(&varve_control_page.epoch, __ATOMIC_RELAXED) +
           __atomic_load_n(&vv_birth_page.mark, __ATOMIC_RELAXED);
}

/* Makes room: attaches the thread, or opens its next packet. False: none now; nothing was counted. */
VV_MUST_USE bool vv_thread_advance(struct vv_self *self);
/* Attaches the thread to the session that runs, if it is not, and makes sure that the string has its record there. */
VV_MUST_USE bool vv_thread_meet_string(struct vv_self *self, uint32_t string);
/* The era changed: a new packet if the thread slept long, a clock record if one is due. */
void vv_thread_tick(struct vv_self *self, uint64_t ticks);
/* Forgets what is open. */
void vv_thread_forget(struct vv_self *self);
/* The epoch changed: forgets that, and the stream if it belongs to a former session. */
void vv_thread_resync(struct vv_self *self);
/* Counts lost records where they belong. */
void vv_thread_discard(struct vv_self *self, uint64_t records);
/* What one record costs here, in picoseconds: the hot path itself, run on a scratch packet. */
uint64_t vv_range_cost_ps(void);
/* Once a process. */
void vv_thread_init(void);
/* In a forked child: forgets all threads, of whatever session. Lock held. */
void vv_thread_abandon_all(void);
/* The session ends: the calling thread leaves its stream, the others' streams are shrunk to the packet that is open;
 * their threads leave when they next look, and touch nothing but their mapping. True: there are such. Lock held. */
VV_MUST_USE bool vv_thread_end_all(void);
/* The program names the calling thread. Lock held, session ready. */
void vv_thread_named(uint32_t string);
/* Writes names of threads that changed theirs. Lock held. */
void vv_thread_rename_all(void);

/* ---- the lock ---- */

/* False if this thread is inside already (a signal handler): then do nothing. In a child that was made without a
 * word to us this is where it becomes a process of its own. */
VV_MUST_USE bool vv_record_enter(void);
void vv_record_leave(void);
/* In a forked child: takes the lock anew, and calls who has asked for it. */
void vv_record_in_child(void);
/* Once, before there is any record. */
void vv_record_on_fork(void (*forked)(void));

/* ---- the process ---- */

/* How a session is begun. */
struct vv_session_manner {
    const char *begun_by;  /* to complete "belongs to …"; NULL = varve_session_stop may end it   */
    bool is_shared;        /* others may read what is made                                       */
    bool by_command;       /* `varve record` has made the trace, and the page of lost.h in it       */
    bool folder_now;       /* not only before the first record                                   */
    bool paused;           /* nothing is recorded until somebody asks for it                     */
    struct vv_schedule schedule; /* which steps are recorded; active 0 = all                     */
    uint64_t max_bytes;    /* of this process's streams; 0 = no limit                            */
    bool grow;             /* past max_bytes, instead of losing what comes last                  */
    struct vv_reserve reserve; /* what of the disk is left to others                             */
    uint64_t keep_bytes;   /* flight recorder: record/stream/flight_recorder.h; 0 and 0 = everything is kept              */
    uint64_t keep_ns;
    int dump_signal;       /* 0 = none: dump.h                                                   */
};

struct vv_session {
    bool running;
    bool on_demand;            /* begun paused: the program may switch it too                    */
    const char *begun_by;      /* struct vv_session_manner                                       */
    uint64_t max_bytes;        /* struct vv_session_manner, all three; 0 if it may grow.
                                  A forked child has the same                                    */
    uint64_t keep_bytes, keep_ns;
    uint32_t wanted_layers;    /* what a start records that does not say                         */
    bool has_folder;           /* false in a forked child that has recorded nothing yet          */
    uint32_t serial;           /* grows with each session, and in a forked child                 */
    struct vv_own_folder output; /* NAME.varve; its id is 0 where it could not be looked at yet   */
    struct vv_own_folder folder; /* its sub-folder for this process                              */
    uint64_t instances;        /* threads' streams made so far                                   */
    struct vv_stream stream;   /* the process's own                                              */
    struct vv_writer writer;
    uint64_t latest_ticks;     /* of the last record in it                                       */
    struct vv_clock_sample begin, latest;
    uint64_t frequency_hz, precision_ticks;
    uint64_t slow_ns;          /* spent between enter and leave, by all threads                  */
    uint64_t record_cost_ps;   /* measured once                                                  */
    uint64_t refine_ns;        /* rewrite metadata when the session is this old                  */
    uint64_t retry_ticks;      /* making the folder failed: not before this                      */
};
extern struct vv_session vv_session;

/* Lock held, all of these. */
VV_MUST_USE bool vv_session_ready(void);   /* running, and its folder made                                   */
VV_MUST_USE bool vv_session_put(const uint64_t *words, size_t count); /* words[0] is an id; ticks are added;
                                                             false: no room. Whoever needs
                                                             it counts what is lost by that */
/* varve.layers as of `ticks` (0 = now), which is not before the last record of the stream. Without a stream nothing:
 * one begins with what is recorded. */
void vv_session_put_layers(uint32_t layers, uint64_t ticks);
uint32_t vv_session_switch(uint32_t layers); /* as varve_layers_set, without its lock             */
/* The running session, begun by others, does from here on what options say. */
void vv_session_follow(uint32_t layers, const struct vv_schedule *schedule);
void vv_session_end(void);     /* the running session                                            */
void vv_session_clock(void);   /* a clock record, and a better frequency, where one is due       */
void vv_session_settle(void);  /* final clock, frequency, names: the process may be about to end */

/* As varve_session_start. Takes the lock. */
enum varve_code vv_session_begin(const struct varve_session_options *options,
                                 const struct vv_session_manner *manner, struct varve_error *error);

/* In a forked child: the session goes on, into a folder of its own once there is a record. */
void vv_session_forked(void);

/* Records lost outside any stream, of those that lost.h counts in memory; they move into the process's stream as soon as
 * there is one. */
extern uint64_t vv_session_homeless;
void vv_session_count_homeless(void); /* that move; lock held                                    */

/* ---- metadata and names ---- */

/* The id of the site's class of this kind, declared in the metadata; 0 if it cannot be. */
uint32_t vv_site_declare(struct varve_site *site, enum vv_site_kind kind);
/* Writes metadata anew, all declared classes included. Lock held. Returns 0 or an errno number. */
VV_MUST_USE int vv_metadata_write(void);
/* Removes the file: the folder is given up. Lock held. */
void vv_metadata_remove(void);
/* The string's id in the process's stream; 0 if there is no room. Lock held. */
uint32_t vv_string_id(const char *text);
/* The same if the session has its record already; else 0. Without the lock. */
uint32_t vv_string_known(const char *text);
/* Makes sure that a string known by its id has its record in this session. Lock held. */
VV_MUST_USE bool vv_string_write(uint32_t id);
/* Has it one in the session of that serial? Without the lock. */
bool vv_string_is_in(uint32_t id, uint32_t serial);

#endif
