/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/iree/root.h"

#include <ctype.h>
#include <string.h>

#define TRANSLATION "translation_info = "
#define LOWERING "lowering_config = "

static const struct vv_iree_text nothing = { "", 0 };

/* From `at`, which opens, to where it closes. Empty: not before `limit`. Strings and "->" open and
 * close nothing. */
static struct vv_iree_text enclosed(const char *at, const char *limit, char open, char close)
{
    int depth = 0;
    bool is_string = false;
    for (const char *c = at; c < limit; c++) {
        if (*c == '"' && c[-1] != '\\')
            is_string = !is_string;
        if (is_string || (*c == '>' && c[-1] == '-'))
            continue;
        depth += *c == open;
        if (*c == close && --depth == 0)
            return (struct vv_iree_text){ at, (size_t)(c + 1 - at) };
    }
    return nothing;
}

/* The value of an attribute: its word, and what is in angle brackets behind it. */
static struct vv_iree_text value_behind(const char *at, const char *limit, const char *word)
{
    const char *found = memmem(at, (size_t)(limit - at), word, strlen(word));
    if (found == NULL)
        return nothing;
    const char *value = found + strlen(word);
    const char *bracket = memchr(value, '<', (size_t)(limit - value));
    struct vv_iree_text text =
        bracket != NULL ? enclosed(bracket, limit, '<', '>') : nothing;
    return text.length == 0
               ? nothing
               : (struct vv_iree_text){ value, text.length + (size_t)(bracket - value) };
}

/* "ins(%4, %5 : TYPES)": the types. */
static struct vv_iree_text types_behind(const char *at, const char *limit, const char *word)
{
    const char *found = memmem(at, (size_t)(limit - at), word, strlen(word));
    if (found == NULL)
        return nothing;
    struct vv_iree_text list = enclosed(found + strlen(word) - 1, limit, '(', ')');
    const char *colon = list.length > 0 ? memmem(list.at, list.length, " : ", 3) : NULL;
    return colon == NULL
               ? nothing
               : (struct vv_iree_text){ colon + 3, (size_t)(list.at + list.length - colon - 4) };
}

struct vv_iree_text vv_iree_take_type(struct vv_iree_text *text)
{
    struct vv_iree_text type = { text->at, 0 };
    int depth = 0;
    while (type.length < text->length && (depth > 0 || type.at[type.length] != ',')) {
        depth += type.at[type.length] == '<';
        depth -= type.at[type.length] == '>';
        type.length++;
    }
    size_t taken = type.length;
    while (taken < text->length && (text->at[taken] == ',' || text->at[taken] == ' '))
        taken++;
    *text = (struct vv_iree_text){ text->at + taken, text->length - taken };
    return type;
}

/* ---- linalg.generic ---- */

static size_t length_of_name(const char *at, const char *limit)
{
    size_t length = 1; /* the '%' */
    while (at + length < limit && (isalnum((unsigned char)at[length]) || at[length] == '_'))
        length++;
    return length;
}

/* "%9 = …", or "%in: f32" among the arguments. */
static bool defines(struct vv_iree_text body, const char *name, size_t length)
{
    const char *limit = body.at + body.length, *at = body.at;
    while ((at = memmem(at, (size_t)(limit - at), name, length)) != NULL) {
        at += length;
        if (limit - at > 3 && (*at == ':' || memcmp(at, " = ", 3) == 0))
            return true;
    }
    return false;
}

/* A pattern has the operation alone, so what the body uses must be in the body. */
static bool is_complete(struct vv_iree_text body)
{
    const char *limit = body.at + body.length, *at = body.at;
    while ((at = memchr(at, '%', (size_t)(limit - at))) != NULL) {
        size_t length = length_of_name(at, limit);
        if (!defines(body, at, length))
            return false;
        at += length;
    }
    return true;
}

/* The line ends in "{": the body follows, and "-> TYPE" behind it. */
static bool read_generic(const char *line, const char *end, struct vv_iree_root *root)
{
    const char *brace = memchr(line, '{', (size_t)(end - line)), *limit = end + strlen(end);
    struct vv_iree_text rest = types_behind(line, end, " outs("), results = rest;
    root->result = vv_iree_take_type(&rest);
    if (brace == NULL || end[-1] != '{' || root->result.length == 0 || rest.length > 0)
        return false;
    root->loops = enclosed(brace, end, '{', '}');
    root->body = enclosed(end - 1, limit, '{', '}');
    const char *arrow = root->body.at + root->body.length;
    return root->loops.length > 0 && root->body.length > 0 && is_complete(root->body) &&
           strncmp(arrow, " -> ", 4) == 0 && strncmp(arrow + 4, results.at, results.length) == 0;
}

bool vv_iree_is_convolution(const struct vv_iree_root *root)
{
    return root->loops.length > 0 && memmem(root->loops.at, root->loops.length, " + ", 3) != NULL;
}

/* ---- any ---- */

static bool is_same(struct vv_iree_text left, struct vv_iree_text right)
{
    return left.length == right.length && memcmp(left.at, right.at, left.length) == 0;
}

bool vv_iree_roots_are_equal(const struct vv_iree_root *left, const struct vv_iree_root *right)
{
    return is_same(left->kind, right->kind) && is_same(left->inputs, right->inputs) &&
           left->loops.length == right->loops.length && left->body.length == right->body.length &&
           (left->body.length == 0 ||
            (is_same(left->loops, right->loops) && is_same(left->result, right->result) &&
             is_same(left->body, right->body)));
}

struct vv_iree_root vv_iree_root_read(const char *text, const char *at)
{
    static const char before[] = " = linalg.";
    const char *line = at, *end = at + strcspn(at, "\n");
    while (line > text && line[-1] != '\n')
        line--;
    const char *kind = memmem(line, (size_t)(end - line), before, strlen(before));
    struct vv_iree_root root = {
        .inputs = types_behind(line, end, " ins("),
        .lowering = value_behind(line, end, LOWERING),
        .translation = value_behind(text, text + strlen(text), TRANSLATION),
    };
    if (kind == NULL || kind > at || root.inputs.length == 0 || root.lowering.length == 0 ||
        root.lowering.at > at || root.translation.length == 0)
        return root;
    kind += strlen(" = ");
    struct vv_iree_text name = { kind, strcspn(kind, " {(") };
    bool is_generic = name.length == strlen("linalg.generic") &&
                      memcmp(kind, "linalg.generic", name.length) == 0;
    if (!is_generic || read_generic(line, end, &root))
        root.kind = name;
    return root;
}
