/* SPDX-License-Identifier: Apache-2.0 */
/* device.h — says what ran on a device: kernels, copies, fills, waits; and what it counted.
 *
 * A device tells of its work afterwards, with times of a clock of its own. A runtime, or whoever
 * reads the device's buffers, hands them on:
 *
 *     varve_clock_add(&clock_info, &clock, &error);         the device's clock; or VARVE_CLOCK_…
 *     varve_clock_pair(clock, value, varve_ticks(), 200);   now and then: both clocks at an instant
 *     varve_track_add(&track_info, &track, &error);         a stream of the device
 *
 *     varve_begin(&launch_site);
 *         varve_launch(42);                                 this range starts work number 42
 *     varve_end();
 *     …
 *     varve_activity(&activity_info);                       later, in any order, on any thread
 *     varve_device_counter(&counter_info);                  likewise: power, occupancy, bytes
 *
 * The work appears on the track, and belongs to the operator in whose range it was started: by its
 * number, never by its time. Clocks and tracks are the process's and last as long as the process,
 * through all sessions; forked children have them too. Every function is thread-safe. None exits,
 * prints, blocks on a device or changes errno. Clocks and tracks are not added from signal
 * handlers; varve_launch may be called from there. */
#ifndef VARVE_DEVICE_H
#define VARVE_DEVICE_H

#include "varve/varve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clocks ---- */

/* Clocks that need not be added. */
#define VARVE_CLOCK_TICKS 1u         /* what varve_ticks returns                               */
#define VARVE_CLOCK_MONOTONIC 2u     /* CLOCK_MONOTONIC in ns, and so on                       */
#define VARVE_CLOCK_MONOTONIC_RAW 3u
#define VARVE_CLOCK_REALTIME 4u

#define VARVE_DEVICE_NAME_BYTES 128u /* of a clock's or a track's name, with the NUL           */
#define VARVE_DEVICE_CLOCKS_MAX 256u
#define VARVE_DEVICE_TRACKS_MAX 4096u

struct varve_clock_info {
    uint32_t struct_size;   /* sizeof(struct varve_clock_info)                                 */
    uint32_t reserved;      /* 0                                                               */
    const char *name;       /* UTF-8, at most 127 bytes are kept; copied                       */
    uint64_t frequency_hz;  /* values a second; 0 = the values are nanoseconds                 */
    uint64_t resolution_ns; /* the clock moves by steps of so much; 0 = not known              */
    /* end of ABI 0 */
};

/* Adds a clock of a device. *out_clock is its number, and 0 after a failure. VARVE_INVALID: no
 * name, or the struct is too small. VARVE_LIMIT: VARVE_DEVICE_CLOCKS_MAX are there. VARVE_STATE:
 * called from a signal handler, inside a call of Varve's. */
VARVE_API enum varve_code varve_clock_add(const struct varve_clock_info *info, uint32_t *out_clock,
                                          struct varve_error *error);

/* What the records' own clock says now. */
VARVE_API uint64_t varve_ticks(void);

/* Clock `clock` said `value` when varve_ticks said `ticks`, to within ± uncertainty_ns (half the
 * time between two readings around the device's). One pair suffices to place the clock, two say how
 * fast it runs; a pair every second follows its drift. The last pair holds for later sessions too.
 * Unknown clocks, and those that need not be added, are ignored. */
VARVE_API void varve_clock_pair(uint32_t clock, int64_t value, uint64_t ticks,
                                uint64_t uncertainty_ns);

/* ---- devices ---- */

struct varve_device_info {
    uint32_t struct_size;        /* sizeof(struct varve_device_info)                            */
    uint32_t device;             /* VARVE_DEVICE(kind, index), as this process numbers it       */
    const char *uuid;            /* the same in every process, "GPU-…"; NULL = not known        */
    const char *name;            /* as its driver says; NULL = not known                        */
    uint32_t capability_major;   /* CUDA's compute capability; 0 = not known                    */
    uint32_t capability_minor;
    uint32_t units;              /* multiprocessors, compute units; 0 = not known               */
    uint32_t clock_khz;          /* the most; 0 = not known                                     */
    uint64_t memory_bytes;       /* 0 = not known                                               */
    uint64_t memory_bytes_per_s; /* that the memory moves at most; 0 = not known                */
    /* end of ABI 0 */
};

