/* SPDX-License-Identifier: Apache-2.0 */
/* operands.c — which operations define another's operands, read from the text. */
#include <string.h>

#include "mlir/match/matching.h"
#include "mlir/module/cursor.h"

/* A definition further away than this is not looked for. */
#define OPS_BACK_MAX 65536u

/* Where the operands end. */
static uint64_t operands_end(const struct vv_mlir_op *row)
{
    uint64_t end = row->body_at != 0 ? row->body_at : row->text.end;
    if (row->location.end != 0 && row->location.begin < end)
        end = row->location.begin;
    if (row->attributes.end != 0 && row->attributes.begin < end)
        end = row->attributes.begin;
    return end;
}

/* Is the name among the results, "%a, %b:2 = …"? */
static bool defines(const struct vv_mlir_module *module, uint32_t op, struct vv_mlir_span name)
{
    const struct vv_mlir_op *row = &module->ops[op];
    uint64_t at = row->text.begin, bytes = name.end - name.begin;
    while (at < row->name_at && module->text[at] == '%') {
        uint64_t end = vv_mlir_name_end(module->text, at + 1, row->name_at);
        if (end - at == bytes && memcmp(module->text + at, module->text + name.begin, bytes) == 0)
            return true;
        while (end < row->name_at && module->text[end] != '%')
            end++;
        at = end;
    }
    return false;
}

/* Does the operation stand in a region around `op`, or in op's own? */
static bool is_seen(const struct vv_mlir_module *module, uint32_t definer, uint32_t op)
{
    uint32_t region = module->ops[definer].parent, at = module->ops[op].parent;
    while (at != region && at != VV_MLIR_NONE && (region == VV_MLIR_NONE || at > region))
        at = module->ops[at].parent;
    return at == region;
}

static uint32_t definer_of(const struct vv_mlir_module *module, uint32_t op,
                           struct vv_mlir_span name)
{
    uint32_t last = op > OPS_BACK_MAX ? op - OPS_BACK_MAX : 0;
    for (uint32_t at = op; at > last; at--)
        if (defines(module, at - 1, name) && is_seen(module, at - 1, op))
            return at - 1;
    return VV_MLIR_NONE;
}

uint32_t vv_mlir_definers(const struct vv_mlir_module *module, uint32_t op, uint32_t limit,
                          uint32_t *out_ops)
{
    uint64_t at = module->ops[op].name_at, end = operands_end(&module->ops[op]);
    uint32_t count = 0, operands = 0;
    while (at < end && count < limit && operands++ < limit) {
        const char *found = memchr(module->text + at, '%', end - at);
        if (found == NULL)
            break;
        struct vv_mlir_span name = { .begin = (uint64_t)(found - module->text) };
        at = name.end = vv_mlir_name_end(module->text, name.begin + 1, end);
        uint32_t definer = definer_of(module, op, name);
        if (definer != VV_MLIR_NONE)
            out_ops[count++] = definer;
    }
    return count;
}
