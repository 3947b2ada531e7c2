/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.c — a ring of pieces: the other thread fills empty pieces, and the owner empties
 * filled ones. A piece belongs to one thread at a time, so only the number of filled pieces needs
 * the lock. */
#include "base/read_ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 4u
#define PIECE_BYTES ((size_t)512 << 10)

struct vv_ahead {
    vv_ahead_fetch *fetch;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;      /* protects the next four fields                                 */
    pthread_cond_t changed;
    unsigned filled;
    bool has_ended, is_stopped;
    enum varve_code code;      /* with `error`: how fetching ended; constant once has_ended     */
    struct varve_error error;
    char *bytes;               /* content of all pieces                                         */
    size_t lengths[PIECES];
    unsigned first;            /* the piece that the owner is emptying                          */
    size_t first_at;
};

/* ---- the thread that fetches ---- */

static enum varve_code fill(struct vv_ahead *ahead, char *piece, size_t *out_length,
                            bool *out_has_ended)
{
    enum varve_code code = VARVE_OK;
    size_t got = 1;
    *out_length = 0;
    while (code == VARVE_OK && got > 0 && *out_length < PIECE_BYTES) {
        got = 0;
        code = ahead->fetch(ahead->context, piece + *out_length, PIECE_BYTES - *out_length, &got,
                            &ahead->error);
        *out_length += got;
    }
    *out_has_ended = code != VARVE_OK || got == 0;
    return code;
}

static bool wait_for_room(struct vv_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled == PIECES && !ahead->is_stopped)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    bool is_stopped = ahead->is_stopped;
    pthread_mutex_unlock(&ahead->lock);
    return !is_stopped;
}

static void *fetch_all(void *context)
{
    struct vv_ahead *ahead = context;
    bool has_ended = false;
    for (unsigned piece = 0; !has_ended && wait_for_room(ahead); piece = (piece + 1) % PIECES) {
        enum varve_code code = fill(ahead, ahead->bytes + piece * PIECE_BYTES,
                                    &ahead->lengths[piece], &has_ended);
        pthread_mutex_lock(&ahead->lock);
        ahead->filled += ahead->lengths[piece] > 0;
        ahead->has_ended = has_ended;
        ahead->code = code;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

/* ---- the owner ---- */

struct vv_ahead *vv_ahead_start(vv_ahead_fetch *fetch, void *context)
{
    struct vv_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->fetch = fetch;
    ahead->context = context;
    ahead->bytes = malloc(PIECES * PIECE_BYTES);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (ahead->bytes != NULL && pthread_create(&ahead->thread, NULL, fetch_all, ahead) == 0)
        return ahead;
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead->bytes);
    free(ahead);
    return NULL;
}

void vv_ahead_stop(struct vv_ahead *ahead)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->is_stopped = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead->bytes);
    free(ahead);
}

static bool wait_for_bytes(struct vv_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled == 0 && !ahead->has_ended)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    bool has_bytes = ahead->filled > 0;
    pthread_mutex_unlock(&ahead->lock);
    return has_bytes;
}

static void give_back(struct vv_ahead *ahead)
{
    ahead->first = (ahead->first + 1) % PIECES;
    ahead->first_at = 0;
    pthread_mutex_lock(&ahead->lock);
    ahead->filled--;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

enum varve_code vv_ahead_read(struct vv_ahead *ahead, void *buffer, size_t bytes, size_t *out_bytes,
                              struct varve_error *error)
{
    *out_bytes = 0;
    if (!wait_for_bytes(ahead)) {
        if (ahead->code != VARVE_OK && error != NULL)
            *error = ahead->error;
        return ahead->code;
    }
    size_t rest = ahead->lengths[ahead->first] - ahead->first_at;
    *out_bytes = rest < bytes ? rest : bytes;
    memcpy(buffer, ahead->bytes + ahead->first * PIECE_BYTES + ahead->first_at, *out_bytes);
    ahead->first_at += *out_bytes;
    if (*out_bytes == rest)
        give_back(ahead);
    return VARVE_OK;
}
