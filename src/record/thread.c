/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c — threads come, go, fork and fall behind. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/system/libc.h"
#include "base/system/os.h"
#include "record/hot_path.h"
#include "record/lost.h"
#include "record/sigbus.h"

#define SLAB_THREADS 16u

static pthread_key_t exit_key;
/* Under the lock: closed, for reuse; and with a stream that is mapped, of whichever session. */
static struct vv_thread *spare_threads, *attached;
static uint64_t attached_count; /* of these, that a thread still writes into */

static struct vv_thread *take_thread(void)
{
    if (spare_threads == NULL) {
        struct vv_thread *slab = vv_os_reserve(SLAB_THREADS * sizeof *slab);
        for (unsigned i = 0; slab != NULL && i < SLAB_THREADS; i++) {
            slab[i].next = spare_threads;
            spare_threads = &slab[i];
        }
    }
    struct vv_thread *thread = spare_threads;
    if (thread != NULL)
        spare_threads = thread->next;
    return thread;
}

static void give_thread(struct vv_thread *thread)
{
    if (thread->previous != NULL)
        thread->previous->next = thread->next;
    else
        attached = thread->next;
    if (thread->next != NULL)
        thread->next->previous = thread->previous;
    thread->previous = NULL;
    thread->next = spare_threads;
    spare_threads = thread;
}

/* Those whose interrupted records have been published since. */
static void give_kept(struct vv_self *self)
{
    while (self->kept != NULL && !vv_stream_awaits(&self->writer)) {
        struct vv_thread *thread = self->kept;
        self->kept = thread->next_kept;
        vv_stream_unmap(&thread->stream);
        give_thread(thread);
    }
}

static bool put_name(uint64_t tid, uint32_t string)
{
    const uint64_t record[] = { VV_EVENT_THREAD, tid, string };
    return vv_session_put(record, 3);
}

/* The kernel's name of the thread into the process's stream, if it is new or changed. */
static void write_name(struct vv_thread *thread)
{
    char name[sizeof thread->name];
    if (thread->named || vv_os_thread_name(thread->stream.tid, name) != 0 ||
        strcmp(name, thread->name) == 0)
        return;
    uint32_t id = vv_string_id(name);
    if (id == 0)
        return;
    memcpy(thread->name, name, sizeof name);
    put_name(thread->stream.tid, id);
}

void vv_thread_named(uint32_t string)
{
    struct vv_self *self = &vv_self;
    self->name_id = string; /* written when the thread attaches … */
    if (self->thread == NULL)
        return;
    self->thread->named = true; /* … or at once */
    if (!put_name(self->thread->stream.tid, string))
        vv_thread_discard(self, 1);
}

void vv_thread_rename_all(void)
{
    for (struct vv_thread *thread = attached; thread != NULL; thread = thread->next)
        if (thread->serial == vv_session.serial)
            write_name(thread);
}

/* Lock held. */
static bool attach(struct vv_self *self)
{
    if (self->retry_ticks != 0 && vv_clock_ticks() < self->retry_ticks)
        return false;
    self->retry_ticks = vv_clock_in_a_second(); /* until we know better */
    if (!vv_session_ready())
        return false;
    struct vv_thread *thread = take_thread();
    if (thread == NULL)
        return false;
    uint64_t instance = vv_session.instances + 1;
    char base[32];
    snprintf(base, sizeof base, "thread.%llu", (unsigned long long)instance);
    const struct vv_stream_identity identity = { &vv_session.folder, base, instance, vv_birth_tid() };
    thread->name[0] = '\0';
    thread->named = self->name_id != 0;
    thread->serial = vv_session.serial;
    thread->owner = self;
    if (vv_stream_open(&thread->stream, &self->writer, &identity) != 0) {
        thread->next = spare_threads;
        spare_threads = thread;
        return false;
    }
    vv_session.instances = instance;
    thread->previous = NULL;
    thread->next = attached;
    if (thread->next != NULL)
        thread->next->previous = thread;
    attached = thread;
    attached_count++;
    self->thread = thread;
    self->retry_ticks = 0;
    self->era = (uint32_t)(vv_clock_ticks() >> VV_ERA_SHIFT);
    pthread_setspecific(exit_key, self);
    if (thread->named && vv_string_write(self->name_id))
        put_name(identity.tid, self->name_id);
    write_name(thread);
    if (instance == 1)
        vv_stream_prepare(&vv_session.folder);
    return true;
}

/* Lock held. */
static void detach(struct vv_self *self)
{
    struct vv_thread *thread = self->thread;
    self->thread = NULL;
    attached_count--;
    self->writer.limit = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (thread->serial == vv_session.serial)
        write_name(thread);
    vv_stream_close(&thread->stream, &self->writer);
    thread->next_kept = self->kept;
    self->kept = thread;
    give_kept(self);
    if (!vv_session.running && attached_count == 0)
        vv_harm_unwatch();
    if (vv_session.running && vv_session.has_folder)
        vv_stream_prepare(&vv_session.folder);
}

/* Without the lock: it grows before the epoch does, so who sees the new epoch sees the new serial. */
static uint32_t current_serial(void)
{
    return __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED);
}

