/* SPDX-License-Identifier: Apache-2.0 */
/* test_config.c — mlir/iree: what can be chosen in a configuration that IREE 3.13 dumped, and how
 * the choice is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/iree/root.h"
#include "mlir/iree/spec.h"

#define CONFIG(list) "lowering_config = #iree_cpu.lowering_config<" list ">"

static const char convolution[] =
    "%9 = linalg.fill {" CONFIG("vector_common_parallel = [1, 4, 1, 4]") "} ins(%c : f32)\n"
    "%11 = linalg.generic {iterator_types = [\"parallel\"]} attrs = {"
    CONFIG("distribution = [0, 16, 7, 14, 0, 0, 0], vector_common_parallel = [1, 4, 1, 4, 0, 0, 0]"
           ", vector_reduction = [0, 0, 0, 0, 8, 1, 1]") "} {\n"
    "} -> tensor<1x128x14x14xf32>\n"
    "%17 = linalg.generic attrs = {" CONFIG("vector_common_parallel = [1, 4, 1, 4]") "} {\n";

static struct vv_iree_config read_config(const char *text)
{
    struct vv_iree_config config;
    const char *why;
    assert_true(vv_iree_config_read(text, strlen(text), &config, &why));
    assert_null(why);
    return config;
}

static void a_convolution(void **state)
{
    struct vv_iree_choice choices[VV_IREE_CHOICES_MAX];
    struct vv_iree_config config = read_config(convolution);
    char text[64];
    (void)state;
    assert_int_equal(config.loops, 7);
    assert_int_equal(config.outer, 1);
    assert_int_equal(config.inner, 3);
    assert_int_equal(config.extent[1], 128);
    assert_int_equal(config.extent[3], 14);
    size_t count = vv_iree_choices(&config, choices);
    assert_true(count >= 20 && count <= VV_IREE_CHOICES_MAX);
    bool has_winner = false; /* with registers of 256 bits: 8 channels, 7 pixels                 */
    for (size_t i = 0; i < count; i++) {
        assert_false(choices[i].outer == 4 && choices[i].inner == 4);
        has_winner = has_winner || (i < 6 && choices[i].outer == 8 && choices[i].inner == 7);
    }
    assert_true(has_winner);
    assert_int_equal(128 % choices[0].outer, 0);
    assert_int_equal(14 % choices[0].inner, 0);
    vv_iree_choice_text(&config, (struct vv_iree_choice){ 8, 7 }, text, sizeof text);
    assert_string_equal(text, "[1, 8, 1, 7]");
}

static void a_choice_is_written_wherever_the_tile_stands(void **state)
{
    struct vv_iree_config config = read_config(convolution);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    (void)state;
    vv_iree_config_write(&config, (struct vv_iree_choice){ 32, 7 }, out);
    fclose(out);
    assert_string_equal(
        text,
        "%9 = linalg.fill {" CONFIG("vector_common_parallel = [1, 32, 1, 7]") "} ins(%c : f32)\n"
        "%11 = linalg.generic {iterator_types = [\"parallel\"]} attrs = {"
        CONFIG("distribution = [0, 32, 7, 14, 0, 0, 0], vector_common_parallel = "
               "[1, 32, 1, 7, 0, 0, 0], vector_reduction = [0, 0, 0, 0, 8, 1, 1]") "} {\n"
        "} -> tensor<1x128x14x14xf32>\n"
        "%17 = linalg.generic attrs = {" CONFIG("vector_common_parallel = [1, 32, 1, 7]") "} {\n");
    free(text);
}

/* On processors with 256-bit registers; what the cache gets must hold the tile, too. */
static void a_matrix_product(void **state)
{
    static const char product[] =
        "%1 = linalg.matmul {" CONFIG("cache_parallel = [32, 6, 0], distribution = [32, 6, 0], "
        "vector_common_parallel = [8, 2, 0], vector_reduction = [0, 0, 8]") "} -> "
        "tensor<256x48xf32>\n%2 = {" CONFIG("cache_parallel = [32, 6], vector_common_parallel = "
        "[8, 2]") "}";
    struct vv_iree_config config = read_config(product);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    (void)state;
    vv_iree_config_write(&config, (struct vv_iree_choice){ 4, 16 }, out);
    fclose(out);
    assert_string_equal(
        text,
        "%1 = linalg.matmul {" CONFIG("cache_parallel = [32, 16, 0], distribution = [32, 16, 0], "
        "vector_common_parallel = [4, 16, 0], vector_reduction = [0, 0, 8]") "} -> "
        "tensor<256x48xf32>\n%2 = {" CONFIG("cache_parallel = [32, 16], vector_common_parallel = "
        "[4, 16]") "}");
    free(text);
}

