/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.h — the functions of NVIDIA's CUPTI that are used, declared here. The library is opened at
 * run time, and no header of it is needed to build Varve.
 *
 * Functions return 0, or a number of CUPTI's. `char` arrays stand for structs of CUPTI's. */
#ifndef VV_COLLECT_CUDA_CUPTI_H
#define VV_COLLECT_CUDA_CUPTI_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_CUPTI_SUCCESS 0
#define VV_CUPTI_TAKEN 39 /* there is another subscriber                                         */
#define VV_CUPTI_UNKNOWN 999

#define VV_CUPTI_DRIVER 1 /* domains of calls                                                    */
#define VV_CUPTI_RUNTIME 2

#define VV_CUPTI_FLUSH_FORCED 1u
#define VV_CUPTI_SYSTEM_THREADS 1 /* threads are numbered as the kernel does                     */
#define VV_CUPTI_HOLDER_BYTES 64u

typedef int vv_cupti_result;

/* What CUPTI tells of a call, at its begin (site 0) and at its end (site 1). */
struct vv_cupti_call {
    int site;
    const char *function;
    const void *parameters;
    void *return_value;
    const char *kernel;
    void *context;
    uint32_t context_number;
    uint64_t *data; /* what begin and end of this call share                                     */
    uint32_t correlation;
};

typedef void vv_cupti_callback(void *user, int domain, uint32_t id,
                               const struct vv_cupti_call *call);
typedef void vv_cupti_request(uint8_t **out_buffer, size_t *out_bytes, size_t *out_records_max);
typedef void vv_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes);

struct vv_cupti_subscription { /* of cuptiSubscribe_v2, since 13.0                              */
    size_t struct_bytes;
    const char *name;
    char *holder; /* written if there is one: VV_CUPTI_HOLDER_BYTES                              */
    size_t holder_bytes;
    uint8_t allows_others, padding[7];
};

struct vv_cupti_unified { /* a counter of unified memory that is asked for                      */
    uint32_t scope, kind, device, is_enabled;
};

/* Member, CUPTI's symbol, parameters. Those of OPTIONAL may be missing in a version. */
#define VV_CUPTI_FUNCTIONS(NEEDED, OPTIONAL)                                                       \
    NEEDED(get_version, "cuptiGetVersion", (uint32_t *))                                           \
    NEEDED(subscribe, "cuptiSubscribe", (void **, vv_cupti_callback *, void *))                    \
    NEEDED(unsubscribe, "cuptiUnsubscribe", (void *))                                              \
    NEEDED(enable_callback, "cuptiEnableCallback", (uint32_t, void *, int, uint32_t))              \
    NEEDED(callback_name, "cuptiGetCallbackName", (int, uint32_t, const char **))                  \
    NEEDED(register_buffers, "cuptiActivityRegisterCallbacks",                                     \
           (vv_cupti_request *, vv_cupti_complete *))                                              \
    NEEDED(enable, "cuptiActivityEnable", (int))                                                   \
    NEEDED(disable, "cuptiActivityDisable", (int))                                                 \
    NEEDED(next_record, "cuptiActivityGetNextRecord", (uint8_t *, size_t, void **))                \
    NEEDED(dropped, "cuptiActivityGetNumDroppedRecords", (void *, uint32_t, size_t *))             \
    NEEDED(flush_all, "cuptiActivityFlushAll", (uint32_t))                                         \
    NEEDED(timestamp, "cuptiGetTimestamp", (uint64_t *))                                           \
    OPTIONAL(flush_period, "cuptiActivityFlushPeriod", (uint32_t))                                 \
    OPTIONAL(register_clock, "cuptiActivityRegisterTimestampCallback", (uint64_t(*)(void)))        \
    OPTIONAL(configure_unified, "cuptiActivityConfigureUnifiedMemoryCounter",                      \
             (struct vv_cupti_unified *, uint32_t))                                                \
    OPTIONAL(number_threads, "cuptiSetThreadIdType", (int))                                        \
    OPTIONAL(result_name, "cuptiGetResultString", (vv_cupti_result, const char **))                \
    OPTIONAL(subscribe_named, "cuptiSubscribe_v2",                                                 \
             (void **, vv_cupti_callback *, void *, struct vv_cupti_subscription *))

struct vv_cupti_api {
#define VV_MEMBER(name, symbol, parameters) vv_cupti_result(*name) parameters;
    VV_CUPTI_FUNCTIONS(VV_MEMBER, VV_MEMBER)
#undef VV_MEMBER
    uint32_t version;    /* as CUPTI counts: 18 (11.8), 28 (12.9), 130500 (13.5)                 */
    char path[PATH_MAX]; /* of the library                                                       */
};

/* The one that is open, or all zero. */
extern struct vv_cupti_api vv_cupti;

/* Opens the CUPTI that belongs to the CUDA of this process: the path in VARVE_CUPTI, then the one
 * that is loaded, then one beside the loaded libcudart, then the loader's. `driver_version` is the
 * driver's (12090): no library of a later major version is tried. False: none was found, or it is
 * of no use, and why. The caller has the turn. */
VV_MUST_USE bool vv_cupti_open(int driver_version, char *out_why, size_t bytes);

/* "12.9" for 28, "13.5" for 130500. */
void vv_cupti_version_text(uint32_t version, char *out_text, size_t bytes);

/* CUPTI's words for a result, or its number; and what to do, where that is known. */
void vv_cupti_result_text(vv_cupti_result result, char *out_text, size_t bytes);

#endif
