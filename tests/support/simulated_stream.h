/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_stream.h — streams of a device that does not exist: commands of known length are done
 * one after the other in the time of CLOCK_MONOTONIC, and events tell when. Nothing runs in the
 * background: who asks computes what has been done until now. A stream can be held, and then does
 * nothing until it is let go. All events are in a list: LeakSanitizer says nothing of a backend
 * that forgets to give them back on purpose, and sim_live_events counts them. Thread-safe. For
 * tests. */
#ifndef SIMULATED_STREAM_H
#define SIMULATED_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct sim_event {
    struct sim_event *newer, *older;
    int64_t at_ns;
    bool is_done;
    int references; /* the caller's, and the queue's                                            */
};

struct sim_command {
    struct sim_command *next;
    int64_t enqueued_ns, length_ns;
    bool is_hold;
    struct sim_event *event; /* or NULL                                                          */
};

struct sim_stream {
    uint32_t device;
    int64_t free_ns;   /* when it will have done what is done now                                */
    int64_t let_go_ns; /* INT64_MAX while it is held                                             */
    struct sim_command *first, **last;
};

static pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_event *sim_newest;
static int sim_live_events; /* events that the program has not given back                       */

static inline int64_t sim_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Lock held. */
static inline void sim_drop(struct sim_event *event)
{
    if (event == NULL || --event->references > 0)
        return;
    *(event->newer != NULL ? &event->newer->older : &sim_newest) = event->older;
    if (event->older != NULL)
        event->older->newer = event->newer;
    free(event);
}

/* Returns whether the stream has done its first command. */
static inline bool sim_step(struct sim_stream *stream, int64_t now_ns)
{
    struct sim_command *command = stream->first;
    int64_t begin_ns = command->enqueued_ns > stream->free_ns ? command->enqueued_ns
                                                              : stream->free_ns;
    if (command->is_hold && stream->let_go_ns > begin_ns)
        begin_ns = stream->let_go_ns;
    if (begin_ns > now_ns - command->length_ns)
        return false;
    stream->free_ns = begin_ns + command->length_ns;
    if (command->event != NULL) {
        command->event->at_ns = stream->free_ns;
        command->event->is_done = true;
        sim_drop(command->event);
    }
    stream->first = command->next;
    if (stream->first == NULL)
        stream->last = &stream->first;
    free(command);
    return true;
}

/* Lock held. */
static inline void sim_run(struct sim_stream *stream)
{
    int64_t now_ns = sim_now_ns();
    while (stream->first != NULL && sim_step(stream, now_ns))
        continue;
}

static inline void sim_enqueue(struct sim_stream *stream, int64_t length_ns, bool is_hold,
                               struct sim_event *event)
{
    struct sim_command *command = calloc(1, sizeof *command);
    if (command == NULL)
        abort();
    pthread_mutex_lock(&sim_lock);
    *command = (struct sim_command){ NULL, sim_now_ns(), length_ns, is_hold, event };
    if (stream->last == NULL)
        stream->last = &stream->first;
    *stream->last = command;
    stream->last = &command->next;
    pthread_mutex_unlock(&sim_lock);
}

static inline struct sim_event *sim_event_new(void)
{
    struct sim_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        abort();
    event->references = 1;
    pthread_mutex_lock(&sim_lock);
    event->older = sim_newest;
    if (sim_newest != NULL)
        sim_newest->newer = event;
    sim_newest = event;
    pthread_mutex_unlock(&sim_lock);
    __atomic_fetch_add(&sim_live_events, 1, __ATOMIC_RELAXED);
    return event;
}

static inline void sim_event_record(struct sim_event *event, struct sim_stream *stream)
{
    pthread_mutex_lock(&sim_lock);
    event->references++;
    event->is_done = false;
    pthread_mutex_unlock(&sim_lock);
    sim_enqueue(stream, 0, false, event);
}

static inline void sim_event_free(struct sim_event *event)
{
    pthread_mutex_lock(&sim_lock);
    sim_drop(event);
    pthread_mutex_unlock(&sim_lock);
    __atomic_fetch_sub(&sim_live_events, 1, __ATOMIC_RELAXED);
}

static inline bool sim_event_is_done(struct sim_event *event, struct sim_stream *stream,
                                     int64_t *out_at_ns)
{
    pthread_mutex_lock(&sim_lock);
    sim_run(stream);
    bool is_done = event->is_done;
    *out_at_ns = event->at_ns;
    pthread_mutex_unlock(&sim_lock);
    return is_done;
}

static inline bool sim_is_idle(struct sim_stream *stream)
{
    pthread_mutex_lock(&sim_lock);
    sim_run(stream);
    bool is_idle = stream->first == NULL;
    pthread_mutex_unlock(&sim_lock);
    return is_idle;
}

static inline void sim_nap(void)
{
    nanosleep(&(struct timespec){ 0, 20000 }, NULL);
}

static inline void sim_hold(struct sim_stream *stream)
{
    pthread_mutex_lock(&sim_lock);
    stream->let_go_ns = INT64_MAX;
    pthread_mutex_unlock(&sim_lock);
    sim_enqueue(stream, 0, true, NULL);
}

static inline void sim_let_go(struct sim_stream *stream)
{
    pthread_mutex_lock(&sim_lock);
    stream->let_go_ns = sim_now_ns();
    pthread_mutex_unlock(&sim_lock);
}

#endif
