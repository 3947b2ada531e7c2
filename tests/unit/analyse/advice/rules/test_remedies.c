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

#define WORDS_MAX 8

/* Rules of operators, modules or ranges that PyTorch alone has, and of counts that only the
 * recorder takes. */
static const char *const of_torch[] = {
    "workers_too_slow", "one_module", "optimizer_loop", "conversions", "scalars_from_tensors",
    "sizes_from_tensors", "zeroing_gradients", "gradient_norms", "random_numbers",
    "filling_tensors", "ddp_search", "exposed_collectives", "small_collectives", "barriers",
    "oversubscription", "processor_taken",
};

static const char *const foreign[VV_PLATFORMS][WORDS_MAX] = {
    [VV_PLATFORM_USUAL] = { "jax", "torch_npu", "torch.npu", "NPU", "npu-" },
    [VV_PLATFORM_XLA] = { "torch", "DataLoader(", "pin_memory", "cudnn", ".item()", "PYTORCH" },
    [VV_PLATFORM_ASCEND] = { "cuda", "CUDA", "cudnn", "nvidia", "jax", "TPU" },
};

static bool is_of_torch(const struct vv_rule *rule)
{
    for (size_t i = 0; i < sizeof of_torch / sizeof *of_torch; i++)
        if (strcmp(of_torch[i], rule->name) == 0)
            return true;
    return false;
}

static void no_advice_is_of_another_platform(void **state)
{
    (void)state;
    for (size_t r = 0; r < vv_rules_count(); r++)
        for (unsigned platform = 0; platform < VV_PLATFORMS; platform++) {
            const struct vv_rule *rule = vv_rule_at(r);
            const char *remedy = vv_rule_remedy(rule, (enum vv_platform)platform);
            if (remedy == NULL || (platform == VV_PLATFORM_XLA && is_of_torch(rule)))
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
        enum vv_platform platform;
        bool has_tpu;
    } cases[] = {
        { "python", VV_PLATFORM_USUAL, false },
        { "/host:CPU", VV_PLATFORM_XLA, false },
        { "/device:GPU:0", VV_PLATFORM_XLA, false },
        { "/device:TPU:3", VV_PLATFORM_XLA, true },
        { "Ascend Hardware", VV_PLATFORM_ASCEND, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_model *model = handmade_model();
        uint32_t row;
        assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
        assert_int_equal(vv_model_text(model, cases[i].process, &model->processes.name[row], NULL),
                         VARVE_OK);
        assert_int_equal(vv_platform_of(model), cases[i].platform);
        assert_int_equal(vv_has_tpu(model), cases[i].has_tpu);
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_advice_is_of_another_platform),
        cmocka_unit_test(the_platform_is_that_of_the_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
