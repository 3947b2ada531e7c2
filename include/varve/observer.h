/* SPDX-License-Identifier: Apache-2.0 */
/* observer.h — functions that a program has called where operators and ranges begin and end.
 *
 *     static int on_start(void *user, const struct varve_observed *what, uint64_t *out_context);
 *     static int on_end(void *user, const struct varve_observed *what, uint64_t context);
 *
 *     struct varve_observer observer = VARVE_OBSERVER_INIT;
 *     observer.scopes = VARVE_LAYER_OP | VARVE_OBSERVE_STEP;
 *     observer.probability = 0.001;                    one operator in a thousand
 *     observer.start = on_start;
 *     observer.end = on_end;
 *     varve_observer_add(&observer, &handle, &error);
 *     …
 *     varve_observer_remove(handle, &error);           from now on neither function is called
 *
 * Observed is what the program marks: varve_begin, varve_next, varve_begin_name, varve_scope's
 * macros, steps, and the guards below, which carry inputs and outputs. Observers are called whether
 * or not anything is recorded. While there are none, a mark costs what it costs without this
 * header: one load and one branch.
 *
 * Rules. start and end are a pair: for each range whose start returned 0, end is called exactly
 * once, also if the observer is removed meanwhile, if the thread ends, or if recording is switched.
 * Both are called on the thread that marks, the process's observers first, in the order in which
 * they were added, then those of the thread. While a function of an observer runs, no observer is
 * called for what this thread marks; a range that begins in such a function must end in it. An
 * observer may allocate, lock, print and record, but it must return: longjmp and exceptions may not
 * leave it. Marks in a signal handler are observed as all others are, unless the handler has
 * interrupted an observer; see doc/observers.md. All functions here are thread-safe. None of them
 * changes errno. Those that add, remove, capture and restore are not for signal handlers. */
#ifndef VARVE_OBSERVER_H
#define VARVE_OBSERVER_H

#include "varve/varve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scopes: what a range is (a bit mask) ---- */

/* A range of a layer is in the scope VARVE_LAYER_… of the same bit; phases are in
 * VARVE_LAYER_STEP. */
#define VARVE_OBSERVE_BACKWARD 0x0800u /* a guard of a backward operator                       */
#define VARVE_OBSERVE_STEP 0x1000u     /* a whole step                                         */
#define VARVE_OBSERVE_ALL 0x1fffu

/* ---- what an observer is told ---- */

#define VARVE_NEED_INPUTS 1u  /* `info` at the start                                           */
#define VARVE_NEED_OUTPUTS 2u /* `outputs` at the end                                          */
#define VARVE_NEED_IDS 4u     /* `id`                                                          */

#define VARVE_OBSERVED_REMOVED 1u    /* this end comes because the observer was removed        */
#define VARVE_OBSERVED_UNFINISHED 2u /* this end comes because the thread ended                */

/* Valid during the call only; all that it points to, likewise. */
struct varve_observed {
    uint32_t struct_size;   /* of the library's struct                                         */
    uint32_t scope;         /* one bit                                                         */
    uint32_t layer;         /* one VARVE_LAYER_ bit                                            */
    uint32_t flags;         /* VARVE_OBSERVED_…                                                */
    const char *name;       /* UTF-8, never NULL. At the end a name that is no site's has at most
                               127 bytes, and "" if the observer was removed                   */
    const struct varve_site *site; /* NULL: the range has no site, or the observer was removed */
    uint64_t id;            /* unique in the process; 0 unless the observer needs ids          */
    uint64_t thread;        /* the system's number of the thread that marks                    */
    uint64_t thread_number; /* counts threads from 1, never reused in a process                */
    int64_t step;           /* index of the step, for a step; otherwise -1                     */
    int64_t sequence;       /* of a guard: links forward and backward operator; -1 = none      */
    uint64_t forward_thread; /* of a guard of a backward operator; 0 = none                    */
    const struct varve_op_info *info;   /* of a guard, at the start, if the observer needs inputs;
                                           otherwise NULL                                      */
    const struct varve_tensor *outputs; /* of a guard, at the end, if it needs outputs; or NULL */
    const void *call;       /* of a guard: what the program gave; otherwise NULL               */
    uint32_t output_count;
    uint32_t reserved;
    /* end of ABI 0 */
};

