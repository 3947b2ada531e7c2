/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.c — NCCL opens the library that NCCL_PROFILER_PLUGIN names and takes the latest of these
 * structs that it knows: version 1 is NCCL 2.23's, 2 2.24's, 3 2.26's, 4 2.27's, 5 2.28's. A later
 * NCCL takes version 5 too.
 *
 * Functions return 0, which is success for NCCL, whatever happens here. */
#include <errno.h>
#include <stddef.h>

#include "base/system/os.h"
#include "collect/nccl/layouts.h"
#include "collect/nccl/nccl.h"
#include "varve/varve.h"

/* The kinds of events that NCCL shall tell of. Kernels' channels and proxies would cost time on
 * devices and in NCCL's threads. */
#define ASKED (VV_NCCL_GROUP | VV_NCCL_COLLECTIVE | VV_NCCL_POINT_TO_POINT)

typedef void logger(int level, unsigned long flags, const char *file, int line, const char *format,
                    ...);
/* What NCCL passes on, in its order. */
#define OF_COMMUNICATOR_V4                                                                         \
    void **out_context, int *out_asked, const char *name, uint64_t hash, int nodes, int ranks,     \
        int rank, logger *log
#define OF_COMMUNICATOR_V5                                                                         \
    void **out_context, uint64_t hash, int *out_asked, const char *name, int nodes, int ranks,     \
        int rank, logger *log
typedef int init_v1(void **out_context, int *out_asked);
typedef int init_v4(OF_COMMUNICATOR_V4);
typedef int init_v5(OF_COMMUNICATOR_V5);

struct profiler {
    const char *name;
    union { init_v1 *v1; init_v4 *v4; init_v5 *v5; } init;
    int (*start)(void *context, void **out_handle, const void *event);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, const void *values);
    int (*finalize)(void *context);
};

extern VARVE_API const struct profiler ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3,
    ncclProfiler_v4, ncclProfiler_v5;

/* ---- communicators ---- */

static int begin(unsigned version, void **out_context, int *out_asked, struct vv_nccl_group *group)
{
    int saved_errno = errno;
    bool is_used = !vv_os_is_privileged() && vv_nccl_began(version, group);
    *out_context = group;
    /* All communicators have this word in common, and other threads read it. */
    __atomic_store_n(out_asked, is_used ? (int)ASKED : 0, __ATOMIC_RELAXED);
    errno = saved_errno;
    return 0;
}

static int begin_v1(void **out_context, int *out_asked)
{
    return begin(1, out_context, out_asked, vv_nccl_group_add(NULL, 0, -1, 0));
}

static int begin_v2(void **out_context, int *out_asked)
{
    return begin(2, out_context, out_asked, vv_nccl_group_add(NULL, 0, -1, 0));
}

static int begin_v3(void **out_context, int *out_asked)
{
    return begin(3, out_context, out_asked, vv_nccl_group_add(NULL, 0, -1, 0));
}

static int begin_v4(OF_COMMUNICATOR_V4)
{
    (void)nodes;
    (void)log;
    return begin(4, out_context, out_asked, vv_nccl_group_add(name, hash, rank, ranks));
}

static int begin_v5(OF_COMMUNICATOR_V5)
{
    (void)nodes;
    (void)log;
    return begin(5, out_context, out_asked, vv_nccl_group_add(name, hash, rank, ranks));
}

static int end(void *context)
{
    if (context != NULL)
        vv_nccl_group_remove(context);
    return 0;
}

/* ---- events ---- */

static int start(unsigned version, void *context, void **out_handle, const void *event)
{
    int saved_errno = errno;
    *out_handle = NULL;
    if (context != NULL && event != NULL && vv_nccl_is_on())
        *out_handle = vv_nccl_event(version, context, event);
    errno = saved_errno;
    return 0;
}

#define START(version)                                                                   \
    static int start_v##version(void *context, void **out_handle, const void *event)     \
    {                                                                                    \
        return start(version, context, out_handle, event);                               \
    }
START(1) START(2) START(3) START(4) START(5)

static int stop(void *handle)
{
    (void)handle;
    return 0;
}

static int record(void *handle, int state, const void *values)
{
    (void)handle;
    (void)state;
    (void)values;
    return 0;
}

#define PROFILER(version, init_version)                                                  \
    const struct profiler ncclProfiler_v##version = {                                    \
        "Varve", { .v##init_version = begin_v##version }, start_v##version, stop, record, end \
    };
PROFILER(1, 1)
PROFILER(2, 1)
PROFILER(3, 1)
PROFILER(4, 4)
PROFILER(5, 5)
