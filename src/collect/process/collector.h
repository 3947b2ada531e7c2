/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h — the functions of a source of records (settings/sources.h) in a process. A function
 * that is NULL is not called. Two of these functions never run at once. */
#ifndef VV_COLLECT_PROCESS_COLLECTOR_H
#define VV_COLLECT_PROCESS_COLLECTOR_H

#include <stdbool.h>

struct vv_collector {
    void (*want)(bool is_wanted); /* called first: is the source asked for?                       */
    void (*look)(void);           /* the source is asked for, and a library may be new            */
    void (*leave)(void);          /* not asked for any more: records no further call              */
};

#endif