bool vv_thread_advance(struct vv_self *self)
{
    if (self->busy)
        return false;
    if (self->thread != NULL && self->thread->serial == current_serial() &&
        self->writer.limit == NULL && vv_clock_ticks() < self->thread->stream.retry_ticks)
        return false; /* no room a moment ago: do not ask again for each record */
    if (!vv_record_enter())
        return false;
    bool room;
    if (self->thread != NULL && self->thread->serial != vv_session.serial)
        detach(self);
    if (self->thread == NULL) {
        room = attach(self);
    } else {
        self->writer.limit = NULL; /* handlers from here on find no room, and count */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        room = vv_stream_advance(&self->thread->stream, &self->writer);
        vv_stream_prepare(&vv_session.folder);
    }
    vv_record_leave();
    vv_self_in_epoch(); /* whom a handler interrupted writes on into this stream: what it counts is of this session */
    return room;
}

bool vv_thread_meet_string(struct vv_self *self, uint32_t string)
{
    if (!vv_record_enter())
        return false;
    if (self->thread != NULL && self->thread->serial != vv_session.serial)
        detach(self);
    bool is_there = (self->thread != NULL || attach(self)) && vv_string_write(string);
    vv_record_leave();
    vv_self_in_epoch();
    return is_there;
}

void vv_thread_tick(struct vv_self *self, uint64_t ticks)
{
    if (!vv_record_enter())
        return;
    uint32_t former = self->era;
    self->era = (uint32_t)(ticks >> VV_ERA_SHIFT);
    /* After a long sleep (a quarter of the period of the low bits) a packet with a full clock value. */
    bool slept = self->era - former >= 1u << (VV_TICKS_BITS - 2 - VV_ERA_SHIFT);
    if (slept && self->thread != NULL && self->writer.limit != NULL &&
        self->thread->serial == vv_session.serial) {
        self->writer.limit = NULL;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        (void)vv_stream_advance(&self->thread->stream, &self->writer);
    }
    if (vv_session_ready())
        vv_session_clock();
    vv_record_leave();
}

void vv_thread_forget(struct vv_self *self)
{
    self->depth = 0;
    self->step_depth = 0;
    self->skips = 0;
    memset(self->skipped, 0, sizeof self->skipped);
    self->frames = 0;
    memset(self->framed, 0, sizeof self->framed);
}

void vv_thread_resync(struct vv_self *self)
{
    if (self->busy)
        return;
    if (vv_birth_is_unknown() && vv_record_enter())
        vv_record_leave();
    self->epoch = __atomic_load_n(&varve_control_page.epoch, __ATOMIC_ACQUIRE) +
                  __atomic_load_n(&vv_birth_page.mark, __ATOMIC_RELAXED);
    self->retry_ticks = 0; /* what failed then was another session's */
    vv_thread_forget(self);
    self->plain_epoch = self->epoch;
    self->era--; /* the next record ticks: a switch made from outside is written down before it */
    if (self->thread != NULL && self->thread->serial != current_serial())
        self->writer.limit = NULL; /* the next record takes the slow path and finds its session */
}

/* Where no session runs nothing is recorded, and nothing is lost. */
void vv_thread_discard(struct vv_self *self, uint64_t records)
{
    if (self->thread != NULL && self->thread->serial == current_serial()) {
        vv_stream_discard(&self->thread->stream, &self->writer, records);
        return;
    }
    if (!__atomic_load_n(&vv_session.running, __ATOMIC_RELAXED))
        return;
    vv_lost_count(records);
    if (__atomic_load_n(&vv_session.has_folder, __ATOMIC_RELAXED) && vv_record_enter()) {
        vv_session_count_homeless();
        vv_record_leave();
    }
}

static void on_thread_exit(void *value)
{
    struct vv_self *self = value;
    if ((self->thread == NULL && self->kept == NULL) || !vv_record_enter())
        return;
    vv_stream_settle(&self->writer);
    if (self->thread != NULL) /* it was another process's */
        detach(self);
    vv_writer_await_none(&self->writer); /* what is still unfinished stays so */
    give_kept(self);
    vv_record_leave();
}

/* ---- fork: the child has this thread alone, and files of its own ---- */

static _Thread_local bool fork_entered; /* else a handler forks within the slow path, which leaves later */

static void before_fork(void)
{
    fork_entered = vv_record_enter();
}

static void after_fork_in_parent(void)
{
    if (fork_entered)
        vv_record_leave();
}

static void after_fork_in_child(void)
{
    vv_record_in_child();
    if (fork_entered)
        vv_record_leave();
}

/* Whoever forks may be attached to a session that has ended: its writer is forgotten all the same. */
void vv_thread_abandon_all(void)
{
    struct vv_self *self = &vv_self;
    struct vv_thread *thread = attached;
    attached = NULL;
    attached_count = 0;
    while (thread != NULL) {
        struct vv_thread *next = thread->next;
        vv_stream_abandon(&thread->stream, thread->owner == self);
        thread->previous = NULL;
        thread->next = spare_threads;
        spare_threads = thread;
        thread = next;
    }
    vv_writer_forget(&self->writer);
    self->thread = self->kept = NULL;
    self->retry_ticks = 0;
}

bool vv_thread_end_all(void)
{
    struct vv_self *self = &vv_self;
    if (self->thread != NULL && self->thread->serial == vv_session.serial)
        detach(self);
    for (struct vv_thread *thread = attached; thread != NULL; thread = thread->next)
        if (thread->serial == vv_session.serial)
            vv_stream_end(&thread->stream);
    return attached_count != 0;
}

void vv_thread_init(void)
{
    pthread_key_create(&exit_key, on_thread_exit);
    (void)vv_libc_at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
}
