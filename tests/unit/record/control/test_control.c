/* SPDX-License-Identifier: Apache-2.0 */
/* The control page: what another mapping of its file stores, this process obeys, and its trace says
 * when. */
#include "stream_walk.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "base/system/shared_page.h"
#include "record/control/control.h"
#include "record/stream/recorder.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096], folder[4200];

static struct vv_control_page *map_control(const char *process)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/" VV_CONTROL_FILE, process);
    int file = open(path, O_RDWR);
    if (file < 0)
        return NULL;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

static int start(void **state)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    options.output = output;
    options.layers = VARVE_LAYER_OP | VARVE_LAYER_STEP;
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    memcpy(folder, vv_session.folder.path, strlen(vv_session.folder.path) + 1);
    *state = map_control(folder);
    return *state == NULL;
}

static int stop(void **state)
{
    varve_session_stop(NULL);
    munmap(*state, 4096);
    walk_remove(output);
    return 0;
}

static void emit(int pairs)
{
    for (int i = 0; i < pairs; i++) {
        varve_begin(&op);
        varve_end();
    }
}

static size_t words_of(const char *process, const char *base)
{
    struct walk walk = walk_stream(process, base);
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
    return walk.word_count;
}

/* The varve.layers records of the process's stream; other records are known by their lengths. */
struct said { uint64_t ticks, layers; };

static size_t read_said(struct said *out_said, size_t capacity)
{
    static const unsigned char words[] = { [VV_EVENT_CLOCK] = 5, [VV_EVENT_THREAD] = 3,
                                           [VV_EVENT_LAYERS] = 2,
                                           [VV_EVENT_COST] = 2, [VV_EVENT_COLLECTOR] = 3 };
    struct walk walk = walk_stream(folder, "process");
    size_t count = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < walk.word_count;) {
        uint32_t id = walk_id(walk.words[i]);
        uint64_t ticks = walk.words[i] >> VV_ID_BITS;
        assert_true(ticks >= last);
        last = ticks;
        if (id == VV_EVENT_LAYERS) {
            assert_true(count < capacity);
            out_said[count++] = (struct said){ ticks, walk.words[i + 1] };
        }
        assert_true(id == VV_EVENT_STRING || (id < sizeof words && words[id] > 0));
        i += id == VV_EVENT_STRING ? 2 + (size_t)(walk.words[i + 1] >> 32) / 8 : words[id];
    }
    free(walk.words);
    return count;
}

static void the_page_says_whose_it_is(void **state)
{
    const struct vv_control_page *page = *state;
    char path[4300];
    struct stat about;
    snprintf(path, sizeof path, "%s/" VV_CONTROL_FILE, folder);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(about.st_size, 4096);
    assert_int_equal(page->pid, getpid());
    assert_true(page->magic == VV_CONTROL_MAGIC);
    assert_int_equal(page->wanted, VARVE_LAYER_OP | VARVE_LAYER_STEP);
    assert_int_equal(page->layers, varve_layers());
}

static void a_store_from_outside_is_obeyed_at_once(void **state)
{
    struct vv_control_page *page = *state;
    emit(10);
    uint32_t epoch = page->epoch;
    assert_int_equal(vv_control_page_switch(page, -1, 0), VARVE_LAYER_OP | VARVE_LAYER_STEP);
    assert_int_equal(varve_layers(), 0);
    assert_int_equal(page->epoch, epoch);
    emit(1000);
    assert_int_equal(vv_control_page_switch(page, -1, VARVE_LAYER_ALL), 0);
    assert_int_equal(page->epoch, epoch + 1);
    emit(7);
    assert_int_equal(words_of(folder, "thread.1"), 2 * 17);
}

