/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h — copies what a recording holds now into a trace of its own, while the recording goes
 * on.
 *
 * `varve dump` calls it, and record/session/dump.c in the recorded process itself. It uses only
 * system calls and static buffers, so it also works in a signal handler; only one call at a time in
 * a process (EBUSY). It never waits for the recorder, which may write, remove old parts (a flight
 * recorder), hang or be dead. Functions return 0 or an errno number, and after a failure they leave
 * nothing behind. EBADMSG: a stream file is damaged or packed. EINTR: *stop was set. ENODATA:
 * nothing is recorded there.
 *
 * The law that makes the copy consistent: data copied later defines what data copied earlier refers
 * to. So the newest packet of a stream comes first, then the older ones back to the oldest; first
 * threads, then the process's own stream with the strings that they use, then the metadata with the
 * classes of both (doc/format.md §1, §4). */
#ifndef VV_CTF_SNAPSHOT_SNAPSHOT_H
#define VV_CTF_SNAPSHOT_SNAPSHOT_H

#include <signal.h>
#include <stddef.h>

/* Copies the folder of one process; `out_folder` must not exist. */
VV_MUST_USE int vv_snapshot(const char *process_folder, const char *out_folder);

struct vv_snapshot_job {
    const char *trace;
    const char *const *processes;      /* names of their folders, NULL at the end; NULL = all */
    const volatile sig_atomic_t *stop; /* give up when it is not 0; NULL = never */
};

/* Copies a trace. `out_trace` appears when it is complete; before, nothing or an empty folder may
 * be there (else EEXIST). */
VV_MUST_USE int vv_snapshot_trace(const struct vv_snapshot_job *job, const char *out_trace);

/* The same, to "NAME.dump.varve" beside "NAME.varve", or to the first free one of
 * "NAME.dump.2.varve", … The path is also stored after a failure; "" if there was none. */
VV_MUST_USE int vv_snapshot_next(const struct vv_snapshot_job *job, char *out_path,
                                 size_t capacity);

#endif
