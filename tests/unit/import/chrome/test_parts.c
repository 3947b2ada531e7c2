/* SPDX-License-Identifier: Apache-2.0 */
/* test_parts.c — import/chrome/parts.c: however many threads share a file, wherever it is divided,
 * compressed or not, the model is that of one thread; an error is the same one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_bytes.h"
#include "import/importer.h"
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
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,"
        "\"dur\":%u,\"args\":"
        "{\"External id\":%u,\"Input Dims\":[[%u,3],[]],\"Input type\":[\"float\",\"\"],\"Ev "
        "Idx\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch%u\",\"pid\":1,\"tid\":%u,"
        "\"ts\":%u,\"dur\":%u,"
        "\"args\":{\"correlation\":%u,\"cbid\":%u,\"x\":\"a, {\\\"ph\\\": %u\"}}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel%u\",\"pid\":0,\"tid\":%u,\"ts\":%u,"
        "\"dur\":%u,\"args\":"
        "{\"correlation\":%u,\"stream\":7,\"grid\":[%u,1,1],\"list\":[1, {\"ph\":\"X\","
        "\"ts\":%u}]}}",
        "{\"ph\":\"B\",\"name\":\"range%u\",\"pid\":2,\"tid\":%u,\"ts\":%u,\"sf\":%u,"
        "\"args\":{\"a\":%u,\"b\":%u,\"c\":%u}}",
        "{\"ph\":\"E\",\"name\":\"range%u\",\"pid\":2,\"tid\":%u,\"ts\":%u,\"args\":{\"a\":%u,"
        "\"b\":%u,\"c\":%u,\"d\":%u}}",
        "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"f%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"id\":%u,"
        "\"x\":[%u,%u,%u]}",
        "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"f%u\",\"pid\":0,\"tid\":%u,\"ts\":%u,\"id\":%u,"
        "\"bp\":\"e\",\"y\":[%u,%u,%u]}",
        "{\"ph\":\"b\",\"cat\":\"net\",\"name\":\"r%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,"
        "\"id\":\"0x%u\",\"args\":{\"k\":[%u,%u,%u]}}",
        "{\"ph\":\"e\",\"cat\":\"net\",\"name\":\"r%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,"
        "\"id\":\"0x%u\",\"args\":{\"k\":[%u,%u,%u]}}",
        "{\"ph\":\"C\",\"name\":\"queue%u\",\"pid\":\"p\",\"tid\":%u,\"ts\":%u,"
        "\"args\":{\"value\":%u,\"b\":%u,\"c\":%u,\"d\":%u}}",
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"args\":{\"name\":\"thread %u\"},"
        "\"tid\":%u,\"ts\":%u,\"z\":[%u,%u,%u,%u]}",
        "{\"ph\":\"i\",\"name\":\"mark%u\",\"pid\":1,\"tid\":\"t %u\",\"ts\":%u,\"s\":\"g\","
        "\"args\":{\"a\":%u,\"b\":%u,\"c\":%u,\"d\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%u\",\"pid\":1,"
        "\"tid\":%u,\"ts\":%u,\"dur\":%u,"
        "\"args\":{\"External id\":%u,\"a\":%u,\"b\":%u}}",
        "{\"ph\":\"n\",\"cat\":\"net\",\"name\":\"n%u\",\"pid\":3,\"tid\":%u,\"ts\":%u,"
        "\"id2\":{\"local\":%u},\"args\":{\"k\":[%u,%u,%u]}}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:g%u\",\"pid\":1,\"tid\":%u,"
        "\"ts\":%u,\"dur\":%u,"
        "\"args\":{\"External id\":%u,\"Input Dims\":[[%u,%u]]}}",
    };
    const char *form = forms[draw(sizeof forms / sizeof forms[0])];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return (size_t)sprintf(out, form, draw(4), draw(3), number * 10 + draw(30), draw(40), draw(6),
                           draw(3), number);
#pragma GCC diagnostic pop
}

static size_t write_trace(char *out, uint32_t events, bool is_object)
{
    char *at = out;
    if (is_object)
        at += sprintf(at, "{\"schemaVersion\": 1, \"stackFrames\": {\"1\": {\"name\": \"main\"}}, "
                          "\"traceEvents\": ");
    at += sprintf(at, "[\n");
    for (uint32_t i = 0; i < events; i++) {
        at += write_event(at, i);
        at += sprintf(at, i + 1 < events ? ",%s" : "%s", draw(2) ? "\n  " : " ");
    }
    at += sprintf(at, "]");
    if (is_object)
        at += sprintf(
            at,
            ", \"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": 3}, "
            "\"host_name\": \"box\"}\n");
    return (size_t)(at - out);
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    assert_non_null(text);
    for (int round = 0; round < 7; round++)
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
    for (int round = 0; round < 18; round++)
        compare(text, draw((uint32_t)bytes));
    for (int round = 0; round < 50; round++) {
        uint32_t place = draw((uint32_t)bytes);
        char byte = text[place];
        text[place] = (char)(byte ^ 1 << draw(8));
        compare(text, bytes);
        text[place] = byte;
    }
    free(text);
}

/* ---- compressed ---- */