/* *out_context is 0 before the call; end gets the same value. Returns 0. Any other value says that
 * the observer failed: it counts, and the end of this range is not called. */
typedef int varve_observer_start(void *user, const struct varve_observed *what,
                                 uint64_t *out_context);
/* Returns 0, or another value if it failed, which counts. */
typedef int varve_observer_end(void *user, const struct varve_observed *what, uint64_t context);

/* ---- add and remove ---- */

#define VARVE_OBSERVERS_MAX 64u           /* observers of the process                          */
#define VARVE_OBSERVERS_OF_THREAD_MAX 16u /* observers that one thread adds                    */

#define VARVE_OBSERVER_OF_THREAD 1u

struct varve_observer {
    uint32_t struct_size;  /* sizeof(struct varve_observer)                                    */
    uint32_t scopes;       /* which ranges; 0 = all                                            */
    uint32_t needs;        /* VARVE_NEED_…                                                     */
    uint32_t flags;        /* VARVE_OBSERVER_OF_THREAD: only what the calling thread marks, until
                              the thread ends; 0 = all threads                                 */
    double probability;    /* that a range is observed, from 0 to 1; each by itself            */
    varve_observer_start *start; /* must be there                                              */
    varve_observer_end *end;     /* or NULL                                                    */
    void (*released)(void *user); /* or NULL; called once, after the observer was removed and its
                                     last function returned: `user` may be freed there         */
    void *user;            /* handed to the three                                              */
    uint32_t failures_max; /* after so many failures the observer is disabled; 0 = 16          */
    uint32_t reserved;     /* 0                                                                */
    /* end of ABI 0 */
};
#define VARVE_OBSERVER_INIT \
    { (uint32_t)sizeof(struct varve_observer), 0, 0, 0, 1.0, NULL, NULL, NULL, NULL, 0, 0 }

/* Adds an observer; the struct is copied. It is called from each thread's next mark on. *out_handle
 * is never 0. VARVE_INVALID: no start, a probability that is none, unknown bits. VARVE_LIMIT: there
 * are as many already. VARVE_PERMISSION: the process is set-user-id. VARVE_STATE: called from a
 * signal handler inside a call of Varve's. */
VARVE_API enum varve_code varve_observer_add(const struct varve_observer *observer,
                                             uint64_t *out_handle, struct varve_error *error);

/* Removes an observer; on any thread. Ranges that it has begun to observe end for it here: `end` is
 * called for each of them, by the calling thread, with VARVE_OBSERVED_REMOVED. When this call
 * returns, none of the observer's functions runs or will run, so `user` may be freed; for that the
 * call waits for functions that run on other threads.
 * Inside a function of any observer the call does not wait: the observer begins no range any more,
 * and `released` says when its last function has returned. VARVE_NOT_FOUND: there is no such
 * observer (any more). */
VARVE_API enum varve_code varve_observer_remove(uint64_t handle, struct varve_error *error);

struct varve_observer_state {
    uint32_t struct_size; /* sizeof(struct varve_observer_state)                               */
    uint32_t is_disabled; /* 1 after too many failures: no start is called any more            */
    uint64_t failures;
    uint64_t missed;      /* marks of the process that no observer could see: doc/observers.md */
    /* end of ABI 0 */
};
#define VARVE_OBSERVER_STATE_INIT { (uint32_t)sizeof(struct varve_observer_state), 0, 0, 0 }

/* VARVE_NOT_FOUND: there is no such observer (any more). */
VARVE_API enum varve_code varve_observer_query(uint64_t handle, struct varve_observer_state *out,
                                               struct varve_error *error);

/* Between these two calls no observer is called for ranges that this thread begins. They nest. Also
 * for signal handlers. */
VARVE_API void varve_observers_suspend(void);
VARVE_API void varve_observers_resume(void);

/* ---- hand-over: a thread's observers follow its work ---- */

