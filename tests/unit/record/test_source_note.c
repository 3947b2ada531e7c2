/* SPDX-License-Identifier: Apache-2.0 */
/* What collectors say of themselves, read back from the process's own stream. */
#include "stream_walk.h"

#include <errno.h>
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
    for (size_t i = 0; i < walk->word_count; i += vv_record_length(walk->words + i, walk->word_count - i))
        if (walk_id(walk->words[i]) == VV_EVENT_STRING && (uint32_t)walk->words[i + 1] == wanted)
            return (const char *)(walk->words + i + 2);
    return "";
}

/* `said` becomes "name=state:text;" for each record of the process, in order. */
static void read_said(pid_t process)
{
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/%d", output, (int)process);
    struct walk walk = walk_stream(folder, "process");
    said[0] = '\0';
    for (size_t i = 0; i < walk.word_count; i += vv_record_length(walk.words + i, walk.word_count - i)) {
        const uint64_t *word = walk.words + i;
        if (walk_id(*word) == VV_EVENT_COLLECTOR)
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

/* Runs last: what is remembered lasts as long as the process. */
static void long_ones_are_cut_and_too_many_are_ignored(void **state)
{
    (void)state;
    char name[64], text[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(text, 't', sizeof text);
    memcpy(text + VV_COLLECTOR_TEXT_BYTES_MAX - 1, "\xc3\xa9", 3); /* é across the limit */
    start();
    vv_collector_note(name, VV_COLLECTOR_NOTE, text);
    for (char i = 0; i < 20; i++) {
        const char other[] = { (char)('a' + i), '\0' };
        vv_collector_note(other, VV_COLLECTOR_OFF, "");
    }
    read_said(getpid());
    char expected[400];
    snprintf(expected, sizeof expected, "torch=0:torch 2.15.0;python=4:;%.31s=5:%.199s;a=4:;", name, text);
    assert_memory_equal(said, expected, strlen(expected));
    assert_string_equal(strrchr(said, 'm'), "m=4:;"); /* torch, python, the long one, a to m: 16 */
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_note_before_any_session_is_said_in_it),
        cmocka_unit_test(the_next_session_says_the_latest_again),
        cmocka_unit_test(a_forked_child_says_them_in_its_own_folder),
        cmocka_unit_test(long_ones_are_cut_and_too_many_are_ignored),
    };
    return cmocka_run_group_tests_name("collector", tests, NULL, NULL);
}
