/* SPDX-License-Identifier: Apache-2.0 */
/* script.c — a library for mlir-opt's pass transform-interpreter. It takes operations by their kind
 * and by the mark, so it changes no other one. Three entry points: __transform_main exchanges
 * loops, so that the innermost goes along memory; varve_tile tiles; varve_vectorize tiles to the
 * size of registers and vectorizes.
 *
 * Tiles divide the sizes of all hot operations of the kind: then no tile is ragged, and vectors
 * have fixed sizes. */
#include <inttypes.h>
#include <string.h>

#include "mlir/hot/hot.h"
#include "mlir/values/values.h"

#define LOOPS_MAX 7
enum { FIRST, SECOND, RESULT, VALUES }; /* of ins( ), and what it makes                          */

/* A kind of operations whose loops are known. */
struct rule {
    const char *kind, *order; /* order of the loops after the exchange                           */
    int loops;
    struct { uint8_t value, dimension; } size[LOOPS_MAX]; /* whose size a loop runs over         */
    int64_t tile[LOOPS_MAX], vector[LOOPS_MAX]; /* most; 0 = this loop is not tiled               */
};

static const struct rule rules[] = {
    { "linalg.matmul", "0, 2, 1", 3, { { FIRST, 0 }, { SECOND, 1 }, { FIRST, 1 } },
      { 32, 32, 32 }, { 8, 16, 4 } },
    { "linalg.batch_matmul", "0, 1, 3, 2", 4,
      { { FIRST, 0 }, { FIRST, 1 }, { SECOND, 2 }, { FIRST, 2 } },
      { 1, 32, 32, 32 }, { 1, 8, 16, 4 } },
    { "linalg.conv_2d_nhwc_hwcf", "0, 1, 2, 4, 5, 6, 3", 7,
      { { RESULT, 0 }, { RESULT, 1 }, { RESULT, 2 }, { RESULT, 3 }, { SECOND, 0 }, { SECOND, 1 },
        { FIRST, 3 } },
      { 1, 4, 16, 16 }, { 0 } },
    { "linalg.conv_2d_nchw_fchw", "0, 1, 2, 4, 5, 6, 3", 7,
      { { RESULT, 0 }, { RESULT, 1 }, { RESULT, 2 }, { RESULT, 3 }, { FIRST, 1 }, { SECOND, 2 },
        { SECOND, 3 } },
      { 1, 16, 4, 16 }, { 0 } },
};
#define RULES (sizeof rules / sizeof *rules)

struct kind {
    size_t operations;        /* hot ones                                                       */
    int64_t common[LOOPS_MAX]; /* greatest common divisor of their sizes; 0 = not all are known  */
};

