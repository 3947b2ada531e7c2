/* SPDX-License-Identifier: Apache-2.0 */
/* test_read_ahead.c — base/read_ahead.c: the bytes that were fetched, in their order, whatever the
 * sizes asked for; a failure behind the bytes before it; stopping never waits for bytes that nobody
 * reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/read_ahead.h"

#define PATTERN 251u /* a prime: no size of a piece is a multiple */

static uint64_t seed = 5;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Byte i of all is i % PATTERN; some at a time. */
struct origin {
    size_t at, bytes, step;
    enum varve_code last;
    unsigned ends;
};

static enum varve_code fetch(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                             struct varve_error *error)
{
    struct origin *origin = context;
    size_t rest = origin->bytes - origin->at;
    *out_bytes = rest < origin->step ? rest : origin->step;
    if (*out_bytes > bytes)
        *out_bytes = bytes;
    for (size_t i = 0; i < *out_bytes; i++)
        ((unsigned char *)buffer)[i] = (unsigned char)((origin->at + i) % PATTERN);
    origin->at += *out_bytes;
    origin->ends += rest == 0;
    if (rest == 0 && origin->last != VARVE_OK)
        return vv_fail(error, origin->last, "it ends at %zu", origin->at);
    return VARVE_OK;
}

static void read_whole(struct origin origin)
{
    static unsigned char buffer[700000];
    struct vv_ahead *ahead = vv_ahead_start(fetch, &origin);
    struct varve_error error = { 0 };
    size_t sum = 0, got = 1;
    assert_non_null(ahead);
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && got > 0) {
        code = vv_ahead_read(ahead, buffer, 1 + draw(sizeof buffer), &got, &error);
        for (size_t i = 0; i < got; i++)
            assert_int_equal(buffer[i], (sum + i) % PATTERN);
        sum += got;
    }
    assert_int_equal(sum, origin.bytes);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(code, origin.last);
        assert_int_equal(got, 0);
        if (code != VARVE_OK)
            assert_non_null(strstr(error.message, "it ends at"));
        error = (struct varve_error){ 0 };
        code = vv_ahead_read(ahead, buffer, sizeof buffer, &got, &error);
    }
    vv_ahead_stop(ahead);
    assert_int_equal(origin.ends, 1); /* nothing is fetched behind the end                       */
}

static void all_bytes_in_order(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 524287, 524288, 524289, 1048576, 9000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int fails = 0; fails < 2; fails++) {
            enum varve_code last = fails ? VARVE_TRUNCATED : VARVE_OK;
            read_whole((struct origin){ 0, sizes[i], SIZE_MAX, last, 0 });
            read_whole((struct origin){ 0, sizes[i], 100000, last, 0 });
        }
}

static void stopping_does_not_wait(void **state)
{
    (void)state;
    char bytes[100];
    for (int reads = 0; reads < 30; reads++) {
        struct origin endless = { 0, SIZE_MAX, 300000, VARVE_OK, 0 };
        struct vv_ahead *ahead = vv_ahead_start(fetch, &endless);
        size_t got;
        assert_non_null(ahead);
        for (int i = 0; i < reads; i++) {
            assert_int_equal(vv_ahead_read(ahead, bytes, sizeof bytes, &got, NULL), VARVE_OK);
            assert_int_equal(got, sizeof bytes);
        }
        vv_ahead_stop(ahead);
    }
    vv_ahead_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_in_order),
        cmocka_unit_test(stopping_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
