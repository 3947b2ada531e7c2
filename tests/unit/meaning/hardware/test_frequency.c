/* SPDX-License-Identifier: Apache-2.0 */
/* Which counters are clocks, of what, and how fast they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "meaning/hardware/frequency.h"

static void add(struct vv_model *model, const char *name, int64_t time_ns, double value)
{
    uint32_t row;
    assert_int_equal(vv_model_add_counter(model, &row, NULL), VARVE_OK);
    model->counters.name[row] = handmade_text(model, name);
    model->counters.time_ns[row] = HANDMADE_BEGIN_NS + time_ns;
    model->counters.value[row] = value;
    model->counters.track[row] = 0;
}

/* Two processors are one source; each device is one; a wall clock is none, nor is what is not
 * called so. */
static void each_device_is_a_source_and_all_processors_one(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    struct vv_model *model = handmade_model();
    struct vv_frequencies frequencies = { 0 };
    handmade_track(model, "train", 100);
    uint32_t slice = handmade_op(model, 0, "conv", 100, 300);
    add(model, "CPU 0 Frequency", 0, 1000);
    add(model, "CPU 1 Frequency", 0, 3000);
    add(model, "GPU 0 Frequency", 0, 500);
    add(model, "GPU 3 Frequency", 0, 700);
    add(model, "GPU 3 Frequency", 200, 900);
    add(model, "wall clock", 0, 5);
    add(model, "loss", 0, 5);
    handmade_finish(model);
    assert_int_equal(vv_frequencies_init(&frequencies, model, &scratch, NULL), VARVE_OK);
    assert_int_equal(frequencies.counter_count, 4);
    assert_int_equal(frequencies.source_count, 3);
    static const uint32_t source_of[] = { 0, 0, 1, 2 };
    for (uint32_t c = 0; c < 4; c++)
        assert_int_equal(frequencies.source_of[c], source_of[c]);
    assert_int_equal(frequencies.sources[0].counters, 2);
    assert_true(frequencies.sources[0].is_of_host && !frequencies.sources[0].is_of_device);
    assert_int_equal(frequencies.sources[1].device, 0);
    assert_int_equal(frequencies.sources[2].device, 3);
    assert_true(frequencies.sources[2].is_of_device && !frequencies.sources[2].is_of_host);
    assert_true(vv_frequency_during(&frequencies, 2, slice) == 800);
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        each_device_is_a_source_and_all_processors_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
