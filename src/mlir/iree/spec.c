/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/iree/spec.h"

void vv_iree_spec_begin(FILE *out)
{
    fputs("// A tuning spec of IREE, written by varve:\n"
          "//   iree-compile … --iree-codegen-tuning-spec-path=THIS\n"
          "module attributes {transform.with_named_sequence} {\n",
          out);
}

static void put(struct vv_iree_text text, FILE *out)
{
    fwrite(text.at, 1, text.length, out);
}

void vv_iree_spec_entry(const struct vv_iree_config *config, struct vv_iree_choice choice,
                        size_t number, FILE *out)
{
    struct vv_iree_text rest = config->inputs;
    size_t input = 0;
    fprintf(out,
            "  transform.named_sequence @varve_%zu(%%op: !transform.any_op {transform.readonly})\n"
            "      -> (!transform.any_op, !transform.any_param) {\n"
            "    transform.match.operation_name %%op [\"",
            number);
    put(config->kind, out);
    fputs("\"] : !transform.any_op\n", out);
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
    fputs("    %config = transform.param.constant #iree_codegen.compilation_info<\n"
          "      lowering_config = ",
          out);
    vv_iree_config_write_lowering(config, choice, out);
    fputs(",\n      translation_info = ", out);
    put(config->translation, out);
    fputs("> -> !transform.any_param\n"
          "    transform.yield %op, %config : !transform.any_op, !transform.any_param\n  }\n",
          out);
}

void vv_iree_spec_end(size_t count, FILE *out)
{
    fputs("  transform.named_sequence @varve_set(%op: !transform.any_op {transform.readonly},\n"
          "      %config: !transform.any_param {transform.readonly}) {\n"
          "    transform.annotate %op \"compilation_info\" = %config\n"
          "      : !transform.any_op, !transform.any_param\n"
          "    transform.yield\n  }\n"
          "  transform.named_sequence @__kernel_config(%module: !transform.any_op "
          "{transform.consumed})\n"
          "      -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n"
          "    %0 = transform.foreach_match in %module\n",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "      @varve_%zu -> @varve_set%s\n", i, i + 1 < count ? "," : "");
    fputs("      : (!transform.any_op) -> !transform.any_op\n"
          "    transform.yield %0 : !transform.any_op\n  }\n}\n",
          out);
}