struct varve_observers_of_thread {
    uint32_t struct_size; /* sizeof(struct varve_observers_of_thread)                          */
    uint32_t count;
    uint32_t suspended;
    uint32_t reserved;
    uint64_t handles[VARVE_OBSERVERS_OF_THREAD_MAX];
    /* end of ABI 0 */
};
#define VARVE_OBSERVERS_OF_THREAD_INIT \
    { (uint32_t)sizeof(struct varve_observers_of_thread), 0, 0, 0, { 0 } }

/* What observes the calling thread beside the process's observers, and whether that is suspended.
 * Hand the struct to the thread that continues the work. VARVE_INVALID: struct_size. */
VARVE_API enum varve_code varve_observers_capture(struct varve_observers_of_thread *out,
                                                  struct varve_error *error);
/* From now on the calling thread is observed as the captured one was. *out_former (or NULL) is for
 * restoring afterwards what was before. An observer that has been removed meanwhile is left out; it
 * ends with the thread that added it. */
VARVE_API enum varve_code varve_observers_restore(const struct varve_observers_of_thread *captured,
                                                  struct varve_observers_of_thread *out_former,
                                                  struct varve_error *error);

/* ---- guards: operators that say what they work on, if anybody wants to know ----
 *
 *     struct varve_guard guard = VARVE_GUARD_INIT(&conv);
 *     struct varve_op_info info = VARVE_OP_INFO_INIT;
 *     uint32_t needs = varve_guard_needs(&guard);        decides who observes this one
 *     if (needs & VARVE_NEED_INPUTS) { info.inputs = …; info.input_count = …; }
 *     varve_guard_begin(&guard, &info);
 *     …
 *     varve_guard_end(&guard, outputs, output_count);    outputs: if needs & VARVE_NEED_OUTPUTS
 *
 * A guard is a range, and is recorded as varve_begin, varve_op and varve_end are. It ends on the
 * thread on which it began; ranges that are still open in it end with it. */
struct varve_guard {
    uint32_t struct_size;
    uint32_t scope;   /* VARVE_OBSERVE_BACKWARD, or 0: that of the layer                        */
    struct varve_site *site;
    const char *name; /* where `site` is NULL: a name that is known only at run time, …        */
    uint32_t layer;   /* … and its layer                                                       */
    uint32_t state;   /* 0; the library's, as `key` is                                         */
    uint64_t key;
    const void *call; /* or NULL; handed to observers: what it means is the program's          */
    /* end of ABI 0 */
};
#define VARVE_GUARD_INIT(site) \
    { (uint32_t)sizeof(struct varve_guard), 0, (site), NULL, 0, 0, 0, NULL }

VARVE_API VARVE_DIRECT uint32_t varve_emit_guard_needs(struct varve_guard *guard);
VARVE_API VARVE_DIRECT void varve_emit_guard_begin(struct varve_guard *guard,
                                                   const struct varve_op_info *info);
VARVE_API VARVE_DIRECT void varve_emit_guard_end(struct varve_guard *guard,
                                                 const struct varve_tensor *outputs,
                                                 uint32_t output_count);

/* Decides whether this range is observed and recorded, and returns what those who want it need
 * (VARVE_NEED_…). Comes first; then varve_guard_begin, even if the result is 0. */
static inline uint32_t varve_guard_needs(struct varve_guard *guard)
{
    return VARVE_UNLIKELY(varve_is_on_()) ? varve_emit_guard_needs(guard) : 0;
}

/* `info` may be NULL. It is read during the call only. */
static inline void varve_guard_begin(struct varve_guard *guard, const struct varve_op_info *info)
{
    if (VARVE_UNLIKELY(guard->state != 0))
        varve_emit_guard_begin(guard, info);
}

/* `outputs` may be NULL. They are read during the call only. */
static inline void varve_guard_end(struct varve_guard *guard, const struct varve_tensor *outputs,
                                   uint32_t output_count)
{
    if (VARVE_UNLIKELY(guard->state != 0))
        varve_emit_guard_end(guard, outputs, output_count);
}

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_OBSERVER 1
#include "varve/unlinked.h"
#endif
#endif
