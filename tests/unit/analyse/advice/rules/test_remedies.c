/* SPDX-License-Identifier: Apache-2.0 */
/* What rules advise fits the platform: nobody is sent after a setting that is not there. And what
 * stands in one rule of another holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/advice/rules/rules.h"
#include "handmade_device.h"
#include "varve/varve.h"

#define WORDS_MAX 8

/* Rules of operators, modules or ranges that PyTorch alone has, and of counts that only the
 * recorder takes. */
static const char *const of_torch[] = {
    "crowded_workers", "workers_restarted", "workers_too_slow", "one_module",
    "optimizer_loop", "conversions",
    "scalars_from_tensors", "sizes_from_tensors", "zeroing_gradients", "gradient_norms",
    "random_numbers", "filling_tensors", "ddp_search", "exposed_collectives", "small_collectives",
    "barriers",
    "oversubscription", "processor_taken", "embedding_gradients", "recurrent_cells",
    "joining_tensors", "repeated_backward", "recomputation", "anomaly_detection",
    "dropout_at_evaluation", "printing_tensors", "numbers_outside", "forward_only",
};

/* Rules of a device's own work, or of its waiting. */
static const char *const of_devices[] = {
    "synchronisation", "drained_queue", "exposed_copies", "pageable_copies", "small_copies",
};

/* Rules of kernels that only NVIDIA's libraries name so. */
static const char *const of_nvidia[] = { "full_precision_volta" };

static const char *const foreign[VV_PLATFORMS][WORDS_MAX] = {
    [VV_PLATFORM_USUAL] = { "jax", "torch_npu", "torch.npu", "NPU", "npu-" },
    [VV_PLATFORM_XLA] = { "torch", "DataLoader(", "pin_memory", "cudnn", ".item()", "PYTORCH" },
    [VV_PLATFORM_ASCEND] = { "cuda", "CUDA", "cudnn", "nvidia", "jax", "TPU" },
    [VV_PLATFORM_OPENCL] = { "cuda", "CUDA", "cudnn", "torch", "PYTORCH", "jax", ".item()", "NPU" },
    [VV_PLATFORM_IREE] = { "cuda", "CUDA", "torch", "PYTORCH", "jax", ".item()", "NPU", "clEnq" },
    [VV_PLATFORM_CUDA] = { "torch", "PYTORCH", "jax", ".item()", "NPU", "npu-" },
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
    return ((platform == VV_PLATFORM_XLA || platform == VV_PLATFORM_OPENCL ||
             platform == VV_PLATFORM_CUDA) &&
            is_among(rule, of_torch, sizeof of_torch / sizeof *of_torch)) ||
           ((platform == VV_PLATFORM_ASCEND || platform == VV_PLATFORM_OPENCL ||
             platform == VV_PLATFORM_HOST) &&
            is_among(rule, of_nvidia, sizeof of_nvidia / sizeof *of_nvidia)) ||
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
        bool has_work;
        enum vv_platform platform;
        bool has_tpu;
    } cases[] = {
        { "python", false, VV_PLATFORM_HOST, false },
        { "python", true, VV_PLATFORM_USUAL, false },
        { "a.out", true, VV_PLATFORM_CUDA, false },
        { "IREE", true, VV_PLATFORM_IREE, false },
        { "IREE", false, VV_PLATFORM_IREE, false },
        { "/host:CPU", false, VV_PLATFORM_XLA, false },
        { "/device:GPU:0", true, VV_PLATFORM_XLA, false },
        { "/device:TPU:3", true, VV_PLATFORM_XLA, true },
        { "Ascend Hardware", true, VV_PLATFORM_ASCEND, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_model *model = handmade_model();
        uint32_t row;
        assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
        assert_int_equal(vv_model_text(model, cases[i].process, &model->processes.name[row], NULL),
                         VARVE_OK);
        if (cases[i].platform == VV_PLATFORM_IREE) /* all of a bundle is IREE's                  */
            model->processes.name[0] = model->processes.name[row];
        /* A track on which nothing works, as one of counters, is no device that works. */
        uint32_t stream = handmade_stream(model, 0, 7);
        if (cases[i].has_work)
            handmade_work(model, stream, "gemm", 0, 0, 5);
        handmade_finish(model);
        assert_int_equal(vv_platform_of(model), cases[i].platform);
        assert_int_equal(vv_has_tpu(model), cases[i].has_tpu);
        vv_model_destroy(model);
    }
}

static void queues_of_opencl_are_a_platform_where_no_other_device_is(void **state)
{
    (void)state;
    const uint32_t kinds[] = { VARVE_DEVICE_KIND_OPENCL, VARVE_DEVICE_KIND_CUDA };
    const enum vv_platform platforms[] = { VV_PLATFORM_OPENCL, VV_PLATFORM_CUDA };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct vv_model *model = handmade_model();
        for (size_t k = 0; k <= i; k++) {
            uint32_t stream = handmade_stream(model, 0, (int64_t)k);
            model->tracks.device[stream] = VARVE_DEVICE(kinds[k], 0);
            handmade_work(model, stream, "gemm", 0, 0, 5);
        }
        handmade_finish(model);
        assert_int_equal(vv_platform_of(model), platforms[i]);
        vv_model_destroy(model);
    }
}

/* Python's calls tell of JAX, unless PyTorch's operators are there, too. */
static void calls_of_jax_are_a_platform_where_no_pytorch_is(void **state)
{
    (void)state;
    for (int has_torch = 0; has_torch < 2; has_torch++) {
        struct vv_model *model = handmade_model();
        uint32_t track = handmade_track(model, "main", 100);
        handmade_op(model, track, "jax/_src/compiler.py(9): compile", 0, 5);
        if (has_torch)
            handmade_op(model, track, "aten::mm", 5, 9);
        handmade_finish(model);
        assert_int_equal(vv_platform_of(model), has_torch ? VV_PLATFORM_HOST : VV_PLATFORM_XLA);
        vv_model_destroy(model);
    }
}

/* Rules are asked in the order of their table: a rule further down cannot silence one before it. */
static void what_silences_a_rule_is_asked_before_it(void **state)
{
    (void)state;
    for (size_t r = 0; r < vv_rules_count(); r++) {
        const char *unless = vv_rule_at(r)->unless;
        size_t before = 0;
        while (unless != NULL && before < r && strcmp(vv_rule_at(before)->name, unless) != 0)
            before++;
        if (unless != NULL && before == r)
            fail_msg("%s is silent if %s speaks, which is not asked before it",
                     vv_rule_at(r)->name, unless);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_silences_a_rule_is_asked_before_it),
        cmocka_unit_test(no_advice_is_of_another_platform),
        cmocka_unit_test(the_platform_is_that_of_the_processes),
        cmocka_unit_test(calls_of_jax_are_a_platform_where_no_pytorch_is),
        cmocka_unit_test(queues_of_opencl_are_a_platform_where_no_other_device_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