/* Law: before the store <= the time in the trace <= after it, however late the process notices. */
static void the_trace_says_when_the_switch_was(void **state)
{
    struct vv_control_page *page = *state;
    struct said said[8];
    emit(1);
    uint64_t ticks[4];
    ticks[0] = vv_clock_ticks();
    vv_control_page_switch(page, -1, 0);
    ticks[1] = vv_clock_ticks();
    usleep(20000);
    ticks[2] = vv_clock_ticks();
    vv_control_page_switch(page, -1, VARVE_LAYER_OP);
    ticks[3] = vv_clock_ticks();
    usleep(20000);
    assert_int_equal(read_said(said, 8), 1); /* what the session began with: nobody has looked
                                                yet */
    varve_thread_name("me");
    assert_int_equal(read_said(said, 8), 3);
    assert_int_equal(said[1].layers, 0);
    assert_in_range(said[1].ticks, ticks[0] & VV_TICKS_MASK, ticks[1] & VV_TICKS_MASK);
    assert_int_equal(said[2].layers, VARVE_LAYER_OP);
    assert_in_range(said[2].ticks, ticks[2] & VV_TICKS_MASK, ticks[3] & VV_TICKS_MASK);
    assert_int_equal(page->noted, page->asked);
}

/* Of those that the page has no place for, the file behind it keeps the last 4,096. */
static void the_file_behind_the_page_keeps_what_does_not_fit(void **state)
{
    struct vv_control_page *page = *state;
    static struct said said[1008];
    static uint64_t before[1000];
    char path[4300];
    snprintf(path, sizeof path, "%s/" VV_CONTROL_FILE, folder);
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    for (unsigned i = 0; i < 1000; i++) {
        before[i] = vv_clock_ticks() & VV_TICKS_MASK;
        vv_control_page_switch(page, file, i % 2 == 0 ? 0 : VARVE_LAYER_OP);
    }
    varve_thread_name("me");
    assert_int_equal(read_said(said, 1008), 1 + 1000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(said[1 + i].layers, i % 2 == 0 ? 0 : VARVE_LAYER_OP);
        assert_true(said[1 + i].ticks >= before[i]);
        assert_true(i == 999 || said[1 + i].ticks <= before[i + 1]);
    }
    close(file);
    assert_int_equal(page->noted, page->asked);
}

static void more_switches_than_fit_keep_the_first_and_the_last(void **state)
{
    struct vv_control_page *page = *state;
    struct said said[VV_CONTROL_SWITCHES + 8];
    uint64_t begin = vv_clock_ticks();
    vv_control_page_switch(page, -1, 0);
    uint64_t end = vv_clock_ticks();
    for (unsigned i = 0; i < 200; i++) {
        vv_control_page_switch(page, -1, VARVE_LAYER_OP);
        vv_control_page_switch(page, -1, 0);
    }
    vv_control_page_switch(page, -1, VARVE_LAYER_STEP);
    varve_thread_name("me");
    size_t count = read_said(said, VV_CONTROL_SWITCHES + 8);
    assert_int_equal(count, 1 + VV_CONTROL_SWITCHES + 1);
    assert_int_equal(said[1].layers, 0);
    assert_in_range(said[1].ticks, begin & VV_TICKS_MASK, end & VV_TICKS_MASK);
    assert_int_equal(said[count - 1].layers, VARVE_LAYER_STEP);
}

static void a_stamp_of_another_clock_is_not_used(void **state)
{
    struct vv_control_page *page = *state;
    struct said said[4];
    page->clock_is_counter = !page->clock_is_counter;
    vv_control_page_switch(page, -1, VARVE_LAYER_STEP);
    uint64_t before = vv_clock_ticks() & VV_TICKS_MASK;
    varve_layers_set(VARVE_LAYER_ALL);
    assert_int_equal(read_said(said, 4), 3);
    assert_int_equal(said[1].layers, VARVE_LAYER_STEP);
    assert_true(said[1].ticks >= before);
}

static void nonsense_in_the_page_does_no_harm(void **state)
{
    struct vv_control_page *page = *state;
    struct said said[4];
    page->asked = UINT64_C(1) << 60;
    page->layers = 0xfffff000 | VARVE_LAYER_STEP;
    varve_thread_name("me");
    assert_int_equal(read_said(said, 4), 2);
    assert_int_equal(said[1].layers, VARVE_LAYER_STEP);
    page->switches[page->asked % VV_CONTROL_SWITCHES] =
        (struct vv_control_switch){ page->asked + 1, UINT64_MAX, 0xfffff000 | VARVE_LAYER_STEP, 0 };
    page->asked++;
    varve_thread_name("me too");
    assert_int_equal(read_said(said, 4), 3);
    assert_in_range(said[2].ticks, said[1].ticks, vv_clock_ticks() & VV_TICKS_MASK);
    page->switches[page->asked % VV_CONTROL_SWITCHES] =
        (struct vv_control_switch){ page->asked + 1, 1, VARVE_LAYER_STEP, 0 };
    page->asked++;
    varve_thread_name("me again");
    assert_int_equal(read_said(said, 4), 4); /* which checks that time does not run backwards */
}