static uint32_t checksum(const char *text, size_t bytes)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < bytes; i++) {
        sum ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (UINT32_C(0xedb88320) & (0 - (sum & 1)));
    }
    return ~sum;
}

static char *put_number(char *out, uint32_t number, int bytes)
{
    for (; bytes > 0; bytes--, number >>= 8)
        *out++ = (char)number;
    return out;
}

/* One member of blocks that are stored as they are. */
static size_t write_gzip(char *out, const char *text, size_t bytes)
{
    static const char head[10] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
    char *at = out;
    memcpy(at, head, sizeof head);
    at += sizeof head;
    for (size_t done = 0, block; done < bytes; done += block) {
        block = bytes - done < UINT16_MAX ? bytes - done : UINT16_MAX;
        *at++ = done + block == bytes;
        at = put_number(put_number(at, (uint32_t)block, 2), ~(uint32_t)block, 2);
        memcpy(at, text + done, block);
        at += block;
    }
    return (size_t)(put_number(put_number(at, checksum(text, bytes), 4), (uint32_t)bytes, 4) - out);
}

/* Whole, cut and damaged: several windows long. */
static void packed_is_read_alike(void **state)
{
    (void)state;
    char *text = malloc(4 << 20), *packed = malloc(5 << 20);
    assert_true(text != NULL && packed != NULL);
    size_t bytes = write_gzip(packed, text, write_trace(text, 15000, true));
    struct vv_model *one, *two;
    struct varve_error error = { 0 }, other = { 0 };
    for (int round = 0; round < 3; round++) {
        size_t length = round % 3 == 1 ? draw((uint32_t)bytes) : bytes,
               place = draw((uint32_t)bytes);
        packed[place] ^= (char)(round % 3 == 2 ? 1 << draw(8) : 0);
        enum varve_code code = chrome_bytes(packed, length, 1, &one, &error);
        assert_int_equal(chrome_bytes(packed, length, 2, &two, &other), code);
        if (code == VARVE_OK)
            assert_true(same_model(one, two));
        else
            assert_string_equal(error.message, other.message);
        if (round % 3 == 0)
            assert_int_equal(code, VARVE_OK);
        vv_model_destroy(one);
        vv_model_destroy(two);
        bytes = write_gzip(packed, text, strlen(text));
    }
    free(text);
    free(packed);
}

/* ---- progress ---- */

struct told {
    uint64_t done_bytes, total_bytes;
    unsigned falls;
};

static void tell(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    struct told *told = context;
    told->falls += done_bytes < told->done_bytes || done_bytes > total_bytes;
    told->done_bytes = done_bytes;
    told->total_bytes = total_bytes;
}

static void import_file(const char *bytes, size_t length)
{
    struct told told = { 0 };
    const struct vv_import_options options = { .threads = 3, .progress = tell,
                                               .progress_context = &told };
    struct vv_model *model;
    char name[64];
    const char *path = name;
    int file = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(write(file, bytes, length), (ssize_t)length);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    assert_int_equal(vv_import_all(&path, 1, &options, &model, NULL), VARVE_OK);
    vv_model_destroy(model);
    close(file);
    assert_int_equal(told.total_bytes, length);
    assert_int_equal(told.falls, 0);
    assert_true(told.done_bytes > length - length / 4); /* what is read while another tells is told
                                                           with the next */
}

/* All threads' bytes count, and they only rise. */
static void progress_is_that_of_all_parts(void **state)
{
    (void)state;
    char *text = malloc(20 << 20), *packed = malloc(20 << 20);
    assert_true(text != NULL && packed != NULL);
    size_t bytes = write_trace(text, 110000, true);
    assert_true(bytes > 12 << 20);
    import_file(text, bytes);
    import_file(packed, write_gzip(packed, text, bytes));
    free(text);
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(damage_is_seen_alike),
        cmocka_unit_test(packed_is_read_alike),
        cmocka_unit_test(progress_is_that_of_all_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
