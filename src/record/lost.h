/* SPDX-License-Identifier: Apache-2.0 */
/* lost.h — counts records that are lost outside any stream.
 *
 * While the process has no folder, it counts them in the trace's page (ctf/lost_page.h), which
 * outlives the process, and they stay there. If there is no such page, or if the process has a
 * folder but the thread has no stream, they are counted in memory. From there they move into the
 * process's own stream at the next occasion. */
#ifndef VV_RECORD_LOST_H
#define VV_RECORD_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"

/* A session starts: looks for its page in the trace. If `is_made`, makes the page where nobody has
 * made it. Lock held. */
void vv_lost_begin(const struct vv_own_folder *trace, bool is_made);
/* The session or the process ends: leaves the page, and removes it if this process made it and
 * nobody needs it. After a session's end no count can fault, so this call comes before
 * vv_sigbus_unwatch. Where the process ends, it keeps the page of another process. Lock held. */
void vv_lost_end(const struct vv_own_folder *trace);
/* In a forked child. */
void vv_lost_forked(void);
/* Are losses counted in a file's page, which may be cut (sigbus.h)? Async-signal-safe. */
bool vv_lost_has_page(void);
/* The process's folder cannot be made: stores the errno number into the page. Lock held. */
void vv_lost_because(int os_errno);
/* Async-signal-safe. */
void vv_lost_count(uint64_t records);
/* The page's file was cut. Is `address` in the page? If so, memory takes the page's place, and what
 * the page counted is gone. Async-signal-safe. */
VV_MUST_USE bool vv_lost_heal(uintptr_t address);

#endif
