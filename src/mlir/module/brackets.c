/* SPDX-License-Identifier: Apache-2.0 */
/* brackets.c — pairs of brackets in MLIR text. */
#include <stdlib.h>

#include "base/array.h"
#include "mlir/module/cursor.h"
#include "mlir/module/read.h"

/* Comparisons stand between blanks or before "=". */
bool vv_mlir_opens(const char *text, uint64_t at, uint64_t end)
{
    return at + 1 < end && text[at + 1] != '=' && !vv_mlir_is_blank(text[at + 1]);
}

bool vv_mlir_closes(const char *text, uint64_t at, uint64_t end)
{
    if (at > 0 && (text[at - 1] == '-' || text[at - 1] == '='))
        return false;
    return at + 1 >= end || text[at + 1] != '=';
}

static char closer_of(char opener)
{
    return opener == '(' ? ')' : opener == '[' ? ']' : opener == '{' ? '}' : '>';
}

/* Programs nest no deeper than OWN_MAX; what does takes memory. So who reads again what has been
 * read does not fail for want of it. */
enum { OWN_MAX = 1024 };

struct stack {
    char own[OWN_MAX];
    char *closers;     /* own, or on the heap                                                    */
    char *heap;
    size_t count, capacity;
};

static enum varve_code push(struct stack *stack, char closer, struct varve_error *error)
{
    if (stack->count >= OWN_MAX) {
        bool is_first = stack->heap == NULL;
        VV_TRY(vv_array_reserve(&stack->heap, &stack->capacity, stack->count + 1, 1, error));
        if (is_first)
            memcpy(stack->heap, stack->own, sizeof stack->own);
        stack->closers = stack->heap;
    }
    stack->closers[stack->count++] = closer;
    return VARVE_OK;
}

static enum varve_code pop(const struct vv_mlir_module *module, struct stack *stack, uint64_t at,
                           struct varve_error *error)
{
    char closer = module->text[at];
    /* A '>' of an expression. */
    if (closer == '>' && stack->closers[stack->count - 1] != '>')
        return VARVE_OK;
    if (stack->closers[stack->count - 1] != closer)
        return vv_mlir_fail(module, at, error, "'%c' where '%c' should stand", closer,
                            stack->closers[stack->count - 1]);
    stack->count--;
    return VARVE_OK;
}

static enum varve_code skip(const struct vv_mlir_module *module, struct stack *stack, uint64_t at,
                            uint64_t *out_end, struct varve_error *error)
{
    const char *text = module->text;
    uint64_t end = module->bytes, begin = at;
    VV_TRY(push(stack, closer_of(text[at]), error));
    for (at++; at < end && stack->count > 0;) {
        char c = text[at];
        if (c == '"') {
            at = vv_mlir_string_end(text, at, end);
            continue;
        }
        if (c == '/' && at + 1 < end && text[at + 1] == '/') {
            at = vv_mlir_skip_blanks(text, at, end);
            continue;
        }
        if (c == '(' || c == '[' || c == '{' || (c == '<' && vv_mlir_opens(text, at, end)))
            VV_TRY(push(stack, closer_of(c), error));
        else if (c == ')' || c == ']' || c == '}' || (c == '>' && vv_mlir_closes(text, at, end)))
            VV_TRY(pop(module, stack, at, error));
        at++;
    }
    if (stack->count > 0)
        return vv_mlir_fail(module, begin, error, "'%c' is never closed", text[begin]);
    *out_end = at;
    return VARVE_OK;
}

enum varve_code vv_mlir_skip_brackets(const struct vv_mlir_module *module, uint64_t at,
                                      uint64_t *out_end, struct varve_error *error)
{
    struct stack stack; /* not cleared: that would take longer than most brackets */
    stack.closers = stack.own;
    stack.heap = NULL;
    stack.count = stack.capacity = 0;
    enum varve_code code = skip(module, &stack, at, out_end, error);
    free(stack.heap);
    return code;
}
