/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"
#include "varve/control.h"

static struct vv_own_folder home;       /* folder of the page's file; "" = private memory        */
static bool is_borrowed;                /* the file belongs to the parent                        */
static uint32_t recorded_layers;        /* layers that are recorded, as the trace says           */
static uint32_t own_steps;              /* varve_control_page.steps as this process stored it    */
static uint32_t own_observers;          /* 1: this process has observers; atomic                 */
static uint64_t noted;                  /* number of others' switches that the trace has         */
static void (*teller)(void);            /* NULL: there are no callbacks; atomic                  */
static uint32_t heard_layers;           /* the mask that the callbacks know, or will be told of  */

static uint32_t layers_now(void)
{
    return varve_layers() & VARVE_LAYER_ALL;
}

/* How many of the processes that share the page have observers. The count says only whether to look
 * for observers, so it may be too high: a child that was killed still counts. */
static void count_observers(bool more)
{
    if (more)
        __atomic_fetch_add(&varve_control_page.observers, 1, __ATOMIC_RELAXED);
    else
        __atomic_fetch_sub(&varve_control_page.observers, 1, __ATOMIC_RELAXED);
}

static void make_private(void)
{
    if (is_borrowed && own_observers != 0)
        count_observers(false);
    (void)vv_page_unshare(&varve_control_page);
    __atomic_store_n(&varve_control_page.observers, own_observers, __ATOMIC_RELAXED);
    home.path[0] = '\0';
    is_borrowed = false;
}

/* ---- who is told ---- */

/* The time of a clock value between the session's begin and now, on the straight line between these
 * two. */
static uint64_t instant_of(uint64_t ticks)
{
    const struct vv_clock_sample *begin = &vv_session.begin;
    uint64_t now_ns = vv_clock_monotonic_ns(), now = vv_clock_ticks();
    if (ticks == 0 || ticks >= now || ticks <= begin->ticks || now_ns <= begin->monotonic_ns)
        return now_ns;
    vv_u128 span_ns = now_ns - begin->monotonic_ns, since = ticks - begin->ticks;
    return begin->monotonic_ns + (uint64_t)(span_ns * since / (now - begin->ticks));
}

/* The bit lies in the page of the process's own; a child must not store into its parent's. */
static void ask_to_tell(void)
{
    if (!is_borrowed)
        __atomic_fetch_or(&varve_control_page.steps, VV_STEPS_TOLD, __ATOMIC_RELEASE);
}

static void hear(const struct vv_told_switch *heard, uint64_t ticks)
{
    bool is_news = heard->layers != heard_layers || heard->missed != 0 ||
                   heard->asker == VARVE_PROFILING_BY_PROGRAM;
    heard_layers = heard->layers;
    if (teller == NULL || !is_news)
        return;
    struct vv_told_switch new = *heard;
    new.time_ns = instant_of(ticks);
    vv_switch_queue_put(&new);
    ask_to_tell();
}

/* From now on others set the bit. What they did before is no news. */
uint32_t vv_control_listen(void (*tell)(void))
{
    if (!vv_recorder_lock())
        return 0;
    if (!is_borrowed)
        __atomic_store_n(&vv_control()->listens, tell != NULL, __ATOMIC_SEQ_CST);
    if (teller == NULL || tell == NULL) {
        __atomic_store_n(&teller, NULL, __ATOMIC_RELAXED);
        if (vv_session.running && vv_session.has_folder)
            vv_control_note();
        vv_switch_queue_clear();
        heard_layers = layers_now();
    }
    __atomic_store_n(&teller, tell, __ATOMIC_RELEASE);
    uint32_t layers = heard_layers;
    vv_recorder_unlock();
    return layers;
}

bool vv_control_take(struct vv_told_switch *out, size_t *out_left)
{
    if (!vv_recorder_lock())
        return false;
    if (!is_borrowed)
        __atomic_fetch_and(&varve_control_page.steps, ~VV_STEPS_TOLD, __ATOMIC_ACQ_REL);
    if (vv_session.running && (vv_session.has_folder || is_borrowed))
        vv_control_note();
    bool is_one = vv_switch_queue_take(out);
    *out_left = vv_switch_queue_count();
    if (*out_left > 0)
        ask_to_tell();
    vv_recorder_unlock();
    return is_one;
}

