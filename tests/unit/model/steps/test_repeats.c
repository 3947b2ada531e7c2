/* SPDX-License-Identifier: Apache-2.0 */
/* test_repeats.c — model/steps/repeats.c against the definition, tried period by period, on
 * sequences of all kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/steps/repeats.h"

#define TOKENS_MAX 160u

static uint64_t seed = 4;

static uint32_t draw(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

/* The first repeat of all, as the definition says; its length is 0 where there is none. */
static struct vv_repeat slowest_best(const uint32_t *tokens, size_t first, size_t limit)
{
    struct vv_repeat best = { 0, 0, 0 };
    for (size_t period = 1; period <= (limit - first) / 3; period++) {
        for (size_t i = first; i + period < limit; i++) {
            size_t end = i + period;
            while (end < limit && tokens[end] == tokens[end - period])
                end++;
            if (end - i >= 3 * period && end - i > best.length)
                best = (struct vv_repeat){ (uint32_t)i, (uint32_t)(end - i), (uint32_t)period };
        }
    }
    return best;
}

static size_t slow_all(const uint32_t *tokens, size_t first, size_t limit, struct vv_repeat *out)
{
    struct vv_repeat best = slowest_best(tokens, first, limit);
    if (best.length == 0)
        return 0;
    size_t count = slow_all(tokens, first, best.start, out);
    out[count++] = best;
    return count + slow_all(tokens, best.start + best.length, limit, out + count);
}

static void agree(const uint32_t *tokens, size_t count)
{
    struct vv_repeat expected[TOKENS_MAX];
    struct vv_repeats found;
    size_t expected_count = slow_all(tokens, 0, count, expected);
    assert_int_equal(vv_repeats_find(tokens, count, &found, NULL), VARVE_OK);
    assert_int_equal(found.count, expected_count);
    for (size_t i = 0; i < expected_count; i++) {
        assert_int_equal(found.items[i].start, expected[i].start);
        assert_int_equal(found.items[i].length, expected[i].length);
        assert_int_equal(found.items[i].period, expected[i].period);
    }
    vv_repeats_deinit(&found);
}

static void random_sequences(void **state)
{
    (void)state;
    uint32_t tokens[TOKENS_MAX];
    for (unsigned round = 0; round < 3000; round++) {
        uint32_t letters = 1 + draw(4), count = draw(48);
        for (uint32_t i = 0; i < count; i++)
            tokens[i] = draw(letters);
        agree(tokens, count);
    }
}

/* Layers inside steps, with odd tokens in between. */
static void nested_sequences(void **state)
{
    (void)state;
    uint32_t tokens[TOKENS_MAX];
    for (unsigned round = 0; round < 300; round++) {
        uint32_t inner = 1 + draw(4), times = 2 + draw(4), count = 0, odd = draw(40);
        for (uint32_t step = 0; step < 5; step++) {
            for (uint32_t i = 0; i < inner * times && count < TOKENS_MAX - 8; i++)
                tokens[count++] = 10 + i % inner;
            tokens[count++] = draw(odd + 2) == 0 ? 99 : 1;
        }
        agree(tokens, count);
    }
}

/* The longest repeat. */
static const struct vv_repeat *longest(const struct vv_repeats *repeats)
{
    const struct vv_repeat *best = repeats->items;
    for (size_t i = 1; i < repeats->count; i++)
        if (repeats->items[i].length > best->length)
            best = &repeats->items[i];
    return best;
}

/* A million tokens, in time that is nearly in proportion: also where all are the same, and of
 * Fibonacci's word, which is all repeats. */
static void long_sequences(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    uint32_t *tokens = calloc(COUNT, sizeof *tokens);
    struct vv_repeats found;
    assert_non_null(tokens);
    assert_int_equal(vv_repeats_find(tokens, COUNT, &found, NULL), VARVE_OK);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].period, 1);
    assert_int_equal(found.items[0].length, COUNT);
    vv_repeats_deinit(&found);

    for (uint32_t i = 0; i < COUNT; i++)
        tokens[i] = i % 7;
    assert_int_equal(vv_repeats_find(tokens, COUNT, &found, NULL), VARVE_OK);
    assert_int_equal(longest(&found)->period, 7);
    assert_int_equal(longest(&found)->length, COUNT);
    vv_repeats_deinit(&found);

    for (uint32_t i = 0; i < COUNT; i++)
        tokens[i] = i % 50000 < 20000 ? i % 50000 % 100 : 100 + i % 50000;
    assert_int_equal(vv_repeats_find(tokens, COUNT, &found, NULL), VARVE_OK);
    assert_int_equal(longest(&found)->period, 50000);
    assert_int_equal(longest(&found)->length, COUNT);
    vv_repeats_deinit(&found);

    uint32_t first = 1, second = 2;
    tokens[0] = 1, tokens[1] = 0;
    while (second < COUNT) {
        uint32_t copied = first < COUNT - second ? first : COUNT - second;
        memcpy(tokens + second, tokens, copied * sizeof *tokens);
        second += first;
        first = second - first;
    }
    assert_int_equal(vv_repeats_find(tokens, COUNT, &found, NULL), VARVE_OK);
    assert_true(found.count > 0);
    vv_repeats_deinit(&found);
    free(tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences),
        cmocka_unit_test(nested_sequences),
        cmocka_unit_test(long_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
