/* SPDX-License-Identifier: Apache-2.0 */
/* What collectors say of themselves, read back from the process's own stream. */
#include "stream_walk.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ctf/record_length.h"
#include "record/source_note.h"
#include "varve/varve.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096], said[8192];

static void start(void)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    options.output = output;
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
}

static void stop(void)
{
    varve_session_stop(NULL);
    walk_remove(output);
}

static const char *string_of(const struct walk *walk, uint32_t wanted)
{
    for (size_t i = 0; i < walk->word_count;
         i += vv_record_length(walk->words + i, walk->word_count - i))
        if (walk_id(walk->words[i]) == VV_EVENT_STRING && (uint32_t)walk->words[i + 1] == wanted)
            return (const char *)(walk->words + i + 2);
    return "";
}

/* `said` becomes "name=state:text;" for each note of the process, in order. Facts are left out:
 * the recorder says how many threads there are whenever its clock crosses an era. */
static void read_said(pid_t process)
{
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/%d", output, (int)process);
    struct walk walk = walk_stream(folder, "process");
    said[0] = '\0';
    for (size_t i = 0; i < walk.word_count;
         i += vv_record_length(walk.words + i, walk.word_count - i)) {
        const uint64_t *word = walk.words + i;
        if (walk_id(*word) == VV_EVENT_COLLECTOR &&
            strncmp(string_of(&walk, (uint32_t)word[1]), VV_FACT_PREFIX,
                    strlen(VV_FACT_PREFIX)) != 0)
            snprintf(said + strlen(said), sizeof said - strlen(said), "%.40s=%u:%.250s;",
                     string_of(&walk, (uint32_t)word[1]), (unsigned)(word[1] >> 32),
                     string_of(&walk, (uint32_t)word[2]));
    }
    free(walk.words);
}

static void a_note_before_any_session_is_said_in_it(void **state)
{
    (void)state;
    errno = EDOM;
    vv_collector_note("torch", VV_COLLECTOR_ABSENT, "no libtorch_cpu.so");
    assert_int_equal(errno, EDOM);
    start();
    read_said(getpid());
    assert_string_equal(said, "torch=3:no libtorch_cpu.so;");
    vv_collector_note("torch", VV_COLLECTOR_ATTACHED, "torch 2.15.0");
    vv_collector_note("torch", VV_COLLECTOR_ATTACHED, "torch 2.15.0"); /* nothing new */
    vv_collector_note("python", VV_COLLECTOR_OFF, "");
    read_said(getpid());
    assert_string_equal(said, "torch=3:no libtorch_cpu.so;torch=0:torch 2.15.0;python=4:;");
    stop();
}

static void the_next_session_says_the_latest_again(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        start();
        read_said(getpid());
        assert_string_equal(said, "torch=0:torch 2.15.0;python=4:;");
        stop();
    }
}

static void a_forked_child_says_them_in_its_own_folder(void **state)
{
    (void)state;
    start();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char folder[4200];
        snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
        vv_collector_note("python", VV_COLLECTOR_NOTE, "in a child");
        if (access(folder, F_OK) == 0) /* a note makes no folder */
            _exit(1);
        varve_begin(&op);
        varve_end();
        vv_collector_note("hip", VV_COLLECTOR_REFUSED, "too old");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    read_said(child);
    assert_string_equal(said, "torch=0:torch 2.15.0;python=5:in a child;hip=2:too old;");
    read_said(getpid());
    assert_string_equal(said, "torch=0:torch 2.15.0;python=4:;");
    stop();
}

static void long_ones_are_cut(void **state)
{
    (void)state;
    char name[64], text[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(text, 't', sizeof text);
    memcpy(text + VV_COLLECTOR_TEXT_BYTES_MAX - 1, "\xc3\xa9", 3); /* é across the limit */
    char expected[400];
    snprintf(expected, sizeof expected, "torch=0:torch 2.15.0;python=4:;%.31s=5:%.199s;", name,
             text);
    start();
    vv_collector_note(name, VV_COLLECTOR_NOTE, text);
    read_said(getpid());
    assert_string_equal(said, expected);
    stop();
}

/* Notes of `count` collectors; `expected`, of so many bytes, becomes how they stand in `said`. */
static void note_many(const char *prefix, int count, char *expected, size_t capacity)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        vv_collector_note(name, i % 3 == 0 ? VV_COLLECTOR_REFUSED : VV_COLLECTOR_ATTACHED, "");
        snprintf(expected + strlen(expected), capacity - strlen(expected), "%s=%d:;", name,
                 i % 3 == 0 ? 2 : 0);
    }
}

/* From here on there are many, as what is remembered lasts as long as the process. */
static void as_many_as_come_are_said_in_each_session(void **state)
{
    (void)state;
    char expected[4096] = "";
    note_many("many", 200, expected, sizeof expected);
    for (int i = 0; i < 2; i++) {
        start();
        read_said(getpid());
        assert_string_equal(strstr(said, "many0="), expected);
        stop();
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(VV_EMULATED)
#define MAY_STARVE false /* what watches the program needs memory too */
#else
#define MAY_STARVE true
#endif

/* The session that runs says each; the next one says those that found memory, and how many did
 * not. */
static int note_without_memory(void)
{
    char expected[4096] = "";
    struct rlimit former, limit;
    getrlimit(RLIMIT_AS, &former);
    limit = former;
    limit.rlim_cur = 1 << 20;
    start();
    setrlimit(RLIMIT_AS, &limit);
    note_many("late", 100, expected, sizeof expected);
    setrlimit(RLIMIT_AS, &former);
    read_said(getpid());
    const char *all = strstr(said, "late0=");
    if (all == NULL || strcmp(all, expected) != 0)
        return 1;
    stop();
    start();
    read_said(getpid());
    stop();
    unsigned kept = 0;
    for (const char *at = said; (at = strstr(at, "late")) != NULL; at++)
        kept++;
    snprintf(expected, sizeof expected,
             ";collectors=5:%u notes of other collectors lost: no memory;", 100 - kept);
    return kept < 99 && strstr(said, expected) != NULL ? 0 : 2;
}

static void what_finds_no_memory_is_counted(void **state)
{
    (void)state;
    if (!MAY_STARVE)
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(note_without_memory());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_note_before_any_session_is_said_in_it),
        cmocka_unit_test(the_next_session_says_the_latest_again),
        cmocka_unit_test(a_forked_child_says_them_in_its_own_folder),
        cmocka_unit_test(long_ones_are_cut),
        cmocka_unit_test(as_many_as_come_are_said_in_each_session),
        cmocka_unit_test(what_finds_no_memory_is_counted),
    };
    return cmocka_run_group_tests_name("collector", tests, NULL, NULL);
}
