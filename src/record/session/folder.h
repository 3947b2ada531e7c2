/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h — the folder of the running session for this process. The folder holds the metadata, the
 * process's own stream, and one stream for each thread. All these functions need the lock. */
#ifndef VV_RECORD_SESSION_FOLDER_H
#define VV_RECORD_SESSION_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/must_use.h"

/* Makes the folder; its stream says that `layers` are recorded. Returns 0 or an errno number. */
VV_MUST_USE int vv_session_open_folder(uint32_t layers);

/* The function for vv_session.on_first_record: makes the folder, and tries it at most once a
 * second. */
VV_MUST_USE bool vv_session_on_first_record(void);

#endif
