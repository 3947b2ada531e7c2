/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h — what a device's runtime plugs in, so that Varve can time work on its streams.
 *
 * A backend is a table of functions: an event on a stream, the time between two events, wait, visit
 * each device, read the device's clock. Varve has three (varve_backend_open: "host", "opencl",
 * "cuda"), and a runtime registers its own. Then a program says what it starts on a stream:
 *
 *     uint32_t backend;
 *     varve_backend_open("opencl", &backend, &error);
 *     …
 *     struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
 *     work.backend = backend;
 *     work.stream = queue;
 *     work.name = "gemm";
 *     uint64_t number = varve_device_begin(&work);          an event on the queue
 *     clEnqueueNDRangeKernel(queue, …);
 *     varve_device_end(number);                             another one
 *
 * The work appears on the stream's track, and belongs to the operator in which it was begun, by a
 * launch number. Nothing of this waits for the device. The times are read once the device has told
 * of them: when later work on the stream ends, in varve_device_poll, and where a program waits
 * anyway: varve_device_flush, and the beginning and end of a window.
 *
 * A window is the time between a start and a stop of recording, or a phase of a schedule. Where one
 * begins or ends, the thread that starts, stops or makes the step waits for all devices of the
 * enabled backends and reads their clocks, so that all devices begin together. Signal handlers
 * never do this.
 *
 * Every function is thread-safe, prints nothing and keeps errno. None but varve_device_poll may be
 * called from a signal handler. doc/devices.md */
#ifndef VARVE_BACKEND_H
#define VARVE_BACKEND_H

#include "varve/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a backend is ---- */

#define VARVE_BACKENDS_MAX 16u
#define VARVE_BACKEND_DEVICES_MAX 64u  /* of one backend; more are not seen                    */
#define VARVE_BACKEND_FAILURES_MAX 8u  /* in a row; then the backend is detached               */
#define VARVE_DEVICE_ANY UINT32_MAX    /* the device that is current, or that has the stream   */

struct varve_backend;

struct varve_device_place {
    uint32_t device;   /* 0 … count - 1, or VARVE_DEVICE_ANY                                   */
    uint32_t reserved; /* 0                                                                    */
    void *stream;      /* the runtime's own handle (cl_command_queue, CUstream); NULL = the
                          device's standard stream                                             */
};

/* An event, in the caller's memory. The backend fills all of it and may keep a handle in `words`.
 * It may be copied. */
struct varve_device_event {
    const struct varve_backend *backend; /* whose it is; NULL = none                           */
    uint32_t device;
    uint32_t is_work; /* 1: the event of a piece of work, which has a begin and an end         */
    void *stream;
    uint64_t words[4];
};

/* When a device's clock said `value`, varve_ticks said `ticks`, to within ± uncertainty_ns. */
struct varve_clock_reading {
    int64_t value; /* ns of the device's clock                                                 */
    uint64_t ticks;
    uint64_t uncertainty_ns;
};

#define VARVE_BACKEND_OUTLIVES_FORK 1u /* works in forked children, too                        */

/* The functions may be called by any thread, by several at a time. They return VARVE_OK, or a code
 * and a sentence in *error, which may be NULL; the out parameters are written only on success.
 * VARVE_INVALID, VARVE_NOT_FOUND, VARVE_STATE and VARVE_UNSUPPORTED are the caller's mistakes; any
 * other code is a failure of the backend. Those marked "or NULL" may be missing. The table must
 * stay valid, and not change, until varve_backend_unregister returns. */
struct varve_backend {
    uint32_t struct_size;   /* sizeof(struct varve_backend)                                    */
    uint32_t device_kind;   /* VARVE_DEVICE_KIND_…                                             */
    const char *name;       /* "opencl"; UTF-8, at most 23 bytes                               */
    uint32_t flags;         /* VARVE_BACKEND_…                                                 */
    uint32_t clock;         /* VARVE_CLOCK_… that `instant` tells of; 0 = clocks of the devices */
    uint64_t resolution_ns; /* of elapsed; 0 = not known                                       */
    void *context;          /* the backend's own                                               */

