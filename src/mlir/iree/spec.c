/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/iree/spec.h"

#include "mlir/iree/root.h"

static void put(struct vv_iree_text text, FILE *out)
{
    fwrite(text.at, 1, text.length, out);
}

/* The types of its inputs are enough. */
static void put_types(const struct vv_iree_root *root, FILE *out)
{
    struct vv_iree_text rest = root->inputs;
    size_t input = 0;
    for (struct vv_iree_text type = vv_iree_take_type(&rest); type.length > 0;
         type = vv_iree_take_type(&rest), input++) {
        fprintf(out,
                "    %%%zu = transform.get_operand %%op[%zu] : (!transform.any_op)\n"
                "      -> !transform.any_value\n"
                "    transform.iree.match.cast_compatible_type %%%zu = ",
                input, input, input);
        put(type, out);
        fputs(" : !transform.any_value\n", out);
    }
}

/* The whole operation, without its lowering_config. */
static void put_pattern(const struct vv_iree_root *root, FILE *out)
{
    struct vv_iree_text rest = root->inputs;
    size_t inputs = 0;
    fputs("    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {\n    ^bb0(",
          out);
    for (struct vv_iree_text type = vv_iree_take_type(&rest); type.length > 0;
         type = vv_iree_take_type(&rest), inputs++) {
        fprintf(out, "%%varve_in_%zu: ", inputs);
        put(type, out);
        fputs(", ", out);
    }
    fputs("%varve_out: ", out);
    put(root->result, out);
    fputs("):\n      %varve = linalg.generic ", out);
    put(root->loops, out);
    fputs("\n        ins(", out);
    for (size_t input = 0; input < inputs; input++)
        fprintf(out, "%s%%varve_in_%zu", input > 0 ? ", " : "", input);
    fputs(" : ", out);
    put(root->inputs, out);
    fputs(") outs(%varve_out : ", out);
    put(root->result, out);
    fputs(") ", out);
    put(root->body, out);
    fputs(" -> ", out);
    put(root->result, out);
    fputs("\n    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)\n", out);
}

void vv_iree_spec_add(struct vv_iree_spec *spec, const struct vv_iree_config *config,
                      struct vv_iree_choice choice)
{
    const struct vv_iree_root *root = &config->root;
    FILE *out = spec->out;
    if (spec->count == 0)
        fputs("// A tuning spec of IREE, written by varve:\n"
              "//   iree-compile … --iree-codegen-tuning-spec-path=THIS\n"
              "module attributes {transform.with_named_sequence} {\n",
              out);
    fprintf(out,
            "  transform.named_sequence @varve_%zu(%%op: !transform.any_op {transform.readonly})\n"
            "      -> (!transform.any_op, !transform.any_param) {\n"
            "    transform.match.operation_name %%op [\"",
            spec->count++);
    put(root->kind, out);
    fputs("\"] : !transform.any_op\n", out);
    (root->body.length > 0 ? put_pattern : put_types)(root, out);
    fputs("    %config = transform.param.constant #iree_codegen.compilation_info<\n"
          "      lowering_config = ",
          out);
    vv_iree_config_write_lowering(config, choice, out);
    fputs(",\n      translation_info = ", out);
    put(root->translation, out);
    fputs("> -> !transform.any_param\n"
          "    transform.yield %op, %config : !transform.any_op, !transform.any_param\n  }\n",
          out);
    spec->has_convolution = spec->has_convolution || vv_iree_is_convolution(root);
}

void vv_iree_spec_end(const struct vv_iree_spec *spec)
{
    FILE *out = spec->out;
    if (spec->count == 0)
        return;
    fputs("  transform.named_sequence @varve_set(%op: !transform.any_op {transform.readonly},\n"
          "      %config: !transform.any_param {transform.readonly}) {\n"
          "    transform.annotate %op \"compilation_info\" = %config\n"
          "      : !transform.any_op, !transform.any_param\n"
          "    transform.yield\n  }\n"
          "  transform.named_sequence @__kernel_config(%module: !transform.any_op "
          "{transform.consumed})\n"
          "      -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n",
          out);
    if (spec->has_convolution)
        fputs("    // Else the compiler adds the loop over images later, and drops our choice.\n"
              "    %loops = transform.apply_registered_pass\n"
              "      \"iree-codegen-insert-batch-dim-for-batchless-conv\" to %module\n"
              "      : (!transform.any_op) -> !transform.any_op\n",
              out);
    fprintf(out, "    %%0 = transform.foreach_match in %s\n",
            spec->has_convolution ? "%loops" : "%module");
    for (size_t i = 0; i < spec->count; i++)
        fprintf(out, "      @varve_%zu -> @varve_set%s\n", i, i + 1 < spec->count ? "," : "");
    fputs("      : (!transform.any_op) -> !transform.any_op\n"
          "    transform.yield %0 : !transform.any_op\n  }\n}\n",
          out);
}
