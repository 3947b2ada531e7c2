/* SPDX-License-Identifier: Apache-2.0 */
/* test_kineto.c — an instant "[memory]" of Kineto is an allocation, with what it says and what it
 * leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_bytes.h"
#include "handmade.h"
#include "import/chrome/reader.h"

static void what_is_not_said_is_not_known(void **state)
{
    static const struct {
        const char *more;
        int64_t allocated, reserved;
        uint32_t device;
    } cases[] = {
        { "\"Device Type\":1,\"Device Id\":0", -1, -1, VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 0) },
        { "\"Device Type\":1,\"Device Id\":2,\"Total Allocated\":0", 0, -1,
          VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 2) },
        { "\"Device Type\":0,\"Device Id\":-1,\"Total Reserved\":0", -1, 0,
          VARVE_DEVICE(VARVE_DEVICE_KIND_CPU, 0) },
        { "\"Device Type\":1,\"Device Id\":1,\"Total Allocated\":70,\"Total Reserved\":90", 70, 90,
          VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1) },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct vv_model *model = NULL;
        int length = snprintf(text, sizeof text,
                              "{\"traceEvents\":["
                              "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"before\",\"pid\":9,"
                              "\"tid\":8,\"ts\":1,\"dur\":1},"
                              "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"["
                              "memory]\",\"pid\":9,\"tid\":9,"
                              "\"ts\":22,\"args\":{\"Bytes\":512,\"Addr\":77,%s}}]}",
                              cases[i].more);
        assert_int_equal(chrome_bytes(text, (size_t)length, 1, &model, NULL), VARVE_OK);
        assert_int_equal(model->memory.table.count, 1);
        assert_int_equal(model->marks.table.count, 0);
        assert_int_equal(model->memory.time_ns[0], 22000);
        assert_int_equal(model->memory.bytes[0], 512);
        assert_int_equal(model->memory.address[0], 77);
        assert_int_equal(model->memory.allocated_bytes[0], cases[i].allocated);
        assert_int_equal(model->memory.reserved_bytes[0], cases[i].reserved);
        assert_int_equal(model->memory.device[0], cases[i].device);
        assert_int_equal(model->tracks.tid[model->memory.track[0]], 9);
        vv_model_destroy(model);
    }
}

/* Whatever the caller's word was before. */
static void another_instant_is_not_done(void **state)
{
    static struct vv_chrome_reader reader;
    static const char *const names[] = { "mark", "[memory]" };
    (void)state;
    reader.model = handmade_model();
    for (size_t i = 0; i < 2; i++) {
        bool is_done = true;
        reader.now.name = handmade_text(reader.model, names[i]); /* the second says no bytes */
        assert_int_equal(vv_kineto_memory(&reader, &is_done, NULL), VARVE_OK);
        assert_false(is_done);
        assert_int_equal(reader.model->memory.table.count, 0);
    }
    vv_model_destroy(reader.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_is_not_known),
        cmocka_unit_test(another_instant_is_not_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
