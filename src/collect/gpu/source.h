/* SPDX-License-Identifier: Apache-2.0 */
/* source.h — how far a collector of GPUs is attached to its vendor's library, and what happens to
 * it as the process forks or ends.
 *
 * The vendor's library may call back on any thread, so what such a call needs to know is atomic.
 * The lock is held while the library is asked to begin or to end. */
#ifndef VV_COLLECT_GPU_SOURCE_H
#define VV_COLLECT_GPU_SOURCE_H

#include <pthread.h>
#include <stdbool.h>

enum vv_gpu_state {
    VV_GPU_WAITING,
    VV_GPU_ATTACHED,
    VV_GPU_AWAY, /* it was attached, and may be again                                            */
    VV_GPU_REFUSED,
    VV_GPU_ENDED
};

/* A collector has one, which begins as zero but for these and the lock. */
struct vv_gpu_source {
    const char *name;     /* of the collector                                                    */
    const char *of_child; /* why a forked child records nothing                                  */
    void (*hand_over)(bool is_last); /* what the library has; without the lock                   */
    void (*end_calls)(void);         /* in a forked child: no call is of use any more            */
    pthread_mutex_t lock;

    enum vv_gpu_state state; /* written with the lock; atomic                                    */
    bool watches_forks;      /* atomic                                                           */
    bool watches_ends;       /* with the lock                                                    */
};

enum vv_gpu_state vv_gpu_source_state(const struct vv_gpu_source *source);
void vv_gpu_source_become(struct vv_gpu_source *source, enum vv_gpu_state state);
/* Says why nothing is recorded. */
void vv_gpu_source_refuse(struct vv_gpu_source *source, const char *why);

/* Before the lock is taken for long: a forked child has a lock of its own. */
void vv_gpu_source_watch_forks(struct vv_gpu_source *source);
/* From now on the library hands over when it is asked to, and as the process ends. With the
 * lock. */
void vv_gpu_source_watch_ends(struct vv_gpu_source *source);

#endif
