/* SPDX-License-Identifier: Apache-2.0 */
/* toy.h — a backend whose devices do not exist (simulated_stream.h), whole or broken in a way that
 * has a name. Its clock is CLOCK_MONOTONIC less TOY_BACK_NS. */
#ifndef TOY_H
#define TOY_H

#include <stdbool.h>

#include "varve/backend.h"

#define TOY_DEVICES 2u
#define TOY_STREAMS 3u /* of each device; the first is the standard stream                      */
#define TOY_BACK_NS INT64_C(1000000000000)

enum toy_break {
    TOY_WHOLE = 0,
    TOY_DISORDERED,     /* events pass work that was enqueued before                            */
    TOY_NEGATIVE,       /* elapsed has the wrong sign                                           */
    TOY_MICROSECONDS,   /* elapsed is in us                                                     */
    TOY_TAKES_FOREIGN,  /* takes events of another backend                                      */
    TOY_BLOCKS,         /* record waits for the stream                                          */
    TOY_FORGETS,        /* release releases nothing                                             */
    TOY_COUNT_LIES,     /* says one device more than there is                                   */
    TOY_TAKES_GONE,     /* takes a device that is not there                                     */
    TOY_IS_HASTY,       /* query says complete before it is                                     */
    TOY_DOES_NOT_WAIT,  /* synchronize returns at once                                          */
    TOY_SKIPS_DEVICE,   /* on_each_device leaves one out                                        */
    TOY_STAYS,          /* on_each_device does not make the former device current again         */
    TOY_CLOCK_IS_OFF,   /* read_clock is a second late                                          */
    TOY_HOST_TIME_LIES, /* the host's time is no time of the call                               */
    TOY_NO_OWNER,       /* events do not say whose they are                                     */
    TOY_NO_RESOLUTION,  /* does not say how exact elapsed is                                    */
    TOY_BREAK_COUNT
};

/* A table of this kind; static storage. All tables have the same devices. */
const struct varve_backend *toy_backend(enum toy_break how);
void *toy_stream(uint32_t device, uint32_t index);
/* Work of this length on a stream. */
void toy_work(void *stream, int64_t ns);
void toy_hold(void *stream);
void toy_let_go(void *stream);
int toy_live_events(void);
void toy_forget_live_events(void); /* the test knows that they are lost                        */
uint32_t toy_current(void);

/* What the tests of the registry set and count. */
struct toy_state {
    bool is_off;         /* enabled says no                                                     */
    bool fails;          /* each function that can fail does                                    */
    bool is_gone;        /* the devices are gone                                                */
    int synchronized[TOY_DEVICES], visited[TOY_DEVICES], pushed, popped, marked, flushed;
};
extern struct toy_state toy;

#endif
