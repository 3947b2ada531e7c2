/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h — what a source of records (settings/sources.h) does in a process. What is NULL is not done. No two of these
 * run at once. */
#ifndef VV_COLLECT_PROCESS_COLLECTOR_H
#define VV_COLLECT_PROCESS_COLLECTOR_H

#include <stdbool.h>

struct vv_collector {
    void (*want)(bool is_wanted); /* before anything is looked for: is the source asked for?      */
    void (*look)(void);           /* it is, and a library may have been loaded since              */
    void (*leave)(void);          /* it is not any more: no call that begins now is recorded      */
};

#endif
