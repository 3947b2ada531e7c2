/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h — what a recording holds now, as a trace of its own, while it goes on.
 *
 * Called by `varve dump` and, in the recorded process itself, by record/session/dump.c: only system calls and static buffers, so
 * also in a signal handler; one at a time in a process (EBUSY). Nothing waits for the recorder, which may write, remove
 * old parts (a flight recorder), hang or be dead. Functions return 0 or an errno number, and leave nothing behind on
 * failure. EBADMSG: a stream file that is damaged, or packed. EINTR: *stop was set. ENODATA: nothing is recorded there.
 *
 * The law that makes the copy whole: what is copied later covers what was copied before. So the newest packet of a
 * stream first, then back to the oldest that is there; threads, then the process's own stream with the strings that
 * they name, then metadata with the classes of both (doc/format.md §1, §4). */
#ifndef VV_CTF_SNAPSHOT_SNAPSHOT_H
#define VV_CTF_SNAPSHOT_SNAPSHOT_H

#include <signal.h>
#include <stddef.h>

/* The folder of one process; `out_folder` must not exist. */
VV_MUST_USE int vv_snapshot(const char *process_folder, const char *out_folder);

struct vv_snapshot_job {
    const char *trace;
    const char *const *processes;      /* names of their folders, ended by NULL; NULL = all          */
    const volatile sig_atomic_t *stop; /* give up once it is not 0; NULL = never                     */
};

/* A trace: it appears at `out_trace`, whole, where nothing or an empty folder may lie (EEXIST). */
VV_MUST_USE int vv_snapshot_trace(const struct vv_snapshot_job *job, const char *out_trace);

/* As "NAME.dump.varve" beside "NAME.varve", or the first of "NAME.dump.2.varve", … that is free. The path is stored
 * also on failure, "" if there was none. */
VV_MUST_USE int vv_snapshot_next(const struct vv_snapshot_job *job, char *out_path, size_t capacity);

#endif
