/* SPDX-License-Identifier: Apache-2.0 */
/* Sites become classes of the metadata: none straddles a page, since only a write within one is
 * done or not done. */
#include "stream_walk.h"

#include "record/site.h"
#include "record/stream/recorder.h"

#define SITES 100
#define PAGE_BYTES 4096

static char output[4096], path[4300], names[SITES][1024];
static struct varve_site sites[SITES];

static int start(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    options.output = output;
    snprintf(path, sizeof path, "%s/%d/metadata", output, (int)getpid());
    return varve_session_start(&options, NULL);
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

/* Of all lengths, each with three kinds of records. */
static void declare_all(void)
{
    for (size_t i = 0; i < SITES; i++) {
        int length = snprintf(names[i], sizeof names[i], "site %zu ", i);
        memset(names[i] + length, 'x', i * 13 % 900);
        sites[i] = (struct varve_site){ names[i], __FILE__, (uint32_t)i + 1, VARVE_LAYER_OP, 0, 0 };
        varve_begin(&sites[i]);
        varve_next(&sites[i]);
        varve_end();
        varve_counter(&sites[i], 1);
    }
}

/* Each class is there once, on one line, within one page. */
static void assert_classes_lie_within_pages(void)
{
    static const enum vv_site_kind kinds[] = { VV_KIND_BEGIN, VV_KIND_NEXT, VV_KIND_COUNTER };
    size_t bytes = 0, count = 0;
    const char *text = (const char *)walk_map(path, &bytes);
    assert_non_null(text);
    for (const char *at = text; at < text + bytes;) {
        const char *line_end = memchr(at, '\n', bytes - (size_t)(at - text));
        assert_non_null(line_end);
        unsigned id;
        if (sscanf(at, "event { id = %u;", &id) == 1 && id >= VV_SITE_ID_FIRST) {
            assert_int_equal((at - text) / PAGE_BYTES, (line_end - text) / PAGE_BYTES);
            count++;
        }
        at = line_end + 1;
    }
    assert_int_equal(count, SITES * 3);
    for (size_t i = 0; i < SITES; i++)
        for (size_t kind = 0; kind < 3; kind++) {
            char wanted[1100];
            snprintf(wanted, sizeof wanted, "event { id = %u; name = \"%.1023s\";",
                     (unsigned)(sites[i].state & VV_ID_MASK) + kinds[kind], names[i]);
            const char *found = memmem(text, bytes, wanted, strlen(wanted));
            assert_non_null(found);
            assert_null(
                memmem(found + 1, bytes - (size_t)(found + 1 - text), wanted, strlen(wanted)));
        }
    munmap((void *)text, bytes);
}

static void no_class_straddles_a_page(void **state)
{
    (void)state;
    declare_all();
    assert_classes_lie_within_pages();
    assert_true(vv_recorder_lock());
    assert_int_equal(vv_metadata_write(), 0); /* a better frequency: all of it anew */
    vv_recorder_unlock();
    assert_classes_lie_within_pages();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_class_straddles_a_page, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
