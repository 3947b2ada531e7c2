/* SPDX-License-Identifier: Apache-2.0 */
/* events.c — each collective, send or receive is a range of layer COMM on the thread that launches
 * it, and one of those that its kernel runs. */
#include <stdio.h>
#include <string.h>

#include "base/try_lock.h"
#include "collect/nccl/layouts.h"
#include "collect/nccl/nccl.h"
#include "collect/process/launches.h"
#include "varve/values.h"

#define CALLS 256u /* calls of the program whose collectives have not begun: a power of two      */

/* ---- NCCL's words ---- */

static const struct { const char *name; uint32_t dtype, bytes; } dtypes[] = {
    { "ncclInt8", VARVE_I8, 1 },       { "ncclUint8", VARVE_U8, 1 },
    { "ncclInt32", VARVE_I32, 4 },     { "ncclUint32", VARVE_U32, 4 },
    { "ncclInt64", VARVE_I64, 8 },     { "ncclUint64", VARVE_U64, 8 },
    { "ncclFloat16", VARVE_F16, 2 },   { "ncclFloat32", VARVE_F32, 4 },
    { "ncclFloat64", VARVE_F64, 8 },   { "ncclBfloat16", VARVE_BF16, 2 },
    { "ncclFloat8e4m3", VARVE_F8E4M3, 1 }, { "ncclFloat8e5m2", VARVE_F8E5M2, 1 },
};

static void read_dtype(const char *name, uint32_t *out_dtype, uint32_t *out_bytes)
{
    *out_dtype = VARVE_DTYPE_UNKNOWN;
    *out_bytes = 0;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            *out_dtype = dtypes[i].dtype;
            *out_bytes = dtypes[i].bytes;
        }
}

/* "ReduceScatter" -> "reduce_scatter". */
static void write_operation(const char *function, char *out, size_t bytes)
{
    size_t length = 0;
    if (strcmp(function, "AlltoAll") == 0)
        function = "AllToAll";
    for (; *function != '\0' && length + 2 < bytes; function++) {
        bool is_upper = *function >= 'A' && *function <= 'Z';
        if (is_upper && length > 0)
            out[length++] = '_';
        out[length++] = (char)(is_upper ? *function - 'A' + 'a' : *function);
    }
    out[length] = '\0';
}

/* ---- what the program asked for ---- */

/* NCCL counts bytes in some collectives (all_gather, broadcast); the program's call has its own
 * type. A handle is the number of a call. */
static struct { int turn; uint64_t number, count; char dtype[24]; } calls[CALLS];
static uint64_t call_count; /* atomic                                                            */

/* NULL: a thread is at this place, with a call that this one would replace, or that replaces it. */
static void *keep_call(const struct vv_nccl_event *event)
{
    uint64_t number = 1 + __atomic_fetch_add(&call_count, 1, __ATOMIC_RELAXED);
    size_t at = number % CALLS;
    if (!vv_turn_take(&calls[at].turn))
        return NULL;
    calls[at].number = number;
    calls[at].count = event->count;
    memcpy(calls[at].dtype, event->dtype, sizeof calls[at].dtype);
    vv_turn_give(&calls[at].turn);
    return (void *)(uintptr_t)number;
}

/* A later call may have taken the place. */
static void use_call(struct vv_nccl_event *event)
{
    uint64_t number = (uintptr_t)event->parent;
    size_t at = number % CALLS;
    if (number == 0 || !vv_turn_take(&calls[at].turn))
        return;
    if (calls[at].number == number) {
        event->count = calls[at].count;
        memcpy(event->dtype, calls[at].dtype, sizeof event->dtype);
    }
    vv_turn_give(&calls[at].turn);
}

/* ---- how much ---- */

enum part { NOTHING, ONE, ALL };

/* What a rank gives and gets: `count` elements, or as many for each rank. A root gives or gets
 * more. */
static const struct { const char *operation; uint8_t in, out; bool is_rooted; } amounts[] = {
    { "all_reduce", ONE, ONE, false },    { "all_gather", ONE, ALL, false },
    { "reduce_scatter", ALL, ONE, false }, { "all_to_all", ALL, ALL, false },
    { "broadcast", ONE, ONE, true },      { "reduce", ONE, ONE, true },
    { "gather", ONE, ALL, true },         { "scatter", ALL, ONE, true },
    { "send", ONE, NOTHING, false },      { "recv", NOTHING, ONE, false },
};

static uint64_t elements_of(uint8_t part, uint64_t count, uint64_t size)
{
    uint64_t elements = 0;
    if (part == ONE)
        elements = count;
    else if (part == ALL && __builtin_mul_overflow(count, size, &elements))
        elements = 0;
    return elements;
}

static void set_amounts(struct vv_launch_collective *one, const struct vv_nccl_event *event)
{
    uint32_t bytes;
    read_dtype(event->dtype, &one->dtype, &bytes);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        if (strcmp(amounts[i].operation, one->operation) != 0)
            continue;
        one->in_elements = elements_of(amounts[i].in, event->count, one->group_size);
        one->out_elements = elements_of(amounts[i].out, event->count, one->group_size);
        if (amounts[i].is_rooted || event->kind == VV_NCCL_POINT_TO_POINT)
            one->peer = event->peer;
        if (amounts[i].in == ALL && amounts[i].is_rooted && one->peer != one->rank)
            one->in_elements = 0;
        if (amounts[i].out == ALL && amounts[i].is_rooted && one->peer != one->rank)
            one->out_elements = 0;
    }
    if (__builtin_mul_overflow(one->in_elements, bytes, &one->bytes))
        one->bytes = 0;
}

