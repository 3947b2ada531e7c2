/* SPDX-License-Identifier: Apache-2.0 */
/* process_facts.h — what the metadata of a process in a trace says of how it was recorded (doc/format.md §2),
 * read without the rest. Thread-compatible. */
#ifndef VV_CLI_RECORDING_PROCESS_FACTS_H
#define VV_CLI_RECORDING_PROCESS_FACTS_H

#include "settings/keep_last.h"

struct vv_process_facts {
    struct vv_keep keep; /* of a flight recorder; both 0 = everything */
    char storage[512];   /* "" = in shared file mappings, as usual */
};

/* `folder` is that of one process. What cannot be read says nothing. */
void vv_process_facts_read(const char *folder, struct vv_process_facts *out_facts);

#endif
