/* SPDX-License-Identifier: Apache-2.0 */
/* test_protobuf.c — base/text/protobuf.c: every field as it was written, and every damage at its
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/protobuf.h"

#define START 1000 /* of the message in the input                                               */

/* The fields as "number:wire=value", bytes as number:2='text'; then "." or "!offset". */
static void expect(const char *bytes, size_t length, const char *fields)
{
    char seen[512], *out = seen;
    unsigned char *copy = malloc(length + 1); /* its end is the end of a block, for a sanitizer */
    struct vv_protobuf message;
    struct varve_error error;
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    copy = realloc(copy, length > 0 ? length : 1);
    assert_non_null(copy);
    vv_protobuf_init(&message, copy, length, START);
    while (vv_protobuf_next(&message)) {
        out += sprintf(out, "%u:%d=", message.number, (int)message.wire);
        if (message.wire == VV_WIRE_BYTES)
            out += sprintf(out, "'%.*s' ", (int)message.value, (const char *)message.data);
        else
            out += sprintf(out, "%llu ", (unsigned long long)message.value);
    }
    if (vv_protobuf_end(&message, &error) == VARVE_OK) {
        sprintf(out, ".");
    } else {
        assert_int_equal(error.code, VARVE_CORRUPT);
        sprintf(out, "!%d", (int)error.offset);
    }
    assert_string_equal(seen, fields);
    free(copy);
}

#define EXPECT(bytes, fields) expect(bytes, sizeof(bytes) - 1, fields)

static void fields(void **state)
{
    (void)state;
    EXPECT("", ".");
    EXPECT("\x08\x00", "1:0=0 .");
    EXPECT("\x08\x96\x01", "1:0=150 .");
    EXPECT("\x12\x02hi\x1a\x00", "2:2='hi' 3:2='' .");
    EXPECT("\x21\x01\x02\x03\x04\x05\x06\x07\x08", "4:1=578437695752307201 .");
    EXPECT("\x2d\x01\x00\x00\x80", "5:5=2147483649 .");
    EXPECT("\x92\x03\x01x", "50:2='x' .");
    EXPECT("\xfa\xff\xff\xff\x0f\x00", "536870911:2='' .");
}

static void read_varints(void)
{
    EXPECT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "1:0=18446744073709551615 .");
    EXPECT("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "1:0=9223372036854775808 .");
    EXPECT("\x08\x80\x80\x80\x00", "1:0=0 .");
    EXPECT("\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x08\x05", "1:0=72057594037927935 1:0=5 .");
    for (unsigned bits = 0; bits < 64; bits++) {
        unsigned char bytes[10];
        uint64_t value = UINT64_C(1) << bits | bits, read, left = value;
        size_t count = 0;
        for (; left >= 0x80; left >>= 7)
            bytes[count++] = (unsigned char)(left | 0x80);
        bytes[count++] = (unsigned char)left;
        for (size_t after = 0; after <= 8; after += 8) { /* alone, and with bytes behind it */
            unsigned char whole[24] = { 0 };
            const unsigned char *at = whole;
            memcpy(whole, bytes, count);
            memset(whole + count, 0xff, after);
            assert_true(vv_protobuf_varint(&at, whole + count + after, &read));
            assert_true(read == value);
            assert_int_equal(at - whole, count);
        }
        const unsigned char *at = bytes;
        assert_false(vv_protobuf_varint(&at, bytes + count - 1, &read));
    }
}

static void varints(void **state)
{
    (void)state;
    read_varints();
#if defined(__x86_64__)
    vv_protobuf_pext_is_quick = false; /* as processors read them that cannot, or not quickly */
    read_varints();
#endif
}

static void damage(void **state)
{
    (void)state;
    EXPECT("\x08\x01\x80", "1:0=1 !1002");         /* a tag without end                         */
    EXPECT("\x08\x80", "!1001");                   /* a number without end                      */
    EXPECT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "!1001");
    EXPECT("\x12\x03hi", "!1001");                 /* longer than what is there                 */
    EXPECT("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "!1001");
    EXPECT("\x21\x01\x02", "!1001");
    EXPECT("\x2d\x01\x02\x03", "!1001");
    EXPECT("\x0b", "!1000");                       /* a group                                   */
    EXPECT("\x0f", "!1000");
    EXPECT("\x00\x01", "!1000");                   /* number 0                                  */
    EXPECT("\x80\x80\x80\x80\x10\x00", "!1000");   /* number 2^29                               */
}

static void texts_and_types(void **state)
{
    (void)state;
    struct vv_protobuf message;
    struct varve_error error;
    vv_protobuf_init(&message, "\x12\x04" "a\xc3\xa9\xff\x08\x01", 8, START);
    assert_true(vv_protobuf_next(&message));
    assert_int_equal(vv_protobuf_expect_text(&message, "the name", &error), VARVE_CORRUPT);
    assert_string_equal(error.message, "the name is not UTF-8 at byte 1005");
    assert_int_equal(error.offset, 1005);
    assert_int_equal(vv_protobuf_expect(&message, VV_WIRE_BYTES, "the name", &error), VARVE_OK);
    assert_true(vv_protobuf_next(&message));
    assert_int_equal(vv_protobuf_expect_text(&message, "the id", &error), VARVE_CORRUPT);
    assert_non_null(strstr(error.message, "the id has wire type 0 instead of 2"));
}

static void inner_messages(void **state)
{
    (void)state;
    struct vv_protobuf outer, inner;
    struct varve_error error;
    vv_protobuf_init(&outer, "\x12\x03\x08\x05\x80\x18\x07", 7, START);
    assert_true(vv_protobuf_next(&outer));
    vv_protobuf_enter(&outer, &inner);
    assert_true(vv_protobuf_next(&inner));
    assert_int_equal(inner.value, 5);
    assert_false(vv_protobuf_next(&inner));
    assert_int_equal(vv_protobuf_end(&inner, &error), VARVE_CORRUPT);
    assert_int_equal(error.offset, 1004);
    assert_true(vv_protobuf_next(&outer));
    assert_int_equal(outer.value, 7);
}

static void repeated_numbers(void **state)
{
    (void)state;
    struct vv_protobuf message;
    const unsigned char *at = NULL;
    uint64_t sum = 0, item, count = 0;
    vv_protobuf_init(&message, "\x32\x03\x05\x80\x01\x30\x07\x32\x00", 9, START);
    while (vv_protobuf_next(&message))
        for (at = NULL; vv_protobuf_repeated(&message, &at, &item); count++)
            sum += item;
    assert_int_equal(count, 3);
    assert_int_equal(sum, 5 + 128 + 7);
    vv_protobuf_init(&message, "\x32\x02\x05\x80", 4, START);
    assert_true(vv_protobuf_next(&message));
    at = NULL;
    assert_true(vv_protobuf_repeated(&message, &at, &item));
    assert_false(vv_protobuf_repeated(&message, &at, &item));
    assert_int_equal(vv_protobuf_end(&message, NULL), VARVE_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),          cmocka_unit_test(varints),
        cmocka_unit_test(damage),          cmocka_unit_test(texts_and_types),
        cmocka_unit_test(inner_messages),  cmocka_unit_test(repeated_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
