/* SPDX-License-Identifier: Apache-2.0 */
/* lost.h — records lost outside of any stream.
 *
 * While the process has no folder they are counted in the trace's page (ctf/lost_page.h), which outlives it, and stay
 * there. Where there is no such page, and where the process has a folder but the thread has no stream, they are
 * counted in memory, and move into the process's own stream at the next occasion. */
#ifndef VV_RECORD_LOST_H
#define VV_RECORD_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"

/* A session starts: its page is looked for in the trace, and made where nobody has, if that is wanted. Lock held. */
void vv_lost_begin(const struct vv_own_folder *trace, bool is_made);
/* The session, or the process, ends. A page that this process made goes, unless it is needed. Lock held. */
void vv_lost_end(const struct vv_own_folder *trace);
/* In a forked child. */
void vv_lost_forked(void);
/* The process's folder cannot be made, for this errno number. Lock held. */
void vv_lost_because(int os_errno);
/* Async-signal-safe. */
void vv_lost_count(uint64_t records);
/* Those in memory, which are forgotten. */
uint64_t vv_lost_take(void);
/* The page's file was cut: is it there? Then there is memory now, and what it counted is gone. Async-signal-safe. */
VV_MUST_USE bool vv_lost_heal(uintptr_t address);

#endif