static size_t room_words(void)
{
    return (size_t)(vv_session.writer.limit - vv_session.writer.cursor) / 8;
}

/* doc/format.md §4: a packet's timestamp_begin is not after its first record. */
static void a_switch_that_opens_a_packet_keeps_its_time(void **state)
{
    struct vv_control_page *page = *state;
    static struct said said[VV_PACKET_BYTES / 16];
    emit(1); /* the name of a thread that records nothing is not written */
    varve_thread_name("me");
    while (room_words() > 1) { /* 3 words, 2 words */
        if (room_words() >= 5)
            varve_thread_name("me");
        else
            varve_layers_set(VARVE_LAYER_OP);
    }
    uint64_t before = vv_clock_ticks();
    vv_control_page_switch(page, -1, 0);
    uint64_t after = vv_clock_ticks();
    usleep(1000);
    varve_layers_set(VARVE_LAYER_OP);
    size_t count = read_said(said, sizeof said / sizeof said[0]);
    assert_int_equal(vv_session.writer.packet->sequence, 1);
    assert_int_equal(said[count - 2].layers, 0);
    assert_in_range(said[count - 2].ticks, before & VV_TICKS_MASK, after & VV_TICKS_MASK);
    assert_true(vv_session.writer.packet->begin_ticks <= after);
}

static volatile bool is_over;

static void *emit_until_over(void *count)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        emit(1);
        __atomic_add_fetch((uint64_t *)count, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Law: under any switching the streams stay whole, and no more is written than was emitted. */
static void switching_under_load_is_safe(void **state)
{
    struct vv_control_page *page = *state;
    pthread_t threads[3];
    uint64_t counts[3] = { 0 }, emitted = 0, written = 0;
    is_over = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, emit_until_over, &counts[i]), 0);
    for (int i = 0; i < 3; i++) /* each has recorded before the first switch */
        while (__atomic_load_n(&counts[i], __ATOMIC_ACQUIRE) == 0)
            usleep(200);
    for (unsigned i = 0; i < 300; i++) {
        vv_control_page_switch(page, -1, i % 3 == 0   ? 0
                                     : i % 3 == 1 ? VARVE_LAYER_ALL
                                                  : VARVE_LAYER_OP);
        if (i % 7 == 0)
            varve_layers_set(VARVE_LAYER_OP);
        usleep(200);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        emitted += 2 * counts[i];
    }
    for (uint64_t i = 1; i <= vv_session.instances; i++) {
        char base[32];
        snprintf(base, sizeof base, "thread.%d", (int)i);
        written += words_of(folder, base);
    }
    assert_true(written > 0);
    assert_true(written <= emitted);
}

static void childs_folder(char out_path[4300], pid_t child)
{
    snprintf(out_path, 4300, "%s/%d", output, (int)child);
}

