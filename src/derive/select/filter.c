/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/arg_walk.h"
#include "model/find.h"
#include "varve/varve.h"

struct applying {
    const struct vv_filter *filter;
    const struct vv_model *model;
    struct vv_scratch *scratch;
    struct vv_traits traits;
    uint32_t slice;                        /* the one that is asked                               */
    uint8_t *answers[VV_FILTER_NODES_MAX]; /* for texts, by value of the trait: 0 not yet compared,
                                              1 no match, 2 match */
    uint32_t keys[VV_FILTER_NODES_MAX];    /* for arguments: the key's string; UINT32_MAX: none */
    uint32_t *calls;                       /* string -> number of slices with that name; only if
                                              asked for */
};

bool vv_filter_like(const char *text, const char *pattern, size_t pattern_bytes)
{
    const char *end = pattern + pattern_bytes, *star = NULL, *from = NULL;
    while (*text != '\0') {
        if (pattern < end && *pattern == '*') {
            star = pattern++; /* at first, '*' matches no byte */
            from = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1; /* '*' matches one byte more */
            text = ++from;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool vv_filter_like_any(const char *text, const char *patterns)
{
    for (const char *at = patterns;; at++) {
        size_t bytes = strcspn(at, "|");
        if (vv_filter_like(text, at, bytes))
            return true;
        at += bytes;
        if (*at == '\0')
            return false;
    }
}

bool vv_filter_is_like(const struct vv_filter_node *node, const char *text)
{
    if (node->comparison == VV_LIKE)
        return vv_filter_like(text, node->text, node->text_bytes);
    bool is_equal =
        strlen(text) == node->text_bytes && memcmp(text, node->text, node->text_bytes) == 0;
    return is_equal == (node->comparison == VV_EQUAL);
}

bool vv_filter_compare(enum vv_comparison comparison, int64_t left, int64_t right)
{
    switch (comparison) {
    case VV_EQUAL:
        return left == right;
    case VV_UNEQUAL:
        return left != right;
    case VV_LESS:
        return left < right;
    case VV_AT_MOST:
        return left <= right;
    case VV_GREATER:
        return left > right;
    default:
        return left >= right;
    }
}

static bool compare_real(enum vv_comparison comparison, double left, double right)
{
    if (isunordered(left, right))
        return comparison == VV_UNEQUAL;
    return vv_filter_compare(comparison, (left > right) - (left < right), 0);
}

static bool ask_text(struct applying *applying, size_t index, uint32_t slice)
{
    const struct vv_filter_node *node = &applying->filter->nodes[index];
    uint32_t value = vv_trait_of(&applying->traits, node->trait, slice);
    uint8_t *answer = applying->answers[index] != NULL && value != VV_NONE
                          ? &applying->answers[index][value]
                          : NULL;
    char buffer[120];
    if (value == VV_NONE)
        return node->comparison == VV_UNEQUAL;
    if (answer != NULL && *answer != 0)
        return *answer == 2;
    bool is_yes = vv_filter_is_like(
        node, vv_trait_text(&applying->traits, node->trait, value, buffer, sizeof buffer));
    if (node->trait == VV_TRAIT_THREAD && applying->model->tracks.shares_name[value]) {
        /* with its number or without */
        bool is_own = vv_filter_is_like(
            node, vv_text_of(applying->model, applying->model->tracks.name[value]));
        is_yes = node->comparison == VV_UNEQUAL ? is_yes && is_own : is_yes || is_own;
    }
    if (answer != NULL)
        *answer = is_yes ? 2 : 1;
    return is_yes;
}

/* If the slice has such a number, sets *out_value to it and returns true. */
static bool number_of(const struct applying *applying, enum vv_filter_number number, uint32_t slice,
                      int64_t *out_value)
{
    const struct vv_model *model = applying->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t activity = slices->activity[slice], trait;
    switch (number) {
    case VV_NUMBER_DURATION:
        *out_value = slices->duration_ns[slice];
        return true;
    case VV_NUMBER_SELF:
        *out_value = slices->self_ns[slice];
        return true;
    case VV_NUMBER_CALLS:
        *out_value = applying->calls[slices->name[slice]];
        return true;
    case VV_NUMBER_STEP:
        *out_value = slices->step[slice] != VV_NONE ? model->steps.index[slices->step[slice]] : 0;
        return slices->step[slice] != VV_NONE;
    case VV_NUMBER_DEPTH:
        *out_value = slices->depth[slice];
        return true;
    case VV_NUMBER_CORRELATION:
        *out_value = activity != VV_NONE ? (int64_t)model->activities.correlation[activity] : 0;
        return *out_value != 0;
    case VV_NUMBER_RANK:
        trait = vv_trait_of(&applying->traits, VV_TRAIT_RANK, slice);
        *out_value = trait;
        return trait != VV_NONE;
    default:
        trait = vv_trait_of(&applying->traits, VV_TRAIT_STREAM, slice);
        *out_value = trait != VV_NONE ? model->tracks.tid[trait] : 0;
        return trait != VV_NONE;
    }
}

static bool ask_number(const struct applying *applying, const struct vv_filter_node *node,
                       uint32_t slice)
{
    int64_t value;
    if (!number_of(applying, node->number, slice, &value))
        return node->comparison == VV_UNEQUAL;
    return vv_filter_compare(node->comparison, value, node->value);
}

/* ---- arguments ---- */

/* The row of the slice's argument with this key; VV_NONE: it has none. */
static uint32_t find_arg(const struct vv_model *model, uint32_t slice, uint32_t key)
{
    struct vv_arg_walk walk =
        vv_arg_walk(model, model->slices.first_arg[slice], model->slices.arg_count[slice]);
    for (uint32_t row; vv_arg_next(&walk, &row);)
        if (model->args.key[row] == key)
            return row;
    return VV_NONE;
}

static bool ask_arg_text(const struct applying *applying, const struct vv_filter_node *node,
                         uint32_t arg)
{
    const struct vv_args *args = &applying->model->args;
    switch (args->kind[arg]) {
    case VV_ARG_TEXT: case VV_ARG_JSON:
        return vv_filter_is_like(node, vv_text_of(applying->model, (uint32_t)args->value[arg]));
    case VV_ARG_BOOL:
        return vv_filter_is_like(node, args->value[arg] != 0 ? "true" : "false");
    default:
        return node->comparison == VV_UNEQUAL;
    }
}

/* A real is compared with the whole number as it is, not rounded. */
static bool ask_arg_number(const struct applying *applying, const struct vv_filter_node *node,
                           uint32_t arg)
{
    const struct vv_args *args = &applying->model->args;
    double real;
    switch (args->kind[arg]) {
    case VV_ARG_INT: case VV_ARG_BOOL:
        return vv_filter_compare(node->comparison, (int64_t)args->value[arg], node->value);
    case VV_ARG_REAL:
        memcpy(&real, &args->value[arg], sizeof real);
        return compare_real(node->comparison, real, (double)node->value);
    default:
        return node->comparison == VV_UNEQUAL;
    }
}

static bool ask_arg(const struct applying *applying, size_t index, uint32_t slice)
{
    const struct vv_filter_node *node = &applying->filter->nodes[index];
    uint32_t arg = find_arg(applying->model, slice, applying->keys[index]);
    if (arg == VV_NONE)
        return node->comparison == VV_UNEQUAL;
    return node->kind == VV_FILTER_ARG_TEXT ? ask_arg_text(applying, node, arg)
                                            : ask_arg_number(applying, node, arg);
}

static bool ask(void *context, size_t index)
{
    struct applying *applying = context;
    const struct vv_filter_node *node = &applying->filter->nodes[index];
    if (node->kind == VV_FILTER_TEXT)
        return ask_text(applying, index, applying->slice);
    if (node->kind == VV_FILTER_NUMBER)
        return ask_number(applying, node, applying->slice);
    return ask_arg(applying, index, applying->slice);
}

static enum varve_code count_calls(struct applying *applying, struct varve_error *error)
{
    const struct vv_model *model = applying->model;
    VV_TRY(VV_SCRATCH_ZEROS(applying->scratch, &applying->calls, model->strings.count, error));
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        applying->calls[model->slices.name[row]]++;
    return VARVE_OK;
}

static enum varve_code prepare(struct applying *applying, const int64_t *ranks,
                               struct varve_error *error)
{
    unsigned wanted = 0;
    for (size_t i = 0; i < applying->filter->count; i++) {
        const struct vv_filter_node *node = &applying->filter->nodes[i];
        if (node->kind == VV_FILTER_ARG_TEXT || node->kind == VV_FILTER_ARG_NUMBER)
            applying->keys[i] =
                vv_intern_find(&applying->model->strings, node->key, node->key_bytes);
        if (node->kind == VV_FILTER_TEXT)
            wanted |= VV_TRAIT_BIT(node->trait);
        if (node->kind == VV_FILTER_NUMBER && node->number == VV_NUMBER_STREAM)
            wanted |= VV_TRAIT_BIT(VV_TRAIT_STREAM);
        if (node->kind == VV_FILTER_NUMBER && node->number == VV_NUMBER_CALLS &&
            applying->calls == NULL)
            VV_TRY(count_calls(applying, error));
    }
    VV_TRY(vv_traits_init(&applying->traits, applying->model, ranks, wanted, applying->scratch,
                          error));
    for (size_t i = 0; i < applying->filter->count; i++) {
        const struct vv_filter_node *node = &applying->filter->nodes[i];
        uint32_t limit =
            node->kind == VV_FILTER_TEXT ? vv_trait_limit(&applying->traits, node->trait) : 0;
        if (limit == 0)
            continue;
        VV_TRY(VV_SCRATCH_ZEROS(applying->scratch, &applying->answers[i], limit, error));
    }
    return VARVE_OK;
}

enum varve_code vv_filter_apply(const struct vv_filter *filter, const struct vv_model *model,
                                const int64_t *ranks, struct vv_scratch *scratch,
                                bool **out_admitted, struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    struct applying applying = { .filter = filter, .model = model, .scratch = &own };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, out_admitted, model->slices.table.count, error));
    enum varve_code code = prepare(&applying, ranks, error);
    uint32_t count = (uint32_t)model->slices.table.count;
    for (; applying.slice < count && code == VARVE_OK; applying.slice++)
        (*out_admitted)[applying.slice] = vv_filter_admits(filter, ask, &applying);
    vv_scratch_deinit(&own);
    return code;
}