/* Says what a device is; the last saying counts. Devices of one uuid are one device to the reader,
 * also if processes number them otherwise. What is no such struct is ignored. Not from signal
 * handlers. */
VARVE_API void varve_device_describe(const struct varve_device_info *info);

/* ---- tracks ---- */

struct varve_track_info {
    uint32_t struct_size; /* sizeof(struct varve_track_info)                                   */
    uint32_t clock;       /* of the times of its work: VARVE_CLOCK_…, or one that was added    */
    const char *name;     /* "stream 7"; UTF-8, at most 127 bytes are kept; copied             */
    uint32_t device;      /* VARVE_DEVICE(kind, index)                                         */
    uint32_t reserved;    /* 0                                                                 */
    int64_t context;      /* the device's own numbers; -1 = none                               */
    int64_t stream;
    /* end of ABI 0 */
};

/* Adds a track: a stream, queue or engine of a device. *out_track is its number, and 0 after a
 * failure. Errors as for varve_clock_add; also VARVE_NOT_FOUND: there is no such clock. */
VARVE_API enum varve_code varve_track_add(const struct varve_track_info *info, uint32_t *out_track,
                                          struct varve_error *error);

/* ---- work ---- */

enum varve_activity_kind {
    VARVE_ACTIVITY_KERNEL = 1,
    VARVE_ACTIVITY_COPY,
    VARVE_ACTIVITY_SET,
    VARVE_ACTIVITY_WAIT,  /* the device waited                                                 */
    VARVE_ACTIVITY_RANGE, /* a range of the program, as the device's timeline shows it         */
    VARVE_ACTIVITY_OTHER
};

struct varve_activity_info {
    uint32_t struct_size; /* sizeof(struct varve_activity_info)                                */
    uint32_t track;       /* as varve_track_add numbered it                                    */
    const char *name;     /* UTF-8, at most 1023 bytes are kept; copied                        */
    uint32_t kind;        /* enum varve_activity_kind                                          */
    uint32_t reserved;    /* 0                                                                 */
    int64_t begin;        /* in the track's clock                                              */
    int64_t end;          /* an end before the begin is kept as no duration, and counted       */
    uint64_t correlation; /* as varve_launch was told; 0 = not known                           */
    uint64_t bytes;       /* copied or set; 0 = not known                                      */
    /* end of ABI 0 */
};

struct varve_device_counter_info {
    uint32_t struct_size; /* sizeof(struct varve_device_counter_info)                          */
    uint32_t track;       /* whose counter it is, as varve_track_add numbered it               */
    const char *name;     /* "power (W)"; UTF-8, at most 1023 bytes are kept; copied           */
    int64_t time;         /* when it had this value, in the track's clock                      */
    double value;
    /* end of ABI 0 */
};

VARVE_API VARVE_DIRECT void varve_emit_activity(const struct varve_activity_info *info);
VARVE_API VARVE_DIRECT void varve_emit_device_counter(const struct varve_device_counter_info *info);
VARVE_API VARVE_DIRECT void varve_emit_launch(uint64_t correlation);

/* A device did this. Recorded with layer DEVICE. What has no track, or a struct that is too small,
 * is counted as lost. Not from signal handlers. */
static inline void varve_activity(const struct varve_activity_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_activity(info);
}

/* A counter of a device had a value, then or until now: values are told later, in any order, by any
 * thread. Counters of one name on two tracks are two counters. Recorded with layer DEVICE. What has
 * no track, or a struct that is too small, is counted as lost. Not from signal handlers. */
static inline void varve_device_counter(const struct varve_device_counter_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_device_counter(info);
}

/* The innermost open range of the calling thread starts the work of this correlation, a number that
 * the process uses once. Recorded with layer DEVICE. */
static inline void varve_launch(uint64_t correlation)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_launch(correlation);
}

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_DEVICE 1
#include "varve/unlinked.h"
#endif
#endif
