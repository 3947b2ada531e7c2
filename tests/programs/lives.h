/* SPDX-License-Identifier: Apache-2.0 */
/* lives.h — what a random life (lives.c) notes down where it outlives every process of it: a shared
 * mapping of a file.
 * tests/soak/lives.py reads it back, field by field. */
#ifndef VV_TESTS_LIVES_H
#define VV_TESTS_LIVES_H

#include <stdint.h>

#define LIVES_SESSIONS 256u
#define LIVES_ENTRIES 65536u

enum lives_session_flags { LIVES_REMOVED = 1, LIVES_MAY_LOSE = 2 };

struct lives_session { /* number 0 = nothing is recorded                                       */
    char place[60];    /* the trace's folder, as it is called by now                           */
    uint32_t flags;
};

enum lives_state { LIVES_BEGUN = 1, LIVES_ACKNOWLEDGED = 2 };

/* A record; its value in the trace is its number + 1. */
struct lives_entry {
    uint32_t pid, tid;
    uint16_t before, after; /* the sessions when it was begun and when it was acknowledged     */
    uint8_t state;
    uint8_t is_unsure;      /* sessions changed meanwhile: it may be in either, or in none      */
    uint16_t kind;
};

struct lives_journal {
    uint32_t entries, sessions; /* so far; atomic                                              */
    uint32_t failures;          /* children that ended otherwise than they were meant to; atomic */
    int32_t status;             /* what the first process is to end with, as Python tells it    */
    char first_failure[496];
    struct lives_session session[LIVES_SESSIONS];
    struct lives_entry entry[LIVES_ENTRIES];
};

#endif
