/* SPDX-License-Identifier: Apache-2.0 */
/* How long each record is (doc/format.md §6), and how many an unpublished end holds (§4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctf/record_length.h"

#define MEMBER(values) ((uint64_t)(values) << 32 | 7)

static void each_class_has_its_length(void **state)
{
    (void)state;
    static const struct { uint64_t words[12]; size_t length; } records[] = {
        { { VV_EVENT_END }, 1 },
        { { VV_EVENT_STRING, MEMBER(0) }, 2 },
        { { VV_EVENT_STRING, MEMBER(1) }, 3 },
        { { VV_EVENT_STRING, MEMBER(8) }, 3 },
        { { VV_EVENT_STRING, MEMBER(9) }, 4 },
        { { VV_EVENT_CLOCK }, 5 },
        { { VV_EVENT_THREAD }, 3 },
        { { VV_EVENT_PROCESS }, 2 },
        { { VV_EVENT_LAYERS }, 2 },
        { { VV_EVENT_BEGIN }, 2 },
        { { VV_EVENT_OP }, 6 },
        { { VV_EVENT_OP, 0, 0, 0, 0, 2, MEMBER(2), 0, 0, MEMBER(1) }, 6 + 3 + 2 },
        { { VV_EVENT_STEP_BEGIN }, 2 }, { { VV_EVENT_STEP_END }, 1 },
        { { VV_EVENT_ALLOC }, 4 }, { { VV_EVENT_FREE }, 3 },
        { { VV_EVENT_COST }, 2 },
        { { VV_EVENT_CALL }, 4 },
        { { VV_EVENT_CALL, 0, 0, UINT64_C(9) << 32 | 2, MEMBER(0), MEMBER(4) }, 4 + 1 + 5 },
        { { VV_EVENT_IDENTITIES, 2 }, 4 },
        { { VV_EVENT_OUTPUTS, 2, MEMBER(0), 0, MEMBER(2) }, 2 + 2 + 4 },
        { { VV_EVENT_COLLECTOR }, 3 },
        { { VV_EVENT_END_UNDER }, 2 },
        { { VV_EVENT_DEVICE_CLOCK }, 4 },
        { { VV_EVENT_CLOCK_PAIR }, 5 },
        { { VV_EVENT_TRACK }, 5 },
        { { VV_EVENT_ACTIVITY }, 7 },
        { { VV_EVENT_LAUNCH }, 2 },
        { { VV_EVENT_ARGS }, 2 },
        { { VV_EVENT_ARGS, 2, UINT64_C(0x0201) << 48 | 7, 0, 0, 0, 7 }, 2 + 4 + 1 },
        { { VV_EVENT_TEXTS, 2, MEMBER(8), 0, MEMBER(16) }, 2 + 2 + 3 },
        { { VV_EVENT_COLLECTIVE }, 11 },
        { { VV_EVENT_COLLECTIVE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }, 12 },
        { { VV_EVENT_TRACE_MARK }, 7 },
        { { VV_EVENT_TRACE_POINT }, 9 },
        { { VV_EVENT_OPERATOR }, 6 },
        { { VV_EVENT_OPERATOR, 0, 0, 0, 0, 2, MEMBER(0), 0, 0, MEMBER(2) }, 6 + 3 + 5 },
        { { VV_EVENT_TRACE_POINT + 1 }, 0 },
        { { VV_EVENT_COUNTER_NAME }, 3 },
        { { VV_EVENT_COUNTS, MEMBER(0) }, 2 },
        { { VV_EVENT_COUNTS, MEMBER(7) }, 9 },
        { { VV_EVENT_DEVICE_COUNTER }, 4 },
        { { VV_EVENT_PAST_RANGE }, 6 },
        { { VV_EVENT_PAST_NOTE }, 7 },
        { { VV_EVENT_PAST_NOTE, 0, 0, 0, 0, 0, 2, UINT64_C(0) << 56 | 0xffffff, UINT64_C(3) << 56 },
          7 + 1 + 4 },
        { { VV_EVENT_GRAPH }, 6 },
        { { VV_EVENT_NODE, MEMBER(9) }, 9 + 2 },
        { { VV_EVENT_NODE_TENSORS }, 3 },
        { { VV_EVENT_NODE_TENSORS, 0, 2, MEMBER(2), 0, 0, 0, 0, MEMBER(1) }, 3 + 5 + 4 },
        { { VV_EVENT_NODE_TEXT, MEMBER(16) }, 3 + 2 },
        { { VV_EVENT_EDGE }, 4 },
        { { VV_EVENT_PLACEMENT }, 6 },
        { { VV_EVENT_MODEL }, 5 },
        { { VV_EVENT_MODEL_EVENT }, 3 },
        { { VV_EVENT_EXECUTE }, 2 },
        { { VV_EVENT_TASK }, 9 }, { { VV_EVENT_KERNEL }, 8 },
        { { VV_EVENT_BUILTIN_COUNT }, 0 },
        { { VV_EVENT_NONE }, 0 },
        { { VV_SITE_ID_FIRST + VV_KIND_MARK }, 1 },
        { { VV_SITE_ID_FIRST + VV_KIND_COUNTER }, 2 },
        { { VV_SITE_ID_FIRST + VV_SITE_KINDS + VV_KIND_FLOW_IN }, 2 },
        /* the clock above it does not matter */
        { { UINT64_C(123456789) << 20 | VV_EVENT_THREAD }, 3 },
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        assert_int_equal(vv_record_length(records[i].words, 12), records[i].length);
}

/* Of so many words, what lies behind them being unknown. */
static void a_length_that_is_not_there_is_not_known(void **state)
{
    (void)state;
    static const uint64_t string[] = { VV_EVENT_STRING, MEMBER(8) },
                          op[] = { VV_EVENT_OP, 0, 0, 0, 0, 2, MEMBER(1), 0, MEMBER(0) };
    assert_int_equal(vv_record_length(string, 1), 0);
    assert_int_equal(vv_record_length(string, 2), 3);
    for (size_t count = 1; count <= 8; count++)
        assert_int_equal(vv_record_length(op, count), 0);
    assert_int_equal(vv_record_length(op, 9), 9);
}

/* Words that were reserved and never stored are one record, as many as there are; what has no known
 * end is one, the last. */
static void hidden_records_are_counted(void **state)
{
    (void)state;
    static const uint64_t words[] = { VV_EVENT_END, 0, 0, 0, VV_EVENT_THREAD, 0, 0, VV_EVENT_END,
                                      VV_EVENT_STEP_END,
                                      0, VV_EVENT_CLOCK, 1, 2, 3, 4, VV_EVENT_COST };
    static const uint64_t records[] = { 0, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 7, 7, 7, 7, 7, 8 };
    static const uint64_t strange[] = { VV_EVENT_END, VV_EVENT_BUILTIN_COUNT, VV_EVENT_END,
                                        VV_EVENT_END };
    for (size_t count = 0; count <= sizeof words / sizeof words[0]; count++)
        assert_int_equal(vv_hidden_records(words, count), records[count]);
    assert_int_equal(vv_hidden_records(strange, 4), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_has_its_length),
        cmocka_unit_test(a_length_that_is_not_there_is_not_known),
        cmocka_unit_test(hidden_records_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