static int64_t divisor_of_both(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void look_at(const struct vv_mlir_module *module, uint32_t op, const struct rule *rule,
                    struct kind *kind)
{
    struct vv_mlir_span types[VALUES] = { { 0, 0 } };
    int64_t sizes[VALUES][LOOPS_MAX];
    int ranks[VALUES];
    if (vv_mlir_input_types(module, op, types, RESULT) < RESULT ||
        vv_mlir_result_types(module, op, &types[RESULT], 1) < 1)
        types[FIRST] = types[SECOND] = types[RESULT] = (struct vv_mlir_span){ 0, 0 };
    for (int v = 0; v < VALUES; v++)
        ranks[v] = vv_mlir_type_sizes(module->text, types[v], sizes[v], LOOPS_MAX);
    for (int loop = 0; loop < rule->loops; loop++) {
        int value = rule->size[loop].value, dimension = rule->size[loop].dimension;
        int64_t size = dimension < ranks[value] ? sizes[value][dimension] : -1;
        if (size <= 0 || (kind->operations > 0 && kind->common[loop] == 0))
            kind->common[loop] = 0;
        else
            kind->common[loop] = divisor_of_both(size, kind->common[loop]);
    }
    kind->operations++;
}

/* The largest divisor of `common` up to `most`. */
static int64_t tile_of(int64_t common, int64_t most)
{
    if (common == 0 || most == 0)
        return most;
    while (common % most != 0)
        most--;
    return most;
}

static void put_match(const struct rule *rule, FILE *out)
{
    fprintf(out,
            "    %%0 = transform.structured.match ops{[\"%s\"]} attributes{" VV_MLIR_HOT "}\n"
            "      in %%module : (!transform.any_op) -> !transform.any_op\n",
            rule->kind);
}

static void put_tile(const struct rule *rule, const struct kind *kind, const int64_t *most,
                    FILE *out)
{
    int tiled = 0;
    fputs("    %1", out);
    for (int loop = 0; loop < rule->loops; loop++)
        tiled += most[loop] > 0;
    fprintf(out, ", %%loops:%d = transform.structured.tile_using_for %%0 tile_sizes [", tiled);
    for (int loop = 0; loop < rule->loops; loop++)
        fprintf(out, "%s%" PRId64, loop > 0 ? ", " : "", tile_of(kind->common[loop], most[loop]));
    fputs("]\n      : (!transform.any_op) -> (!transform.any_op", out);
    for (int i = 0; i < tiled; i++)
        fputs(", !transform.any_op", out);
    fputs(")\n", out);
}

static void begin_sequence(const char *name, const char *kind, FILE *out)
{
    fprintf(out, "  transform.named_sequence @%s%s%s(%%module: !transform.any_op", name,
            kind != NULL ? "_" : "", kind != NULL ? strchr(kind, '.') + 1 : "");
    fputs(" {transform.readonly}) {\n", out);
}

static void end_sequence(FILE *out)
{
    fputs("    transform.yield\n  }\n", out);
}

static bool can_vectorize(const struct rule *rule, const struct kind *kind)
{
    for (int loop = 0; loop < rule->loops; loop++)
        if (rule->vector[loop] == 0 || kind->common[loop] == 0)
            return false;
    return true;
}

static void put_rule(const struct rule *rule, const struct kind *kind, FILE *out)
{
    begin_sequence("varve_interchange", rule->kind, out);
    put_match(rule, out);
    fprintf(out,
            "    %%1 = transform.structured.generalize %%0\n"
            "      : (!transform.any_op) -> !transform.any_op\n"
            "    %%2 = transform.structured.interchange %%1 iterator_interchange = [%s]\n"
            "      : (!transform.any_op) -> !transform.any_op\n",
            rule->order);
    end_sequence(out);
    begin_sequence("varve_tile", rule->kind, out);
    put_match(rule, out);
    put_tile(rule, kind, rule->tile, out);
    end_sequence(out);
    if (!can_vectorize(rule, kind))
        return;
    begin_sequence("varve_vectorize", rule->kind, out);
    put_match(rule, out);
    put_tile(rule, kind, rule->vector, out);
    fputs("    transform.structured.vectorize %1 : !transform.any_op\n", out);
    end_sequence(out);
}

/* An entry point that does the same for each kind. */
static void put_entry(const char *entry, const char *part, const struct kind *kinds, FILE *out)
{
    begin_sequence(entry, NULL, out);
    for (size_t i = 0; i < RULES; i++)
        if (kinds[i].operations > 0 &&
            (strcmp(part, "varve_vectorize") != 0 || can_vectorize(&rules[i], &kinds[i])))
            fprintf(out,
                    "    transform.include @%s_%s failures(propagate) (%%module)\n"
                    "      : (!transform.any_op) -> ()\n",
                    part, strchr(rules[i].kind, '.') + 1);
    end_sequence(out);
}

size_t vv_mlir_hot_script(const struct vv_mlir_module *module, const struct vv_mlir_hot *hot,
                          FILE *out)
{
    size_t rule_count = 0;
    struct kind kinds[RULES] = { { 0, { 0 } } };
    for (size_t i = 0; i < hot->chosen; i++)
        for (size_t r = 0; r < RULES; r++)
            if (strcmp(vv_mlir_string(module, module->ops[hot->ops[i].op].name),
                       rules[r].kind) == 0)
                look_at(module, hot->ops[i].op, &rules[r], &kinds[r]);
    for (size_t r = 0; r < RULES; r++)
        rule_count += kinds[r].operations > 0;
    if (rule_count == 0)
        return 0;
    fputs("// Written by varve hot. It changes the operations with the mark " VV_MLIR_HOT
          ", and no other.\n"
          "//   mlir-opt-19 MARKED.mlir --transform-preload-library=transform-library-paths=THIS\n"
          "//     --transform-interpreter[=entry-point=varve_tile]\n"
          "module attributes {transform.with_named_sequence} {\n",
          out);
    for (size_t r = 0; r < RULES; r++)
        if (kinds[r].operations > 0)
            put_rule(&rules[r], &kinds[r], out);
    put_entry("__transform_main", "varve_interchange", kinds, out);
    put_entry("varve_tile", "varve_tile", kinds, out);
    put_entry("varve_vectorize", "varve_vectorize", kinds, out);
    fputs("}\n", out);
    return rule_count;
}
