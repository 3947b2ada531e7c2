/* SPDX-License-Identifier: Apache-2.0 */
/* How names of producers are split, and which names are paths and tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "mlir/profile/words.h"

static void names_are_split(void **state)
{
    (void)state;
    static const struct { const char *text; bool is_node; const char *said; } cases[] = {
        { "block0/attn/MatMul:MatMul", false, "block0/attn/MatMul|MatMul|TensorFlow" },
        { "conv1/BiasAdd:_FusedConv2D", false, "conv1/BiasAdd|_FusedConv2D|TensorFlow" },
        { "EagerLocalExecute: AddV2", false, "|AddV2|TensorFlow" },
        { "EagerExecute: AddV2", false, "nothing" },
        { "__inference_f_12:__inference_f_12", true, "nothing" },
        { "EagerLocalExecute: __inference_f_12", false, "nothing" },
        { "layer0/k/matmul_kernel_time", true, "layer0/k/matmul||ONNX Runtime" },
        { "layer0/ln1/mul/LayerNormFusion/_kernel_time", true,
          "layer0/ln1/mul/LayerNormFusion||ONNX Runtime" },
        { "layer0/k/matmul_fence_before", true, "nothing" },
        { "aten::mm", true, "|aten::mm|PyTorch" },
        { "torchvision::nms", true, "|torchvision::nms|PyTorch" },
        { "aten::mm", false, "nothing" },
        { "autograd::engine::evaluate_function: MmBackward0", true,
          "autograd::engine::evaluate_function: MmBackward0||" },
        { "end: fusion.3", true, "nothing" },
        { "Iterator::Batch", true, "Iterator::Batch||" },
        { "ThreadpoolListener::Region", false, "nothing" },
        { "forward", true, "forward||" },
        { "forward", false, "nothing" },
        { "a note: with: Colons", false, "nothing" },
        { "train.c:41", false, "nothing" },
        { "", true, "nothing" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_mlir_words words;
        char said[200] = "nothing";
        vv_mlir_split_name(cases[i].text, cases[i].is_node, &words);
        if (!words.is_nothing)
            snprintf(said, sizeof said, "%.*s|%.*s|%s", (int)words.name_bytes,
                     words.name_bytes > 0 ? words.name : "", (int)words.type_bytes,
                     words.type_bytes > 0 ? words.type : "",
                     vv_mlir_producer_words[words.producer]);
        assert_string_equal(said, cases[i].said);
    }
}

static void tags_and_paths(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t tag; } tags[] = {
        { "varve#7", 7 }, { "varve#7:", 7 }, { "varve#0", 0 }, { "varve#", -1 },
        { "varve#7x", -1 }, { "varve#-1", -1 }, { "add", -1 }, { "", -1 },
    };
    static const struct { const char *text, *path; } paths[] = {
        { "blocks.3.qkv", "blocks.3.qkv" }, { "blocks/3/qkv", "blocks/3/qkv" },
        { "encoder", "encoder" }, { "epoch_1", "" }, { "Optimizer.step#SGD.step", "" },
        { "a batch", "" }, { "", "" }, { "blocks.", "" }, { ".qkv", "" },
        { "ProfilerStep#3", "" }, { "varve.node blocks.0/mm_4", "blocks.0/mm_4" },
        { "nn.Module: Linear_3 (blocks.0.fc1)", "blocks.0.fc1" },
        { "nn.Module: Linear_3 (fc1)", "fc1" }, { "nn.Module: Linear_3", "" },
        { "nn.Module: Linear_3 ()", "" }, { "nn.Module: Linear_3 (fc1", "" },
        { "nn.Module: (", "" }, { "nn.Module: Linear(3)", "" },
    };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_int_equal(vv_mlir_tag_of(tags[i].text), tags[i].tag);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        size_t bytes = 0;
        const char *path = vv_mlir_path_in(paths[i].text, &bytes);
        assert_int_equal(path != NULL, paths[i].path[0] != '\0');
        assert_int_equal(bytes, strlen(paths[i].path));
        assert_true(path == NULL || memcmp(path, paths[i].path, bytes) == 0);
    }
}

static void functions(void **state)
{
    (void)state;
    static const struct { const char *text, *function; } cases[] = {
        { "EagerLocalExecute: __inference_f_12", "__inference_f_12" },
        { "EagerLocalExecute: MatMul", NULL }, { "n/call:__inference_f_12", "__inference_f_12" },
        { "n/call:MatMul", NULL }, { "a::__b", NULL }, { "x:__", NULL }, { "", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *function = vv_mlir_function_in(cases[i].text);
        assert_string_equal(function != NULL ? function : "-",
                            cases[i].function != NULL ? cases[i].function : "-");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_split),
        cmocka_unit_test(tags_and_paths),
        cmocka_unit_test(functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