    /* Is there a device, and is it to be timed? Quick: asked before each window, and when the
     * backend is registered. */
    int (*enabled)(const struct varve_backend *backend);
    uint32_t (*count)(const struct varve_backend *backend);
    /* Puts a new event at the end of the stream. Never waits. *out_host_ns, unless NULL, is
     * CLOCK_MONOTONIC just before. VARVE_NOT_FOUND: there is no such device (any more). */
    enum varve_code (*record)(const struct varve_backend *backend,
                              const struct varve_device_place *place,
                              struct varve_device_event *out_event, int64_t *out_host_ns,
                              struct varve_error *error);
    /* Makes an event of the runtime's own event of a piece of work (cl_event). The caller keeps
     * its reference. Or NULL. */
    enum varve_code (*adopt)(const struct varve_backend *backend, void *native_event,
                             struct varve_device_event *out_event, struct varve_error *error);
    /* Has the device passed the event? Never waits. */
    enum varve_code (*query)(const struct varve_backend *backend,
                             const struct varve_device_event *event, int *out_is_complete,
                             struct varve_error *error);
    /* Time from one event to another, below 0 if `to` came first. Waits for both. VARVE_INVALID:
     * one is another backend's, or they lie on different devices that have no common clock. */
    enum varve_code (*elapsed)(const struct varve_backend *backend,
                               const struct varve_device_event *from,
                               const struct varve_device_event *to, int64_t *out_ns,
                               struct varve_error *error);
    /* When it was, in ns of the device's clock; of work, both ends (of others they are equal).
     * VARVE_STATE: the event is not complete. */
    enum varve_code (*instant)(const struct varve_backend *backend,
                               const struct varve_device_event *event, int64_t *out_begin,
                               int64_t *out_end, struct varve_error *error);
    /* The event is not needed any more; it need not be complete. */
    void (*release)(const struct varve_backend *backend, struct varve_device_event *event);
    /* Waits until the device has done all that it was given. */
    enum varve_code (*synchronize)(const struct varve_backend *backend, uint32_t device,
                                   struct varve_error *error);
    /* Calls `visit` for each device in turn, with that device current; then the former one is
     * current again. */
    enum varve_code (*on_each_device)(const struct varve_backend *backend,
                                      void (*visit)(uint32_t device, void *argument),
                                      void *argument, struct varve_error *error);
    /* Reads the device's clock. May wait for the device. NULL where `clock` says it. */
    enum varve_code (*read_clock)(const struct varve_backend *backend, uint32_t device,
                                  struct varve_clock_reading *out_reading,
                                  struct varve_error *error);
    /* Tells what the device has put into buffers, by varve_activity and varve_device_counter on
     * tracks of varve_backend_track; in any order. waits: waits for the device first. Or NULL. */
    enum varve_code (*flush)(const struct varve_backend *backend, int waits,
                             struct varve_error *error);
    /* For the vendor's own tools. Or NULL. */
    void (*mark)(const struct varve_backend *backend, const char *name);
    void (*push)(const struct varve_backend *backend, const char *name);
    void (*pop)(const struct varve_backend *backend);
    /* end of ABI 0 */
};

/* ---- the registry ---- */

/* Adds a backend. *out_backend is its number, never 0. VARVE_INVALID: a field or a function is
 * missing. VARVE_EXISTS: this table, or a backend of this name, is registered. VARVE_LIMIT: there
 * are VARVE_BACKENDS_MAX. */
VARVE_API enum varve_code varve_backend_register(const struct varve_backend *backend,
                                                 uint32_t *out_backend, struct varve_error *error);

/* Registers one of Varve's own: "host", "opencl", "cuda". If it is registered already, returns its
 * number. Loads the device's library (libOpenCL.so.1, libcuda.so.1) at the first call.
 * VARVE_NOT_FOUND: no backend has that name. VARVE_UNSUPPORTED: the library, or a device, is not
 * there; the message says which. */
VARVE_API enum varve_code varve_backend_open(const char *name, uint32_t *out_backend,
                                             struct varve_error *error);

/* The backend is not called any more once this returns. Waits for the calls of other threads that
 * are under way, not for the device: work that is not complete is counted as lost. VARVE_NOT_FOUND:
 * no backend has this number. VARVE_STATE: called by a function of a backend. */
VARVE_API enum varve_code varve_backend_unregister(uint32_t backend, struct varve_error *error);

/* The table of a registered backend; NULL: there is none of this number. */
VARVE_API const struct varve_backend *varve_backend_table(uint32_t backend);

struct varve_backend_stats {
    uint32_t struct_size; /* sizeof(struct varve_backend_stats); set by the caller              */
    uint32_t devices;
    uint64_t begun;       /* pieces of work: varve_device_begin, _work_event, _push, _mark      */
    uint64_t recorded;    /* of these, told to the trace                                        */
    uint64_t pending;     /* not yet                                                            */
    uint64_t lost;        /* never: not complete in time, too many, or a call failed            */
    uint64_t negative;    /* recorded, with an end before the begin                             */
    uint64_t refused;     /* calls with a mistake of the caller's                               */
    uint64_t failures;    /* calls that the backend failed                                      */
    uint64_t windows;     /* beginnings and ends of windows, in which its devices were waited for */
    uint64_t total_ns;    /* sum of all times recorded, as the backend told them                */
    uint32_t is_enabled;
    uint32_t is_detached; /* it failed VARVE_BACKEND_FAILURES_MAX times in a row                */
    /* end of ABI 0 */
};

/* Counts since the backend was registered. VARVE_NOT_FOUND, VARVE_INVALID. */
VARVE_API enum varve_code varve_backend_stats_read(uint32_t backend,
                                                   struct varve_backend_stats *out_stats,
                                                   struct varve_error *error);

/* The track of a stream, for varve_activity; the same one each time. `name` is kept the first time;
 * NULL = a name with the stream's number. VARVE_LIMIT: as varve_track_add. */
