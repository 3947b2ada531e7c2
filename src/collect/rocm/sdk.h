/* SPDX-License-Identifier: Apache-2.0 */
/* sdk.h — what is used of AMD's rocprofiler-sdk, declared here. The library is opened at run time,
 * and no header of it is needed to build Varve.
 *
 * Functions return 0, or a number of the library's. Its handles are structs of one uint64_t, which
 * are passed as that number is. */
#ifndef VV_COLLECT_ROCM_SDK_H
#define VV_COLLECT_ROCM_SDK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_ROCP_SUCCESS 0

#define VV_ROCP_ENTER 1u /* phases of a call                                                     */
#define VV_ROCP_TRACING 1u /* the category of the records of a buffer that are read              */
#define VV_ROCP_LOSSLESS 2 /* who has no room in a buffer waits until it is read                 */
#define VV_ROCP_AGENT_VERSION 1
#define VV_ROCP_AGENT_BYTES 296u /* of 6.2: what is there in every version                       */

/* Kinds of work of which the library asks for an external number. */
#define VV_ROCP_ASKS_COPY 10
#define VV_ROCP_ASKS_KERNEL 11

typedef int vv_rocp_result;

/* What the library is told by rocprofiler_configure. */
struct vv_rocp_tool {
    size_t struct_bytes;
    int (*initialize)(void (*finalize)(void), void *data);
    void (*finalize)(void *data);
    void *data;
};

/* A call, or the load of a code object. A function that is told of one takes the struct by value:
 * it is another one from 1.0 on. */
struct vv_rocp_event_0 {
    uint64_t context, thread, internal, external;
    uint32_t kind;
    int32_t operation;
    uint32_t phase;
    const void *payload;
};
struct vv_rocp_event_1 {
    uint64_t context, thread, internal, external, ancestor;
    uint32_t kind;
    int32_t operation;
    uint32_t phase;
    const void *payload;
};
typedef void vv_rocp_callback_0(struct vv_rocp_event_0 event, uint64_t *shared, void *user);
typedef void vv_rocp_callback_1(struct vv_rocp_event_1 event, uint64_t *shared, void *user);

struct vv_rocp_header { /* of a record in a buffer                                               */
    uint32_t category, kind;
    const void *record;
};
typedef void vv_rocp_complete(uint64_t context, uint64_t buffer, struct vv_rocp_header **headers,
                              size_t count, void *user, uint64_t dropped);

/* The library passes a word of the user's, too, which is not looked at. */
typedef int vv_rocp_request(uint64_t thread, uint64_t context, int kind, int32_t operation,
                            uint64_t internal, uint64_t *out_external);
typedef vv_rocp_result vv_rocp_agents(int version, const void **agents, size_t count, void *user);

/* Member, the library's symbol without "rocprofiler_", parameters. Those of OPTIONAL may be missing
 * in a version. */
#define VV_ROCP_FUNCTIONS(NEEDED, OPTIONAL)                                                        \
    NEEDED(create_context, "create_context", (uint64_t *))                                         \
    NEEDED(start_context, "start_context", (uint64_t))                                             \
    NEEDED(stop_context, "stop_context", (uint64_t))                                               \
    NEEDED(create_buffer, "create_buffer",                                                         \
           (uint64_t, size_t, size_t, int, vv_rocp_complete *, void *, uint64_t *))                \
    NEEDED(flush_buffer, "flush_buffer", (uint64_t))                                               \
    NEEDED(trace_into_buffer, "configure_buffer_tracing_service",                                  \
           (uint64_t, int, const int32_t *, size_t, uint64_t))                                     \
    NEEDED(trace_by_callback, "configure_callback_tracing_service",                                \
           (uint64_t, int, const int32_t *, size_t, void *, void *))                               \
    NEEDED(buffer_kind_name, "query_buffer_tracing_kind_name", (int, const char **, uint64_t *))   \
    NEEDED(callback_kind_name, "query_callback_tracing_kind_name",                                 \
           (int, const char **, uint64_t *))                                                       \
    NEEDED(callback_name, "query_callback_tracing_kind_operation_name",                            \
           (int, int32_t, const char **, uint64_t *))                                              \
    NEEDED(agents, "query_available_agents", (int, vv_rocp_agents *, size_t, void *))              \
    NEEDED(timestamp, "get_timestamp", (uint64_t *))                                               \
    OPTIONAL(number_work, "configure_external_correlation_id_request_service",                     \
             (uint64_t, const int *, size_t, vv_rocp_request *, void *))                           \
    OPTIONAL(is_initialized, "is_initialized", (int *))

/* How the library is given the tables of functions of HIP and HSA when these begin. */
typedef int vv_rocp_set_table(const char *name, uint64_t version, uint64_t instance,
                              void **tables, uint64_t count);

struct vv_rocp_api {
#define VV_MEMBER(name, symbol, parameters) vv_rocp_result(*name) parameters;
    VV_ROCP_FUNCTIONS(VV_MEMBER, VV_MEMBER)
#undef VV_MEMBER
    const char *(*result_text)(vv_rocp_result result); /* or NULL                                */
    vv_rocp_set_table *set_table;
    char path[PATH_MAX]; /* of the library                                                       */
};

/* The one that is open, or all zero. */
extern struct vv_rocp_api vv_rocp;

/* Opens the rocprofiler-sdk that belongs to the ROCm of this process: the path in
 * VARVE_ROCPROFILER, or in ROCPROFILER_REGISTER_LIBRARY, then the one that is loaded, then one
 * beside a library of ROCm that is loaded, then the loader's. False: none was found, or it is of no
 * use, and why. The caller has the lock of rocm.c. */
VV_MUST_USE bool vv_rocp_open(char *out_why, size_t bytes);

/* The words of the library for a result, and its number. */
void vv_rocp_result_text(vv_rocp_result result, char *out_text, size_t bytes);

#endif
