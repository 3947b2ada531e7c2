/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h — the work of a thread in the slow path, and its end. */
#ifndef VV_RECORD_THREAD_H
#define VV_RECORD_THREAD_H

#include "record/stream/recorder.h"

/* Makes room: attaches the thread, or opens its next packet. False: there is no room now; nothing
 * was counted. */
VV_MUST_USE bool vv_thread_advance(struct vv_self *self);
/* Attaches the thread to the running session, if need be, and makes sure that the session has the
 * records of the string and of the track; 0 = none. */
VV_MUST_USE bool vv_thread_meet(struct vv_self *self, uint32_t string, uint32_t track);
/* The era changed: opens a new packet if the thread slept long, and writes a clock record if one is
 * due. */
void vv_thread_tick(struct vv_self *self, uint64_t ticks);
/* Forgets the open ranges. */
void vv_thread_forget(struct vv_self *self);
/* The epoch changed: forgets the open ranges, and leaves the stream if it belongs to a former
 * session. */
void vv_thread_resync(struct vv_self *self);
/* Counts lost records: in the thread's stream, or outside any stream (lost.h). */
void vv_thread_discard(struct vv_self *self, uint64_t records);
/* Called once in a process. */
void vv_thread_init(void);
/* In a forked child: forgets all threads, in whichever session. Lock held. */
void vv_thread_abandon_all(void);
/* The session ends. The calling thread leaves its stream. The other threads' streams shrink to
 * their open packets. These threads leave their streams when they next check the epoch; until then
 * they touch only their mapping. Returns whether threads are still attached. Lock held. */
VV_MUST_USE bool vv_thread_end_all(void);
/* CPU time of the threads that recorded something, also of those that have ended. Lock held. */
uint64_t vv_thread_recorded_cpu_ns(void);
/* The program names the calling thread. Lock held, session ready. */
void vv_thread_named(uint32_t string);
/* The program's language names the calling thread. Costs nothing while the thread has not recorded
 * anything. A name by varve_thread_name goes first. Not from signal handlers. */
void vv_thread_name_given(const char *name);
/* Writes the names of threads whose names changed. Lock held. */
void vv_thread_rename_all(void);

#endif