void vv_control_tell(void)
{
    if (!vv_control_has_news())
        return;
    void (*tell)(void) = __atomic_load_n(&teller, __ATOMIC_ACQUIRE);
    if (tell != NULL)
        tell();
}

/* ---- the page ---- */

/* Called before this process stores into its page: from then on the page is not the parent's. */
static void own_page(void)
{
    if (is_borrowed)
        make_private();
}

void vv_control_open(const struct vv_own_folder *folder, uint32_t layers)
{
    static struct varve_control content; /* static, under the lock: stacks may be small */
    if (is_borrowed) {
        vv_control_note(); /* what the parent's page says is the last that is heard of it */
        own_page();
    }
    recorded_layers = layers;
    memcpy(&content, &varve_control_page, sizeof content);
    struct vv_control_page *page = (struct vv_control_page *)(void *)&content;
    page->version = VV_CONTROL_VERSION;
    page->magic = VV_CONTROL_MAGIC;
    page->pid = vv_birth_pid();
    page->clock_is_counter = vv_clock_is_counter;
    page->wanted = vv_session.wanted_layers;
    page->listens = teller != NULL;
    page->asked = page->noted = noted = 0;
    if (vv_own_share_page(folder, VV_CONTROL_FILE, &varve_control_page, &content) != 0) {
        noted = vv_control()->asked; /* switches of a former session, or of the parent */
        return;
    }
    vv_own_folder_copy(&home, folder);
}

void vv_control_close(void)
{
    vv_control_forget();
    if (home.path[0] != '\0')
        make_private();
}

void vv_control_forget(void)
{
    if (home.path[0] != '\0' && !is_borrowed)
        vv_own_remove(&home, VV_CONTROL_FILE);
}

void vv_control_forked(void)
{
    is_borrowed = home.path[0] != '\0';
    if (is_borrowed && own_observers != 0)
        count_observers(true);
}

void vv_control_observe(bool observed)
{
    vv_birth_observe(observed);
    if (observed == (own_observers != 0))
        return;
    __atomic_store_n(&own_observers, observed, __ATOMIC_SEQ_CST); /* first: vv_control_lost */
    count_observers(observed);
}

static void set_layers(uint32_t layers)
{
    own_page();
    if (varve_layers() == 0 && layers != 0)
        __atomic_fetch_add(&varve_control_page.epoch, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&varve_control_page.layers, layers, __ATOMIC_RELEASE);
}

void vv_control_set_layers(uint32_t layers)
{
    set_layers(layers);
    heard_layers = layers;
}

void vv_control_count_steps(bool counted)
{
    uint32_t steps = counted ? VV_STEPS_COUNTED : 0;
    own_steps = steps;
    if ((__atomic_load_n(&varve_control_page.steps, __ATOMIC_RELAXED) & VV_STEPS_COUNTED) == steps)
        return;
    own_page();
    if (counted)
        __atomic_fetch_or(&varve_control_page.steps, VV_STEPS_COUNTED, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&varve_control_page.steps, ~VV_STEPS_COUNTED, __ATOMIC_RELAXED);
}

uint32_t vv_control_switch(uint32_t layers, uint32_t asker)
{
    if (!vv_session.running)
        return 0;
    uint32_t former = varve_layers();
    if (vv_session.has_folder)
        vv_control_note();
    layers &= VARVE_LAYER_ALL;
    if (layers == 0)
        set_layers(0); /* off first; then the record, where ranges end */
    if (vv_session.has_folder) {
        recorded_layers = layers;
        vv_process_stream_put_layers(layers, 0);
    }
    set_layers(layers);
    if (asker != 0)
        hear(&(struct vv_told_switch){ .layers = layers, .asker = asker }, 0);
    heard_layers = layers;
    return former;
}

/* Switches that other processes stored in the page, but that this process has not noted, are lost.
 * The epoch becomes that of the calling thread. At worst the other threads forget their open ranges
 * once. */
