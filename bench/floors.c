/* SPDX-License-Identifier: Apache-2.0 */
#include "floors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "import/chrome/event.h"

#define THREADS_MAX 16u
#define LOOK_BYTES (512u << 10) /* the begin of an event is sought so far                        */

struct share {
    struct vv_source *source;
    enum floor floor;
    uint64_t begin, end;
    pthread_t thread;
    enum varve_code code;
    struct varve_error error;
};

/* Moves the begin to the first event after it. An event ends with "}," and the next begins with a
 * brace, and no other object in these traces does so. */
static enum varve_code find_event(struct share *share)
{
    char *text = malloc(LOOK_BYTES + 1);
    size_t bytes, at = 0;
    if (text == NULL)
        VV_FAIL(&share->error, VARVE_NO_MEMORY, "no memory for the begin of a share");
    enum varve_code code = vv_source_read_at(share->source, share->begin, text, LOOK_BYTES, &bytes,
                                             &share->error);
    if (code == VARVE_OK) {
        text[bytes] = '\0';
        const char *list = share->begin == 0 ? strstr(text, "\"traceEvents\"") : text;
        const char *found = list == NULL ? NULL : strstr(list, share->begin == 0 ? "[" : "},");
        found = found == NULL ? NULL : strchr(found, '{');
        at = found == NULL ? bytes : (size_t)(found - text);
    }
    share->begin += at;
    free(text);
    return code;
}

static enum varve_code touch_pages(struct share *share)
{
    size_t bytes = (size_t)(share->end - share->begin);
    char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        VV_FAIL(&share->error, VARVE_NO_MEMORY, "no memory to touch");
    madvise(pages, bytes, MADV_HUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        pages[at] = 1;
    munmap(pages, bytes);
    return VARVE_OK;
}

static enum varve_code copy(struct share *share)
{
    static _Thread_local char buffer[128 << 10];
    size_t got = 1;
    for (uint64_t at = share->begin; at < share->end && got > 0; at += got)
        VV_TRY(vv_source_read_at(share->source, at, buffer, sizeof buffer, &got, &share->error));
    return VARVE_OK;
}

/* Where the next window begins: at the last bracket, which is outside of a string. */
static uint32_t last_bracket(const struct vv_chrome_window *window)
{
    for (uint32_t i = window->token_count; i > 0; i--)
        if (strchr("[]{}", window->text[window->tokens[i - 1]]) != NULL)
            return window->tokens[i - 1];
    return window->bytes;
}

/* Where the next window begins: at the first event that is not whole. */
static uint32_t take_events_apart(const struct vv_chrome_window *window,
                                  struct vv_chrome_event *event)
{
    struct vv_chrome_cursor cursor;
    vv_chrome_cursor_init(&cursor, window);
    uint32_t keep = *cursor.next;
    while (cursor.next < cursor.end && cursor.text[*cursor.next] == '{' &&
           vv_chrome_event_read(&cursor, event) == VV_CHROME_DONE)
        keep = *cursor.next;
    return keep;
}

static enum varve_code scan(struct share *share)
{
    struct vv_chrome_window window;
    struct vv_chrome_event event = { 0 };
    enum varve_code code = vv_chrome_window_init(&window, share->source, share->begin, true,
                                                 &share->error);
    while (code == VARVE_OK) {
        uint32_t keep = share->floor == FLOOR_TOKENS ? last_bracket(&window)
                                                     : take_events_apart(&window, &event);
        bool has_ended = window.is_last || window.offset + keep >= share->end ||
                         (share->floor == FLOOR_EVENTS && window.text[keep] == ']');
        if (has_ended)
            break;
        code = vv_chrome_window_advance(&window, keep, &share->error);
    }
    vv_chrome_event_deinit(&event);
    vv_chrome_window_deinit(&window);
    return code;
}

static void *read_share(void *context)
{
    struct share *share = context;
    share->code = find_event(share);
    if (share->code == VARVE_OK)
        share->code = share->floor == FLOOR_PAGES  ? touch_pages(share)
                      : share->floor == FLOOR_COPY ? copy(share)
                                                   : scan(share);
    return NULL;
}

enum varve_code floor_read(const char *path, enum floor floor, unsigned threads,
                           struct varve_error *error)
{
    struct share shares[THREADS_MAX];
    struct vv_source *source;
    unsigned started = 1;
    VV_TRY(vv_source_open(path, &source, error));
    uint64_t bytes = vv_source_disk_bytes(source);
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    for (unsigned i = 0; i < threads; i++)
        shares[i] = (struct share){ .source = source, .floor = floor,
                                    .begin = bytes / threads * i,
                                    .end = i + 1 < threads ? bytes / threads * (i + 1) : bytes };
    while (started < threads &&
           pthread_create(&shares[started].thread, NULL, read_share, &shares[started]) == 0)
        started++;
    read_share(&shares[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(shares[i].thread, NULL);
    vv_source_close(source);
    for (unsigned i = 0; i < started; i++)
        if (shares[i].code != VARVE_OK) {
            *error = shares[i].error;
            return shares[i].code;
        }
    if (started < threads)
        VV_FAIL(error, VARVE_NO_MEMORY, "no thread");
    return VARVE_OK;
}
