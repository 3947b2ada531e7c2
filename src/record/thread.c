/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c — threads begin, end, fork, and fall behind the session. */
#include "record/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/system/libc.h"
#include "base/system/os.h"
#include "record/control/control.h"
#include "record/counters/counters.h"
#include "record/hot_path.h"
#include "record/lost.h"
#include "record/process_clock.h"
#include "record/process_folder.h"
#include "record/sigbus.h"
#include "record/source_note.h"
#include "record/stream/process_stream.h"

#define SLAB_THREADS 16u

static pthread_key_t exit_key;
/* Guarded by the lock. Spare threads are closed and may be used again. Attached threads have a
 * mapped stream, in whichever session. */
static struct vv_thread *spare_threads, *attached;
static uint64_t attached_count; /* attached ones that a thread still writes into */
static uint64_t ended_cpu_ns;   /* CPU time of threads that recorded and have ended             */

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

/* Gives back the kept threads, once no interrupted record is awaited any more. */
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
    return vv_process_stream_put(record, 3);
}

/* Writes the kernel's name of the thread into the process's stream, if it is new or changed. */
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
    self->retry_ticks = vv_clock_in_a_second(); /* cleared if this succeeds */
    if (!vv_process_folder_ensure())
        return false;
    struct vv_thread *thread = take_thread();
    if (thread == NULL)
        return false;
    uint64_t instance = vv_session.instances + 1;
    char base[32];
    snprintf(base, sizeof base, "thread.%llu", (unsigned long long)instance);
    const struct vv_stream_identity identity = { &vv_session.folder, base, instance,
                                                 vv_birth_tid() };
    thread->name[0] = '\0';
    if (self->name_id == 0 && self->given[0] != '\0')
        self->name_id = self->given_id = vv_string_id(self->given);
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
        vv_sigbus_unwatch();
    if (vv_session.running && vv_session.has_folder)
        vv_stream_prepare(&vv_session.folder);
}

/* Needs no lock. The serial grows before the epoch does, so a thread that sees the new epoch sees
 * the new serial, too. */
static uint32_t current_serial(void)
{
    return __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED);
}

/* Processes that end by _exit, as a data loader's workers do, say nothing as they end. */
static void note_thread_count(void)
{
    static struct vv_changing_fact fact = { .name = "threads" };
    uint64_t count = vv_os_thread_count();
    if (count > 0 && vv_session.has_folder)
        vv_fact_write(&fact, count);
}

bool vv_thread_advance(struct vv_self *self)
{
    if (self->busy)
        return false;
    if (self->thread != NULL && self->thread->serial == current_serial() &&
        self->writer.limit == NULL && vv_clock_ticks() < self->thread->stream.retry_ticks)
        return false; /* no room a moment ago: does not ask again for each record */
    if (!vv_recorder_lock())
        return false;
    bool room;
    if (self->thread != NULL && self->thread->serial != vv_session.serial)
        detach(self);
    if (self->thread == NULL) {
        room = attach(self);
    } else {
        self->writer.limit = NULL; /* from here on handlers find no room, and count */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        room = vv_stream_advance(&self->thread->stream, &self->writer);
        vv_stream_prepare(&vv_session.folder);
        note_thread_count();
    }
    vv_recorder_unlock();
    vv_control_tell();
    /* If this is a signal handler, the writer that it interrupted goes on in this stream. So that
     * writer's open ranges must be counted in this session. */
    vv_self_in_epoch();
    return room;
}

bool vv_thread_meet(struct vv_self *self, uint32_t string, uint32_t track)
{
    if (!vv_recorder_lock())
        return false;
    if (self->thread != NULL && self->thread->serial != vv_session.serial)
        detach(self);
    bool is_there = (self->thread != NULL || attach(self)) &&
                    (string == 0 || vv_string_write(string)) &&
                    (track == 0 || vv_track_write(track));
    vv_recorder_unlock();
    vv_self_in_epoch();
    return is_there;
}