/* Exit code of a child that runs `body`. */
static int in_child(int (*body)(struct vv_control_page *), struct vv_control_page *page,
                    pid_t *out_child)
{
    int status;
    *out_child = fork();
    if (*out_child == 0)
        _exit(body(page));
    assert_int_equal(waitpid(*out_child, &status, 0), *out_child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int follow_then_own(struct vv_control_page *parents)
{
    vv_control_page_switch(parents, -1, 0); /* as varve stop PARENT would */
    if (varve_layers() != 0)
        return 1;
    vv_control_page_switch(parents, -1, VARVE_LAYER_ALL);
    emit(5); /* from here on it has a folder, and a page */
    vv_control_page_switch(parents, -1, 0);
    if (varve_layers() != VARVE_LAYER_ALL)
        return 2;
    char path[4300];
    childs_folder(path, getpid());
    struct vv_control_page *own = map_control(path);
    if (own == NULL || own->pid != (uint64_t)getpid())
        return 3;
    vv_control_page_switch(own, -1, VARVE_LAYER_OP);
    return varve_layers() == VARVE_LAYER_OP && parents->layers == 0 ? 0 : 4;
}

static void a_child_follows_its_parent_until_it_records(void **state)
{
    pid_t child;
    char path[4300];
    emit(3);
    assert_int_equal(in_child(follow_then_own, *state, &child), 0);
    assert_int_equal(varve_layers(), 0);
    childs_folder(path, child);
    assert_int_equal(words_of(path, "thread.1"), 10);
    assert_int_equal(words_of(folder, "thread.1"), 6);
}

static int set_own_mask(struct vv_control_page *parents)
{
    varve_layers_set(VARVE_LAYER_COMM);
    return varve_layers() == VARVE_LAYER_COMM && parents->layers != VARVE_LAYER_COMM ? 0 : 1;
}

static void a_child_that_sets_its_mask_leaves_its_parents_alone(void **state)
{
    pid_t child;
    varve_begin(&op);
    assert_int_equal(in_child(set_own_mask, *state, &child), 0);
    varve_end(); /* still open here: the child's fork forgot no range of ours */
    assert_int_equal(varve_layers(), VARVE_LAYER_OP | VARVE_LAYER_STEP);
    assert_int_equal(words_of(folder, "thread.1"), 2);
}

static int end_at_once(struct vv_control_page *parents)
{
    (void)parents;
    exit(0); /* with destructors, ours among them */
}

/* It has recorded nothing: the page that it has is its parent's, and so is the file. */
static void a_child_that_ends_leaves_its_parents_page(void **state)
{
    struct vv_control_page *page = *state;
    pid_t child;
    fflush(NULL);
    assert_int_equal(in_child(end_at_once, page, &child), 0);
    struct vv_control_page *again = map_control(folder);
    assert_non_null(again);
    munmap(again, 4096);
}

static void after_the_session_the_page_is_private(void **state)
{
    struct vv_control_page *page = *state;
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    assert_null(map_control(folder));
    vv_control_page_switch(page, -1, VARVE_LAYER_ALL);
    assert_int_equal(varve_layers(), 0);
}

static void a_page_that_cannot_be_shared_stays_as_it_is(void **state)
{
    (void)state;
    static _Alignas(4096) char page[2 * 4096];
    char content[4096] = "content", path[4300];
    struct vv_own_folder own, missing;
    assert_int_equal(vv_own_folder_know(output, false, &own, NULL), 0);
    missing = own;
    strcat(missing.path, "/missing");
    snprintf(path, sizeof path, "%s/page", output);
    strcpy(page, "before");
    assert_int_equal(vv_own_share_page(&missing, "page", page, content), ENOENT);
    assert_int_equal(vv_own_share_page(&own, "page", page + 64, content), ENOTSUP);
    assert_int_equal(access(path, F_OK), -1);
    assert_string_equal(page, "before");
    assert_int_equal(vv_own_share_page(&own, "page", page, content), 0);
    assert_string_equal(page, "content");
    assert_int_equal(vv_page_unshare(page), 0);
    assert_string_equal(page, "content");
    page[0] = 'C';
    int file = open(path, O_RDONLY);
    assert_int_equal(read(file, content, 1), 1);
    close(file);
    assert_int_equal(content[0], 'c');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_page_says_whose_it_is),
        TEST(a_store_from_outside_is_obeyed_at_once),
        TEST(the_trace_says_when_the_switch_was),
        TEST(the_file_behind_the_page_keeps_what_does_not_fit),
        TEST(more_switches_than_fit_keep_the_first_and_the_last),
        TEST(a_stamp_of_another_clock_is_not_used),
        TEST(nonsense_in_the_page_does_no_harm),
        TEST(a_switch_that_opens_a_packet_keeps_its_time),
        TEST(switching_under_load_is_safe),
        TEST(a_child_follows_its_parent_until_it_records),
        TEST(a_child_that_sets_its_mask_leaves_its_parents_alone),
        TEST(a_child_that_ends_leaves_its_parents_page),
        TEST(after_the_session_the_page_is_private),
        TEST(a_page_that_cannot_be_shared_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
