/* SPDX-License-Identifier: Apache-2.0 */
/* source_note.h — writes what each collector says of itself into the trace: varve.collector
 * (doc/format.md §6).
 *
 * Notes are remembered and written again in each session and in each forked child, once it has a
 * folder. A note does not cause a folder to be made. Thread-safe; not for signal handlers. */
#ifndef VV_RECORD_SOURCE_NOTE_H
#define VV_RECORD_SOURCE_NOTE_H

#include "ctf/layout.h"

#define VV_COLLECTOR_NAME_BYTES_MAX 31u
#define VV_COLLECTOR_TEXT_BYTES_MAX 200u
/* A note of this name says nothing of a collector, but a fact of the process: doc/format.md §6. */
#define VV_FACT_PREFIX "fact."

/* Sets the state of a collector from now on. `text` says what or why in a short clause of UTF-8. A
 * name or a text that is too long is cut. There is no limit on the number of collectors. If there
 * is no memory for a note, it is written only in the running session; later sessions get the number
 * of such notes. */
void vv_collector_note(const char *name, enum vv_collector_state state, const char *text);

/* Writes a fact that is a number into the running session, unless it is there already. Such a fact
 * changes, so no child and no later session gets it. Lock held, session ready. */
struct vv_changing_fact { const char *name; uint64_t value; uint32_t serial; };
void vv_fact_write(struct vv_changing_fact *fact, uint64_t value);

/* Writes all notes into a folder that was just made. Lock held, session ready. */
void vv_collector_write_all(void);

#endif
