/* SPDX-License-Identifier: Apache-2.0 */
/* process_folder.h — makes sure that the process has its folder, before anything is written. */
#ifndef VV_RECORD_PROCESS_FOLDER_H
#define VV_RECORD_PROCESS_FOLDER_H

#include <stdbool.h>

#include "base/must_use.h"

/* True: a session runs, and the process has its folder and its own stream there. Switches that
 * other processes made, and losses, are written before whatever comes now. If the process has no
 * folder yet, vv_session.on_first_record is called and makes it, or fails. Lock held. */
VV_MUST_USE bool vv_process_folder_ensure(void);
/* The same before any record, for a process of which something is known that its trace should say.
 * Takes the lock. A failure is tried again with the first record. */
void vv_process_folder_make(void);

#endif
