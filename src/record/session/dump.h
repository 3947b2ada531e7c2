/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h — a signal that makes the process write what its session holds (doc/control.md). */
#ifndef VV_RECORD_SESSION_DUMP_H
#define VV_RECORD_SESSION_DUMP_H

/* From now on, when `signal` comes, the process writes the next free NAME.dump.varve beside the
 * running session's NAME.varve. Called when a session begins. Returns 0 or an errno number. EBUSY:
 * the program has a handler of its own, which stays. */
VV_MUST_USE int vv_dump_on_signal(int signal);

#endif