bool vv_control_lost(void)
{
    if (vv_os_replace_by_memory(&varve_control_page, sizeof varve_control_page) != 0)
        return false;
    __atomic_store_n(&varve_control_page.epoch,
                     vv_self.epoch - (uint32_t)vv_birth_word(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&varve_control_page.observers,
                       __atomic_load_n(&own_observers, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
    __atomic_store_n(&varve_control_page.steps, own_steps, __ATOMIC_RELAXED);
    __atomic_store_n(&varve_control_page.layers, recorded_layers, __ATOMIC_RELEASE);
    return true;
}

/* Reads switch `number` where others have put it. False: it is missing. The file is read in pieces,
 * of which the last one is kept; *piece_count is 0 at first. */
static bool find_switch(uint64_t number, size_t *piece_count, struct vv_control_switch *out)
{
    enum { PIECE = 128 };
    static struct vv_control_switch piece[PIECE]; /* under the lock */
    static uint64_t first;
    const struct vv_control_switch *entry =
        &vv_control()->switches[(number - 1) % VV_CONTROL_SWITCHES];
    if (__atomic_load_n(&entry->number, __ATOMIC_RELAXED) == number) {
        *out = (struct vv_control_switch){
            number, __atomic_load_n(&entry->ticks, __ATOMIC_RELAXED),
            __atomic_load_n(&entry->layers, __ATOMIC_RELAXED),
            __atomic_load_n(&entry->pid, __ATOMIC_RELAXED)
        };
        return true;
    }
    if (number - first >= *piece_count) {
        size_t bytes = 0, wanted = PIECE, left = VV_CONTROL_KEPT - (number - 1) % VV_CONTROL_KEPT;
        memset(piece, 0, sizeof piece);
        (void)!vv_own_read(&home, VV_CONTROL_FILE, piece,
                           (wanted < left ? wanted : left) * sizeof piece[0],
                           vv_control_offset(number), &bytes);
        first = number;
        *piece_count = wanted < left ? wanted : left; /* what is missing there has no number */
    }
    *out = piece[(number - first) % PIECE];
    return out->number == number;
}

/* Writes and hears switches up to `asked`. Returns how many of the last ones are missing. */
static uint64_t note_others(uint64_t asked)
{
    uint64_t missed = 0, waiting = asked - noted;
    size_t piece_count = 0;
    if (waiting > VV_CONTROL_KEPT) { /* or the file was damaged */
        missed = waiting - VV_CONTROL_KEPT < UINT32_MAX ? waiting - VV_CONTROL_KEPT : 0;
        noted = asked - (missed != 0 ? VV_CONTROL_KEPT : 0);
    }
    for (; noted != asked; noted++) {
        struct vv_control_switch entry;
        if (!find_switch(noted + 1, &piece_count, &entry)) {
            missed++;
            continue;
        }
        uint64_t ticks = entry.ticks <= vv_clock_ticks() ? entry.ticks : 0;
        recorded_layers = entry.layers & VARVE_LAYER_ALL;
        vv_process_stream_put_layers(recorded_layers, ticks);
        hear(&(struct vv_told_switch){ .layers = recorded_layers, .pid = entry.pid,
                                       .asker = VARVE_PROFILING_BY_OUTSIDE, .missed = missed },
             ticks);
        missed = 0;
    }
    return missed;
}

void vv_control_note(void)
{
    struct vv_control_page *page = vv_control();
    struct vv_told_switch found = { .asker = VARVE_PROFILING_BY_OUTSIDE };
    uint64_t asked = __atomic_load_n(&page->asked, __ATOMIC_SEQ_CST);
    uint32_t layers = layers_now();
    if (is_borrowed) { /* of the parent's switches only the state is heard */
        found.layers = layers;
        hear(&found, 0);
        return;
    }
    if (layers == recorded_layers && asked == noted)
        return;
    found.missed = note_others(asked);
    __atomic_store_n(&page->noted, noted, __ATOMIC_RELEASE);
    layers = found.layers = layers_now();
    if (found.missed != 0)
        hear(&found, 0);
    /* Others have stored the mask but have not added the switch yet, or the switch is missing. */
    if (layers != recorded_layers) {
        recorded_layers = layers;
        vv_process_stream_put_layers(layers, 0);
    }
}
