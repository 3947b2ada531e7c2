/* SPDX-License-Identifier: Apache-2.0 */
/* process_facts.h — reads from the metadata of a process how it was recorded (doc/format.md §2),
 * and nothing else. Thread-compatible. */
#ifndef VV_CLI_RECORDING_PROCESS_FACTS_H
#define VV_CLI_RECORDING_PROCESS_FACTS_H

#include "settings/keep_last.h"

struct vv_process_facts {
    struct vv_keep keep; /* flight recorder; both 0 = everything was kept */
    char storage[512];   /* "" = in shared file mappings, as usual */
};

/* `folder` is the folder of one process. If it cannot be read, the facts are empty. */
void vv_process_facts_read(const char *folder, struct vv_process_facts *out_facts);

#endif
