/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c — the lock of the slow path. The thread that holds it receives no signal and cannot be
 * cancelled. */
#include <errno.h>
#include <pthread.h>

#include "base/system/os.h"
#include "record/stream/observation.h"
#include "record/stream/recorder.h"

static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*on_fork)(void);

/* Changes both the state and the type of cancellation. A pending asynchronous cancellation must act
 * at the end, in pthread_setcanceltype: if it acted in pthread_setcancelstate, pthread_join would
 * not return PTHREAD_CANCELED. The signal of an asynchronous cancellation may also be on its way
 * already. The handler of that signal would act within any system call, even while cancellation is
 * disabled; so this function waits for the signal. (glibc 2.36) */
static void forbid_cancellation(int *out_state, int *out_type)
{
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, out_type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, out_state);
    if (*out_type == PTHREAD_CANCEL_ASYNCHRONOUS)
        vv_os_await_cancellation();
}

void vv_recorder_on_fork(void (*forked)(void))
{
    on_fork = forked;
}

/* The lock is made anew: a thread that the child does not have may hold it. */
void vv_recorder_lock_in_child(void)
{
    pthread_mutex_init(&record_lock, NULL);
    pthread_mutex_lock(&record_lock);
    if (on_fork != NULL)
        on_fork();
    if (vv_observation_get() != NULL)
        vv_observation_get()->forked();
}

bool vv_recorder_lock(void)
{
    struct vv_self *self = &vv_self;
    uint64_t signals;
    int saved_errno = errno, cancel, cancel_type;
    if (self->busy)
        return false;
    /* Cancellation is forbidden before `busy` is set. A handler may come here too; and a thread
     * that is cancelled while busy would leave the lock locked and `busy` set. */
    forbid_cancellation(&cancel, &cancel_type);
    vv_os_signals_block(&signals);
    self->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->saved_errno = saved_errno;
    self->saved_cancel = cancel;
    self->saved_cancel_type = cancel_type;
    self->saved_signals = signals;
    self->entered_ns = vv_clock_monotonic_ns();
    if (vv_birth_is_unknown())
        vv_recorder_lock_in_child();
    else
        pthread_mutex_lock(&record_lock);
    return true;
}

void vv_recorder_unlock(void)
{
    struct vv_self *self = &vv_self;
    vv_session.slow_ns += vv_clock_monotonic_ns() - self->entered_ns;
    pthread_mutex_unlock(&record_lock);
    int cancel = self->saved_cancel, cancel_type = self->saved_cancel_type;
    uint64_t signals = self->saved_signals;
    errno = self->saved_errno;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->busy = false;
    vv_os_signals_restore(signals);
    pthread_setcancelstate(cancel, NULL);
    pthread_setcanceltype(cancel_type, NULL);
}