static void what_cannot_be_tuned(void **state)
{
    static const char *const texts[] = {
        "", "func.func @f()", "lowering_config<distribution = [8, 0]",
        "lowering_config<distribution = [8, 0], vector_common_parallel = [8, 0]> -> tensor<64xf32>",
        "lowering_config<distribution = [8, 8, 0], vector_common_parallel = [8, 8]> -> "
        "tensor<64x64xf32>",
        "lowering_config<distribution = [8, 8], vector_common_parallel = [8, x]> -> "
        "tensor<64x64xf32>",
        "lowering_config<distribution = [8, 8], vector_common_parallel = [8, 8",
        "lowering_config<distribution = [8, 8], vector_common_parallel = [8, 8]> no result",
    };
    struct vv_iree_config config;
    const char *why;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(vv_iree_config_read(texts[i], strlen(texts[i]), &config, &why));
        assert_string_equal(why, "its configuration has no tile to choose");
    }
    static const char weights[] = /* and no operation that a spec can name */
        "dense_resource<w> lowering_config<distribution = [8, 8], vector_common_parallel = [8, 8]>"
        " -> tensor<64x64xf32>";
    assert_false(vv_iree_config_read(weights, strlen(weights), &config, &why));
    assert_non_null(strstr(why, "constants"));
}

/* A spec with an entry for each choice has the parts, in this order. */
static void assert_spec_has(const struct vv_iree_config *config,
                            const struct vv_iree_choice *choices, size_t count,
                            const char *const *parts, size_t part_count)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct vv_iree_spec spec = { .out = out };
    assert_true(vv_iree_has_spec(config));
    vv_iree_spec_end(&spec);
    assert_int_equal(ftell(out), 0);
    for (size_t i = 0; i < count; i++)
        vv_iree_spec_add(&spec, config, choices[i]);
    vv_iree_spec_end(&spec);
    fclose(out);
    const char *at = text;
    for (size_t i = 0; i < part_count; i++) {
        at = strstr(at, parts[i]);
        assert_non_null(at);
    }
    free(text);
}

/* Constants are left out of the dump, so only a spec can say how to lower this one. */
static void a_spec_names_the_root(void **state)
{
    static const char product[] =
        "func.func @f() attributes {translation_info = #a.info<pipeline = #b.p<X>>} {\n"
        "%2 = arith.constant dense_resource<w> : tensor<48xf32>\n"
        "%1 = linalg.batch_matmul {" CONFIG("distribution = [0, 32, 6, 0], "
        "vector_common_parallel = [1, 8, 2, 0]") "} ins(%4, %5 : tensor<1x256x64xf32, #e<1, 2>>, "
        "tensor<1x64x48xf32>) outs(%0 : tensor<1x256x48xf32>) -> tensor<1x256x48xf32>\n";
    struct vv_iree_config config = read_config(product);
    static const struct vv_iree_choice choices[] = { { 4, 16 }, { 8, 12 } };
    (void)state;
    assert_true(config.has_constants);
    static const char *const parts[] = {
        "operation_name %op [\"linalg.batch_matmul\"] :",
        "cast_compatible_type %0 = tensor<1x256x64xf32, #e<1, 2>> :",
        "cast_compatible_type %1 = tensor<1x64x48xf32> :",
        "lowering_config = #iree_cpu.lowering_config<distribution = [0, 32, 16, 0], "
        "vector_common_parallel = [1, 4, 16, 0]>,\n"
        "      translation_info = #a.info<pipeline = #b.p<X>>> ->",
        "vector_common_parallel = [1, 8, 12, 0]>,", "iree_codegen.tuning_spec_entrypoint",
        "    %0 = transform.foreach_match in %module\n"
        "      @varve_0 -> @varve_set,\n      @varve_1 -> @varve_set\n",
    };
    assert_spec_has(&config, choices, 2, parts, sizeof parts / sizeof *parts);
}

#define MAPS "indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, affine_map<(d0, d1, d2)" \
    " -> (d0, d1)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]"
#define BODY "{\n^bb0(%in: f32, %out: f32):\n%3 = arith.addf %in, %out {s = \"}\"} : f32\n" \
    "linalg.yield %3 : f32\n}"