static void describe(const struct vv_nccl_event *event, const struct vv_nccl_group *group,
                     struct vv_launch_collective *out)
{
    *out = (struct vv_launch_collective){ .rank = event->rank, .peer = -1, .number = event->number,
                                          .channels = event->channels };
    write_operation(event->function, out->operation, sizeof out->operation);
    if (__atomic_load_n(&group->is_named, __ATOMIC_ACQUIRE))
        memcpy(out->group, group->text, sizeof out->group);
    out->group_size = group->size > 0 ? (uint64_t)group->size : 0;
    memcpy(out->algorithm, event->algorithm, sizeof out->algorithm);
    memcpy(out->protocol, event->protocol, sizeof out->protocol);
    set_amounts(out, event);
}

/* ---- the kernel ---- */

/* The collectives of one kernel. */
static _Thread_local struct {
    uint32_t launch; /* 0: not known                                                             */
    bool is_begun;
    struct vv_launch_collective sum;
} kernel;

static void begin_kernel(void)
{
    kernel.launch = vv_launch_take();
    kernel.is_begun = false;
}

static bool is_send_or_receive(const char *operation)
{
    return strcmp(operation, "send") == 0 || strcmp(operation, "recv") == 0 ||
           strcmp(operation, "send_recv") == 0;
}

/* Several of one operation are one of it with all elements; sends with receives are "send_recv";
 * of others, only the kernel's own name can tell. */
static void add_to_kernel(const struct vv_launch_collective *one)
{
    struct vv_launch_collective *sum = &kernel.sum;
    if (kernel.launch == 0)
        return;
    if (!kernel.is_begun) {
        kernel.is_begun = true;
        *sum = *one;
    } else {
        if (strcmp(sum->operation, one->operation) != 0)
            snprintf(sum->operation, sizeof sum->operation, "%s",
                     is_send_or_receive(sum->operation) && is_send_or_receive(one->operation)
                         ? "send_recv" : "");
        sum->dtype = sum->dtype == one->dtype ? sum->dtype : VARVE_DTYPE_UNKNOWN;
        sum->peer = sum->peer == one->peer ? sum->peer : -1;
        sum->in_elements += one->in_elements;
        sum->out_elements += one->out_elements;
        sum->bytes += one->bytes;
        sum->channels = sum->channels > one->channels ? sum->channels : one->channels;
    }
    vv_launch_tell(kernel.launch, sum);
}

/* ---- the range ---- */

static void put(const struct vv_nccl_event *event, const struct vv_launch_collective *one)
{
    VARVE_KEY(algorithm, "algorithm");
    VARVE_KEY(protocol, "protocol");
    VARVE_KEY(channels, "channels");
    char name[40];
    snprintf(name, sizeof name, "nccl%s", event->function);
    const struct varve_collective_info info = {
        .struct_size = sizeof info, .dtype = one->dtype, .operation = one->operation,
        .group = one->group[0] != '\0' ? one->group : NULL, .rank = one->rank,
        .group_size = one->group_size, .peer = one->peer, .number = one->number,
        .in_elements = one->in_elements, .out_elements = one->out_elements, .bytes = one->bytes,
    };
    struct varve_arg args[3];
    uint32_t count = 0;
    const struct { struct varve_key *key; const char *text; } texts[] = {
        { &algorithm, one->algorithm }, { &protocol, one->protocol },
    };
    for (size_t i = 0; i < 2; i++)
        if (texts[i].text[0] != '\0') {
            args[count] = varve_arg_of(texts[i].key, VARVE_ARG_TEXT, 0);
            args[count++].value.text = texts[i].text;
        }
    if (one->channels > 0) {
        args[count] = varve_arg_of(&channels, VARVE_ARG_INT, 0);
        args[count++].value.integer = one->channels;
    }
    varve_begin_name(name, VARVE_LAYER_COMM);
    varve_collective(&info);
    varve_args(args, count);
    varve_end();
}

void *vv_nccl_event(unsigned version, struct vv_nccl_group *group, const void *descriptor)
{
    static const char here; /* a handle that is not NULL, for which NCCL tells of more           */
    struct vv_nccl_event event;
    struct vv_launch_collective one;
    vv_nccl_event_read(version, descriptor, &event);
    if (event.kind == VV_NCCL_GROUP) {
        begin_kernel();
        return (void *)(uintptr_t)&here;
    }
    if (event.kind == VV_NCCL_COLLECTIVE_CALL)
        return keep_call(&event);
    if (event.kind != VV_NCCL_COLLECTIVE && event.kind != VV_NCCL_POINT_TO_POINT)
        return NULL;
    if (version == 5 && event.kind == VV_NCCL_COLLECTIVE)
        use_call(&event);
    vv_nccl_group_name(group, event.name, event.hash, event.rank);
    describe(&event, group, &one);
    put(&event, &one);
    add_to_kernel(&one);
    return NULL;
}
