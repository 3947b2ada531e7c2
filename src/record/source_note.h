/* SPDX-License-Identifier: Apache-2.0 */
/* source_note.h — what each collector says of itself in the trace: varve.collector (doc/format.md §6).
 *
 * What was noted is remembered, and said again in each session and in each forked child, once that has a folder; a note
 * makes none. Thread-safe; not from a signal handler. */
#ifndef VV_RECORD_SOURCE_NOTE_H
#define VV_RECORD_SOURCE_NOTE_H

#include "ctf/layout.h"

#define VV_COLLECTOR_NAME_BYTES_MAX 31u
#define VV_COLLECTOR_TEXT_BYTES_MAX 200u

/* How it is with a collector from now on, and what or why in a short clause: UTF-8, longer ones are cut, also the
 * name. As many names as come; what finds no memory is said in the session that runs, and in the next as a number. */
void vv_collector_note(const char *name, enum vv_collector_state state, const char *text);

/* Says all of it in a folder that was just made. Lock held, session ready. */
void vv_collector_write_all(void);

#endif