#define SUMS(type, body)                                                                       \
    "func.func @f() attributes {translation_info = #a.info<p>} {\n%1 = linalg.generic {" MAPS "} " \
    "ins(%8 : tensor<4x8xf32>) outs(%9 : " type ") attrs =  {" CONFIG("distribution = [4, 6, 0], " \
    "vector_common_parallel = [2, 2, 0]") "} " body " -> tensor<4x6xf32>\n"

/* Names mean nothing to a generic operation: the spec has its loops and its body. It runs before
 * the compiler adds a loop to a convolution, so it has that done first. */
static void a_spec_has_the_whole_of_a_generic_operation(void **state)
{
    static const struct vv_iree_choice choice = { 4, 6 };
    struct vv_iree_config config = read_config(SUMS("tensor<4x6xf32>", BODY));
    static const char *const parts[] = {
        "operation_name %op [\"linalg.generic\"] :", "match.cast_compatible_dag_from_root %op {\n"
        "    ^bb0(%varve_in_0: tensor<4x8xf32>, %varve_out: tensor<4x6xf32>):\n"
        "      %varve = linalg.generic {" MAPS "}\n        ins(%varve_in_0 : tensor<4x8xf32>) "
        "outs(%varve_out : tensor<4x6xf32>) " BODY " -> tensor<4x6xf32>\n",
        "vector_common_parallel = [4, 6, 0]>,", "iree_codegen.tuning_spec_entrypoint",
        "\"iree-codegen-insert-batch-dim-for-batchless-conv\" to %module\n",
        "foreach_match in %loops\n", "      @varve_0 -> @varve_set\n",
    };
    (void)state;
    assert_true(vv_iree_is_convolution(&config.root));
    assert_spec_has(&config, &choice, 1, parts, sizeof parts / sizeof *parts);
}

/* A value from outside of the body, two results, another result than its place, no end. */
static void what_no_spec_can_name(void **state)
{
    static const char *const texts[] = {
        SUMS("tensor<4x6xf32>", "{\n^bb0(%in: f32, %out: f32):\nlinalg.yield %c : f32\n}"),
        SUMS("tensor<4x6xf32>, tensor<4x6xf32>", BODY), SUMS("tensor<4x6xi32>", BODY),
        SUMS("tensor<4x6xf32>", "{\nlinalg.yield\n"), SUMS("tensor<4x6xf32>", "{{"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vv_iree_config config = read_config(texts[i]);
        assert_false(vv_iree_has_spec(&config));
    }
}

/* Whatever is cut off, nothing is read behind the end, and a spec has all that it says. */
static void a_cut_configuration(void **state)
{
    static const char product[] =
        "{translation_info = #a.info<p>}\n%1 = linalg.matmul {" CONFIG("distribution = [32, 6, 0], "
        "vector_common_parallel = [8, 2, 0]") "} ins(%4, %5 : tensor<256x64xf32>, "
        "tensor<64x48xf32>) outs(%0 : tensor<256x48xf32>) -> tensor<256x48xf32>\n";
    (void)state;
    for (size_t length = 0; length < sizeof product; length++) {
        char *text = strndup(product, length);
        struct vv_iree_config config;
        const char *why;
        if (vv_iree_config_read(text, length, &config, &why) && vv_iree_has_spec(&config)) {
            struct vv_iree_text rest = config.root.inputs;
            assert_int_equal(vv_iree_take_type(&rest).length, strlen("tensor<256x64xf32>"));
            assert_int_equal(vv_iree_take_type(&rest).length, strlen("tensor<64x48xf32>"));
            assert_int_equal(vv_iree_take_type(&rest).length, 0);
            assert_int_equal(config.root.translation.length, strlen("#a.info<p>"));
        }
        free(text);
    }
    for (size_t length = 0; length < sizeof SUMS("tensor<4x6xf32>", BODY) - 2; length++) {
        char *text = strndup(SUMS("tensor<4x6xf32>", BODY), length);
        struct vv_iree_config config;
        const char *why;
        if (vv_iree_config_read(text, length, &config, &why))
            assert_false(vv_iree_has_spec(&config));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_names_the_root),
        cmocka_unit_test(a_spec_has_the_whole_of_a_generic_operation),
        cmocka_unit_test(what_no_spec_can_name),
        cmocka_unit_test(a_cut_configuration),
        cmocka_unit_test(a_convolution),
        cmocka_unit_test(a_choice_is_written_wherever_the_tile_stands),
        cmocka_unit_test(a_matrix_product),
        cmocka_unit_test(what_cannot_be_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
