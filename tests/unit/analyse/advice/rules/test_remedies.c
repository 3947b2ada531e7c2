/* SPDX-License-Identifier: Apache-2.0 */
/* What rules advise fits the platform: nobody is sent after a setting that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/advice/rules/rules.h"
#include "handmade.h"
#include "varve/varve.h"

#define WORDS_MAX 8

/* Rules of operators, modules or ranges that PyTorch alone has, and of counts that only the
 * recorder takes. */
static const char *const of_torch[] = {
    "workers_too_slow", "one_module", "optimizer_loop", "conversions", "scalars_from_tensors",
    "sizes_from_tensors", "zeroing_gradients", "gradient_norms", "random_numbers",
    "filling_tensors", "ddp_search", "exposed_collectives", "small_collectives", "barriers",
    "oversubscription", "processor_taken",
};

/* Rules of a device's own work, or of its waiting. */
static const char *const of_devices[] = {
    "synchronisation", "drained_queue", "exposed_copies", "pageable_copies", "small_copies",
};

static const char *const foreign[VV_PLATFORMS][WORDS_MAX] = {
    [VV_PLATFORM_USUAL] = { "jax", "torch_npu", "torch.npu", "NPU", "npu-" },
    [VV_PLATFORM_XLA] = { "torch", "DataLoader(", "pin_memory", "cudnn", ".item()", "PYTORCH" },
    [VV_PLATFORM_ASCEND] = { "cuda", "CUDA", "cudnn", "nvidia", "jax", "TPU" },
    [VV_PLATFORM_OPENCL] = { "cuda", "CUDA", "cudnn", "torch", "PYTORCH", "jax", ".item()", "NPU" },
    [VV_PLATFORM_HOST] = { "pin_memory", "non_blocking", "jax", "NPU", "npu-" },
};

static bool is_among(const struct vv_rule *rule, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], rule->name) == 0)
            return true;
    return false;
}

static bool is_never_asked(const struct vv_rule *rule, unsigned platform)
{
    return ((platform == VV_PLATFORM_XLA || platform == VV_PLATFORM_OPENCL) &&
            is_among(rule, of_torch, sizeof of_torch / sizeof *of_torch)) ||
           (platform == VV_PLATFORM_HOST &&
            is_among(rule, of_devices, sizeof of_devices / sizeof *of_devices));
}

static void no_advice_is_of_another_platform(void **state)
{
    (void)state;
    for (size_t r = 0; r < vv_rules_count(); r++)
        for (unsigned platform = 0; platform < VV_PLATFORMS; platform++) {
            const struct vv_rule *rule = vv_rule_at(r);
            const char *remedy = vv_rule_remedy(rule, (enum vv_platform)platform);
            if (remedy == NULL || is_never_asked(rule, platform))
                continue;
            for (size_t w = 0; w < WORDS_MAX && foreign[platform][w] != NULL; w++)
                if (strstr(remedy, foreign[platform][w]) != NULL)
                    fail_msg("%s says \"%s\" on platform %u: %s", rule->name, foreign[platform][w],
                             platform, remedy);
        }
}

static void the_platform_is_that_of_the_processes(void **state)
{
    (void)state;
    static const struct {
        const char *process;
        enum vv_track_kind track;
        enum vv_platform platform;
        bool has_tpu;
    } cases[] = {
        { "python", VV_TRACK_THREAD, VV_PLATFORM_HOST, false },
        { "python", VV_TRACK_DEVICE, VV_PLATFORM_USUAL, false },
        { "/host:CPU", VV_TRACK_THREAD, VV_PLATFORM_XLA, false },
        { "/device:GPU:0", VV_TRACK_DEVICE, VV_PLATFORM_XLA, false },
        { "/device:TPU:3", VV_TRACK_DEVICE, VV_PLATFORM_XLA, true },
        { "Ascend Hardware", VV_TRACK_DEVICE, VV_PLATFORM_ASCEND, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_model *model = handmade_model();
        uint32_t row, track;
        assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
        assert_int_equal(vv_model_text(model, cases[i].process, &model->processes.name[row], NULL),
                         VARVE_OK);
        assert_int_equal(vv_model_add_track(model, &track, NULL), VARVE_OK);
        model->tracks.kind[track] = cases[i].track;
        assert_int_equal(vv_platform_of(model), cases[i].platform);
        assert_int_equal(vv_has_tpu(model), cases[i].has_tpu);
        vv_model_destroy(model);
    }
}

static void queues_of_opencl_are_a_platform_where_no_other_device_is(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    const uint32_t kinds[] = { VARVE_DEVICE_KIND_OPENCL, VARVE_DEVICE_KIND_CUDA };
    const enum vv_platform platforms[] = { VV_PLATFORM_OPENCL, VV_PLATFORM_USUAL };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t row;
        assert_int_equal(vv_model_add_track(model, &row, NULL), VARVE_OK);
        model->tracks.kind[row] = VV_TRACK_DEVICE;
        model->tracks.device[row] = VARVE_DEVICE(kinds[i], 0);
        assert_int_equal(vv_platform_of(model), platforms[i]);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_advice_is_of_another_platform),
        cmocka_unit_test(the_platform_is_that_of_the_processes),
        cmocka_unit_test(queues_of_opencl_are_a_platform_where_no_other_device_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
