/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.h — what include/varve/backend.h promises of a backend, as laws: each backend passes
 * all of them, and a broken one fails the law that it breaks. Works on the table alone, so any
 * backend can be tested. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stddef.h>

#include "varve/backend.h"

/* A backend, and what the test can do with its device. Functions that are NULL: it cannot, and laws
 * that need it are skipped. */
struct subject {
    const struct varve_backend *backend;
    const struct varve_backend *other;                 /* any other backend                     */
    void *(*stream)(uint32_t device, uint32_t index);  /* two of each device; or NULL           */
    void (*work)(void *stream, int64_t least_ns);      /* enqueues work that takes so long      */
    void (*hold)(void *stream);                        /* what comes later does not start …     */
    void (*let_go)(void *stream);                      /* … until here                          */
    int (*live_events)(void);                          /* events that are not released          */
    uint32_t (*current)(void);                         /* the device that is current            */
};

struct law {
    const char *name;
    /* NULL: it holds. law_skipped: the subject cannot show it. Else what is wrong. */
    const char *(*check)(const struct subject *subject);
};

extern const char law_skipped[];
extern const struct law laws[];
extern const size_t law_count;

#endif
