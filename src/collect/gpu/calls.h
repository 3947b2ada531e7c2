/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h — calls of a GPU's runtime and driver: each is a range on its thread, which says the
 * number of the work that it starts. So work belongs to the operator around the call, and what was
 * launched is in the trace before the device tells of it.
 *
 * A call may call another one in turn, with a number of its own or with the same one. Only the
 * outer call is a range; an inner number counts as one of the outer call's. */
#ifndef VV_COLLECT_GPU_CALLS_H
#define VV_COLLECT_GPU_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varve/varve.h"

#define VV_GPU_SWITCHES 64u

/* The calls of one vendor's libraries. A collector has one, which begins as zero but for these. */
struct vv_gpu_calls {
    void (*flush)(void);    /* the library hands over what is complete, and waits for no device  */
    void (*describe)(void); /* devices that are new; or NULL                                     */
    char *names;            /* for names of calls                                                */
    size_t names_bytes;

    size_t names_used;
    uint64_t next_flush_ticks; /* atomic                                                         */
    bool has_ended;            /* atomic                                                         */
    bool is_switching;         /* atomic: a thread writes down a switch                           */
    uint32_t switch_count;     /* atomic; of those that are written down                         */
    /* Since when calls are recorded, or not: by number, which the library counts up. Atomic.    */
    struct { uint64_t correlation; bool is_on; } switches[VV_GPU_SWITCHES];
};

void vv_gpu_calls_begin(struct vv_gpu_calls *calls);
/* The forked child has no calls that are of use. */
void vv_gpu_calls_end(struct vv_gpu_calls *calls);
bool vv_gpu_calls_have_ended(const struct vv_gpu_calls *calls);

/* Gives the site the first `length` bytes of a name, unless it has one. False: no room. */
bool vv_gpu_call_name(struct vv_gpu_calls *calls, struct varve_site *site, const char *name,
                      size_t length);

/* The calling thread is in no other call. */
bool vv_gpu_call_is_outer(void);

/* At the begin and the end of a call: begin returns what end is to be given. errno may change. */
uint64_t vv_gpu_call_begin(struct vv_gpu_calls *calls, struct varve_site *site,
                           uint64_t correlation);
void vv_gpu_call_end(struct vv_gpu_calls *calls, uint64_t begun);

/* Work with this number is launched where no call of the library's is told of. */
void vv_gpu_launch_alone(struct vv_gpu_calls *calls, uint64_t correlation);

/* Was anything recorded of devices when the call with this number was made? */
bool vv_gpu_call_was_on(const struct vv_gpu_calls *calls, uint64_t correlation);

#endif
