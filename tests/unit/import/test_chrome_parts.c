/* SPDX-License-Identifier: Apache-2.0 */
/* test_chrome_parts.c — import/chrome_parts.c: however many threads share a file, and wherever it is divided, the model is that of
 * one thread; an error is the same one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chrome_bytes.h"
#include "same_model.h"

static uint64_t seed = 21;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void compare(const char *text, size_t bytes)
{
    struct vv_model *whole, *parts;
    struct varve_error error = { 0 }, other = { 0 };
    enum varve_code code = chrome_bytes(text, bytes, 1, &whole, &error);
    for (unsigned count = 2; count <= 7; count++) {
        assert_int_equal(chrome_bytes(text, bytes, count, &parts, &other), code);
        if (code == VARVE_OK)
            assert_true(same_model(whole, parts));
        else
            assert_string_equal(error.message, other.message);
        vv_model_destroy(parts);
    }
    vv_model_destroy(whole);
}

/* Every kind of event, few names and ids, so that much joins much. */
static size_t write_event(char *out, uint32_t number)
{
    static const char *const forms[] = {
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,\"args\":"
        "{\"External id\":%u,\"Input Dims\":[[%u,3],[]],\"Input type\":[\"float\",\"\"],\"Ev Idx\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,"
        "\"args\":{\"correlation\":%u,\"cbid\":%u,\"x\":\"a, {\\\"ph\\\": %u\"}}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel%u\",\"pid\":0,\"tid\":%u,\"ts\":%u,\"dur\":%u,\"args\":"
        "{\"correlation\":%u,\"stream\":7,\"grid\":[%u,1,1],\"list\":[1, {\"ph\":\"X\",\"ts\":%u}]}}",
        "{\"ph\":\"B\",\"name\":\"range%u\",\"pid\":2,\"tid\":%u,\"ts\":%u,\"sf\":%u,\"args\":{\"a\":%u,\"b\":%u,\"c\":%u}}",
        "{\"ph\":\"E\",\"name\":\"range%u\",\"pid\":2,\"tid\":%u,\"ts\":%u,\"args\":{\"a\":%u,\"b\":%u,\"c\":%u,\"d\":%u}}",
        "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"f%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"id\":%u,\"x\":[%u,%u,%u]}",
        "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"f%u\",\"pid\":0,\"tid\":%u,\"ts\":%u,\"id\":%u,\"bp\":\"e\",\"y\":[%u,%u,%u]}",
        "{\"ph\":\"b\",\"cat\":\"net\",\"name\":\"r%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"id\":\"0x%u\",\"args\":{\"k\":[%u,%u,%u]}}",
        "{\"ph\":\"e\",\"cat\":\"net\",\"name\":\"r%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"id\":\"0x%u\",\"args\":{\"k\":[%u,%u,%u]}}",
        "{\"ph\":\"C\",\"name\":\"queue%u\",\"pid\":\"p\",\"tid\":%u,\"ts\":%u,\"args\":{\"value\":%u,\"b\":%u,\"c\":%u,\"d\":%u}}",
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"args\":{\"name\":\"thread %u\"},\"tid\":%u,\"ts\":%u,\"z\":[%u,%u,%u,%u]}",
        "{\"ph\":\"i\",\"name\":\"mark%u\",\"pid\":1,\"tid\":\"t %u\",\"ts\":%u,\"s\":\"g\",\"args\":{\"a\":%u,\"b\":%u,\"c\":%u,\"d\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,"
        "\"args\":{\"External id\":%u,\"a\":%u,\"b\":%u}}",
        "{\"ph\":\"n\",\"cat\":\"net\",\"name\":\"n%u\",\"pid\":3,\"tid\":%u,\"ts\":%u,\"id2\":{\"local\":%u},\"args\":{\"k\":[%u,%u,%u]}}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:g%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,"
        "\"args\":{\"External id\":%u,\"Input Dims\":[[%u,%u]]}}",
    };
    const char *form = forms[draw(sizeof forms / sizeof forms[0])];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return (size_t)sprintf(out, form, draw(4), draw(3), number * 10 + draw(30), draw(40), draw(6), draw(3),
                           number);
#pragma GCC diagnostic pop
}

static size_t write_trace(char *out, uint32_t events, bool is_object)
{
    char *at = out;
    if (is_object)
        at += sprintf(at, "{\"schemaVersion\": 1, \"stackFrames\": {\"1\": {\"name\": \"main\"}}, \"traceEvents\": ");
    at += sprintf(at, "[\n");
    for (uint32_t i = 0; i < events; i++) {
        at += write_event(at, i);
        at += sprintf(at, i + 1 < events ? ",%s" : "%s", draw(2) ? "\n  " : " ");
    }
    at += sprintf(at, "]");
    if (is_object)
        at += sprintf(at, ", \"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": 3}, "
                          "\"host_name\": \"box\"}\n");
    return (size_t)(at - out);
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    assert_non_null(text);
    for (int round = 0; round < 60; round++)
        compare(text, write_trace(text, 1 + draw(200), round % 2 == 0));
    free(text);
}

/* Cut anywhere, or with one byte changed: the same model or the same error. */
static void damage_is_seen_alike(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    assert_non_null(text);
    size_t bytes = write_trace(text, 60, true);
    for (int round = 0; round < 150; round++)
        compare(text, draw((uint32_t)bytes));
    for (int round = 0; round < 400; round++) {
        uint32_t place = draw((uint32_t)bytes);
        char byte = text[place];
        text[place] = (char)(byte ^ 1 << draw(8));
        compare(text, bytes);
        text[place] = byte;
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(damage_is_seen_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
