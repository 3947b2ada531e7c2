/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h — an observer that notes what it is told, as one line of text. */
#ifndef VV_TEST_OBSERVE_WATCH_H
#define VV_TEST_OBSERVE_WATCH_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "varve/observer.h"

#define NOTES_BYTES 4096

static char notes[NOTES_BYTES]; /* "a(name a)name": observer a began name, and ended it */

static inline void note(const char *what, char mark, const char *name)
{
    size_t length = strlen(notes);
    snprintf(notes + length, sizeof notes - length, "%s%s%c%s", length > 0 ? " " : "", what, mark,
             name);
}

struct watch {
    const char *label;
    uint64_t handle;
    unsigned starts, ends, releases;
    int start_result, end_result;
    struct varve_observed at_start, at_end;
};

static inline int watch_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    struct watch *watch = user;
    assert_int_equal(*out_context, 0);
    *out_context = 1000 + ++watch->starts;
    watch->at_start = *what;
    note(watch->label, '(', what->name);
    return watch->start_result;
}

static inline int watch_end(void *user, const struct varve_observed *what, uint64_t context)
{
    struct watch *watch = user;
    assert_in_range(context, 1001, 1000 + watch->starts);
    watch->ends++;
    watch->at_end = *what;
    note(watch->label, (what->flags & VARVE_OBSERVED_REMOVED) != 0 ? '!' : ')', what->name);
    return watch->end_result;
}

static inline void watch_released(void *user)
{
    ((struct watch *)user)->releases++;
}

static inline struct varve_observer watching(struct watch *watch)
{
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    observer.start = watch_start;
    observer.end = watch_end;
    observer.released = watch_released;
    observer.user = watch;
    return observer;
}

static inline void watch_add(struct watch *watch, uint32_t scopes, uint32_t flags)
{
    struct varve_error error;
    struct varve_observer observer = watching(watch);
    observer.scopes = scopes;
    observer.flags = flags;
    if (varve_observer_add(&observer, &watch->handle, &error) != VARVE_OK)
        fail_msg("%s", error.message);
}

static inline void watch_remove(struct watch *watch)
{
    struct varve_error error;
    if (varve_observer_remove(watch->handle, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    assert_int_equal(watch->starts, watch->ends);
    assert_int_equal(watch->releases, 1);
}

#define assert_notes(expected)                \
    do {                                      \
        assert_string_equal(notes, expected); \
        notes[0] = '\0';                      \
    } while (0)

#endif