VARVE_API enum varve_code varve_backend_track(uint32_t backend,
                                              const struct varve_device_place *place,
                                              const char *name, uint32_t *out_track,
                                              struct varve_error *error);

/* ---- what a program starts on a device ---- */

struct varve_device_work {
    uint32_t struct_size; /* sizeof(struct varve_device_work)                                  */
    uint32_t backend;     /* as it was numbered                                                */
    uint32_t device;      /* 0 … count - 1, or VARVE_DEVICE_ANY                                */
    uint32_t kind;        /* enum varve_activity_kind                                          */
    void *stream;         /* as in struct varve_device_place                                   */
    const char *name;     /* UTF-8, at most 1023 bytes are kept; copied                        */
    uint64_t bytes;       /* copied or set; 0 = not known                                      */
    /* end of ABI 0 */
};
#define VARVE_DEVICE_WORK_INIT                                                                 \
    { (uint32_t)sizeof(struct varve_device_work), 0, VARVE_DEVICE_ANY, VARVE_ACTIVITY_KERNEL,  \
      NULL, NULL, 0 }

VARVE_API VARVE_DIRECT uint64_t varve_emit_device_begin(const struct varve_device_work *work);
VARVE_API VARVE_DIRECT void varve_emit_device_end(uint64_t number);
VARVE_API VARVE_DIRECT void varve_emit_device_event(const struct varve_device_work *work,
                                                    void *native_event);
VARVE_API VARVE_DIRECT void varve_emit_device_mark(const struct varve_device_work *work);

/* Work begins on a stream: what is enqueued from here to varve_device_end. Returns its number; 0:
 * layer DEVICE is off, or the backend; or it could not be recorded, and was counted. Any thread may
 * end it. */
static inline uint64_t varve_device_begin(const struct varve_device_work *work)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        return varve_emit_device_begin(work);
    return 0;
}
static inline void varve_device_end(uint64_t number)
{
    if (VARVE_UNLIKELY(number != 0))
        varve_emit_device_end(number);
}

/* The runtime has given this work an event of its own (cl_event), which has its begin and end:
 * nothing is put on the stream, and the times are the runtime's, to the ns. The caller keeps its
 * reference. work->device and work->stream need not be given. */
static inline void varve_device_work_event(const struct varve_device_work *work, void *native_event)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_device_event(work, native_event);
}

/* A range on the stream, as the device's timeline shows it (kind RANGE, whatever work->kind says);
 * nested, on the calling thread. A pop without a push does nothing. */
VARVE_API void varve_device_push(const struct varve_device_work *work);
VARVE_API void varve_device_pop(void);
/* An instant on the stream: a range without duration. */
static inline void varve_device_mark(const struct varve_device_work *work)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_device_mark(work);
}

/* Tells the trace of all work that is complete, and waits for nothing. */
VARVE_API void varve_device_poll(void);

/* Waits for the devices of this backend (0 = of all), tells the trace of all their work, and reads
 * their clocks. Returns the first failure; goes on after it. */
VARVE_API enum varve_code varve_device_flush(uint32_t backend, struct varve_error *error);

/* ---- events, for a runtime that times by itself; they need no recording ---- */

/* As the backend's function `record`, `elapsed`, `release`. Failures are counted, and the third
 * kind of mistake of elapsed is found here, too: the events are of two backends. VARVE_NOT_FOUND:
 * the backend is gone. */
VARVE_API enum varve_code varve_event_record(uint32_t backend,
                                             const struct varve_device_place *place,
                                             struct varve_device_event *out_event,
                                             int64_t *out_host_ns, struct varve_error *error);
VARVE_API enum varve_code varve_event_elapsed(const struct varve_device_event *from,
                                              const struct varve_device_event *to, int64_t *out_ns,
                                              struct varve_error *error);
/* Does nothing if the event's backend is gone, or event->backend is NULL. */
VARVE_API void varve_event_release(struct varve_device_event *event);

/* Waits for all devices of the backend; 0 = of all. */
VARVE_API enum varve_code varve_devices_synchronize(uint32_t backend, struct varve_error *error);
VARVE_API enum varve_code varve_devices_each(uint32_t backend,
                                             void (*visit)(uint32_t device, void *argument),
                                             void *argument, struct varve_error *error);

/* ---- three states ---- */

enum varve_profile_state {
    VARVE_PROFILE_OFF = 0,         /* nothing is recorded                                      */
    VARVE_PROFILE_HOST,            /* what the session records, without layer DEVICE           */
    VARVE_PROFILE_HOST_AND_DEVICES /* … and with it                                            */
};

/* Chooses what the running session records from now on. *out_former, unless NULL, is the former
 * state. VARVE_INVALID: there is no such state. VARVE_STATE: no session runs. */
VARVE_API enum varve_code varve_profile_state_set(enum varve_profile_state state,
                                                  enum varve_profile_state *out_former,
                                                  struct varve_error *error);

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_BACKEND 1
#include "varve/unlinked.h"
#endif
#endif