void vv_thread_tick(struct vv_self *self, uint64_t ticks)
{
    if (!vv_recorder_lock())
        return;
    uint32_t former = self->era;
    self->era = (uint32_t)(ticks >> VV_ERA_SHIFT);
    /* After a long sleep (a quarter of the period of the low bits), opens a packet: its header has
     * a full clock value. */
    bool slept = self->era - former >= 1u << (VV_TICKS_BITS - 2 - VV_ERA_SHIFT);
    if (slept && self->thread != NULL && self->writer.limit != NULL &&
        self->thread->serial == vv_session.serial) {
        self->writer.limit = NULL;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        (void)vv_stream_advance(&self->thread->stream, &self->writer);
    }
    if (vv_process_folder_ensure()) {
        vv_process_clock_put_due();
        note_thread_count();
    }
    vv_recorder_unlock();
    vv_control_tell();
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
    if (vv_birth_is_unknown() && vv_recorder_lock())
        vv_recorder_unlock();
    self->epoch = __atomic_load_n(&varve_control_page.epoch, __ATOMIC_ACQUIRE) +
                  (uint32_t)vv_birth_word();
    self->retry_ticks = 0; /* the failure belongs to another session */
    vv_thread_forget(self);
    /* The next record calls vv_thread_tick, which first writes a switch that was made from
     * outside. */
    self->era--;
    if (self->thread != NULL && self->thread->serial != current_serial())
        /* The next record takes the slow path and finds the running session. */
        self->writer.limit = NULL;
}

/* If no session runs, nothing is recorded and nothing is lost. */
void vv_thread_discard(struct vv_self *self, uint64_t records)
{
    if (self->thread != NULL && self->thread->serial == current_serial()) {
        vv_stream_discard(&self->thread->stream, &self->writer, records);
        return;
    }
    if (!__atomic_load_n(&vv_session.running, __ATOMIC_RELAXED))
        return;
    vv_lost_count(records);
    if (__atomic_load_n(&vv_session.has_folder, __ATOMIC_RELAXED) && vv_recorder_lock()) {
        vv_process_stream_count_homeless();
        vv_recorder_unlock();
    }
}

static void on_thread_exit(void *value)
{
    struct vv_self *self = value;
    vv_counters_leave();
    if ((self->thread == NULL && self->kept == NULL) || !vv_recorder_lock())
        return;
    vv_stream_settle(&self->writer);
    if (self->thread != NULL) { /* the lock may have cleared it, in a new child */
        ended_cpu_ns += vv_os_cpu_ns(self->thread->stream.tid);
        detach(self);
    }
    vv_writer_await_none(&self->writer); /* unfinished records stay hidden */
    give_kept(self);
    vv_recorder_unlock();
}

/* ---- fork: the child has only this thread, and gets files of its own ---- */

/* False: a signal handler forks inside the slow path, which unlocks later. */
static _Thread_local bool locked_for_fork;

static void before_fork(void)
{
    locked_for_fork = vv_recorder_lock();
}

static void after_fork_in_parent(void)
{
    if (locked_for_fork)
        vv_recorder_unlock();
}

static void after_fork_in_child(void)
{
    vv_recorder_lock_in_child();
    if (locked_for_fork)
        vv_recorder_unlock();
}

/* The thread that forks may be attached to a session that has ended; its writer is forgotten all
 * the same. */
void vv_thread_abandon_all(void)
{
    struct vv_self *self = &vv_self;
    struct vv_thread *thread = attached;
    attached = NULL;
    attached_count = 0;
    ended_cpu_ns = 0;
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

uint64_t vv_thread_recorded_cpu_ns(void)
{
    uint64_t sum_ns = ended_cpu_ns;
    for (const struct vv_thread *thread = attached; thread != NULL; thread = thread->next)
        if (thread->serial == vv_session.serial)
            sum_ns += vv_os_cpu_ns(thread->stream.tid);
    return sum_ns;
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
