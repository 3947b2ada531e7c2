/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c — the steps of folding, and the keys to fold by. */
#include "graph/fold/fold.h"

#include <stdio.h>
#include <string.h>

#include "graph/fold/folding.h"

/* ---- keys ---- */

static const struct { const char *word; int key, leaf; } keys[] = {
    { "module", VV_FOLD_MODULE, -1 }, { "block", VV_FOLD_BLOCK, -1 },
    { "phase", VV_FOLD_PHASE, -1 },   { "name", -1, VV_FOLD_NAME },
    { "op", -1, VV_FOLD_OP },         { "execution", -1, VV_FOLD_EXECUTION },
};
#define KEY_COUNT (sizeof keys / sizeof *keys)

static enum varve_code add_key(const char *word, struct vv_fold_options *options,
                               struct varve_error *error)
{
    size_t i = 0;
    while (i < KEY_COUNT && strcmp(keys[i].word, word) != 0)
        i++;
    if (i == KEY_COUNT)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "a graph cannot be folded by '%s'. Write module, block, phase, name, op or "
                     "execution, or several with commas between",
                     word);
    if (keys[i].key < 0) {
        options->leaf = (enum vv_fold_leaf)keys[i].leaf;
        return VARVE_OK;
    }
    for (size_t k = 0; k < options->key_count; k++)
        if (options->keys[k] == (enum vv_fold_key)keys[i].key)
            VV_FAIL_SAID(error, VARVE_INVALID, "'%s' stands twice among what to fold by", word);
    options->keys[options->key_count++] = (enum vv_fold_key)keys[i].key;
    return VARVE_OK;
}

enum varve_code vv_fold_read_keys(const char *by, struct vv_fold_options *out_options,
                                  struct varve_error *error)
{
    char word[40];
    out_options->key_count = 0;
    out_options->leaf = VV_FOLD_NAME;
    if (by == NULL)
        by = "module,name";
    for (const char *at = by; *at != '\0';) {
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 39, at);
        VV_TRY(add_key(word, out_options, error));
        at += length + (at[length] == ',');
    }
    return VARVE_OK;
}

/* ---- names of leaves ---- */

static bool is_device_work(uint8_t kind)
{
    return kind == VV_DAG_KERNEL || kind == VV_DAG_COPY || kind == VV_DAG_COLLECTIVE;
}

/* For each node the one that it was called by, and for device work the one that launched it. A node
 * of a folded graph that several others call has itself: none of them is the one. */
static enum varve_code find_origins(struct vv_folding *folding, uint32_t **out_origin,
                                    struct varve_error *error)
{
    const struct vv_dag *dag = folding->dag;
    uint64_t count = dag->nodes.table.count;
    uint32_t *origin;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &origin, count, error));
    memset(origin, 0xff, count * sizeof *origin);
    for (uint64_t e = 0; e < dag->edges.table.count; e++) {
        uint32_t from = dag->edges.from[e], to = dag->edges.to[e];
        bool is_call = dag->edges.kind[e] == VV_DAG_EDGE_NESTING;
        bool is_launch = dag->edges.kind[e] == VV_DAG_EDGE_FLOW &&
                         is_device_work(dag->nodes.kind[to]) &&
                         !is_device_work(dag->nodes.kind[from]);
        if (is_call)
            origin[to] = origin[to] == VV_NONE || origin[to] == from ? from : to;
        else if (is_launch && origin[to] == VV_NONE)
            origin[to] = from;
    }
    *out_origin = origin;
    return VARVE_OK;
}

/* The operator that device work was done for: the innermost around its launch. */
static uint32_t operator_of(const struct vv_dag *dag, const uint32_t *origin, uint32_t node)
{
    uint32_t at = origin[node], steps = 0;
    while (at != VV_NONE && dag->nodes.kind[at] != VV_DAG_OPERATOR && origin[at] != at &&
           steps++ < 1000)
        at = origin[at];
    return at != VV_NONE && dag->nodes.kind[at] == VV_DAG_OPERATOR ? at : node;
}

static enum varve_code name_nodes(struct vv_folding *folding, struct varve_error *error)
{
    const struct vv_dag *dag = folding->dag;
    uint32_t *origin = NULL, *name_of_text;
    if (folding->options->leaf == VV_FOLD_OP)
        VV_TRY(find_origins(folding, &origin, error));
    VV_TRY(VV_SCRATCH_ZEROS(folding->scratch, &name_of_text, dag->strings.count, error));
    for (uint32_t node = 0; node < dag->nodes.table.count; node++) {
        uint32_t named = node;
        if (origin != NULL && is_device_work(dag->nodes.kind[node]))
            named = operator_of(dag, origin, node);
        uint32_t *known = &name_of_text[dag->nodes.name[named]];
        if (*known == 0) {
            const char *text = vv_dag_string(dag, dag->nodes.name[named]);
            VV_TRY(vv_intern_add(&folding->strings, text, strlen(text), known, error));
            ++*known;
        }
        folding->name_of[node] = *known - 1;
    }
    if (folding->strings.count > UINT32_MAX / VV_DAG_KINDS - 1)
        VV_FAIL(error, VARVE_LIMIT, "a graph with more names than can be folded");
    return VARVE_OK;
}

/* ---- all together ---- */

static enum varve_code fold(struct vv_folding *folding, struct vv_dag *out_dag,
                            struct varve_error *error)
{
    uint64_t count = folding->dag->nodes.table.count;
    folding->group_ids.scratch = folding->leaf_ids.scratch = folding->scratch;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &folding->group_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &folding->name_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &folding->leaf_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &folding->former_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &folding->chain, count, error));
    memset(folding->former_of, 0xff, count * sizeof *folding->former_of);
    VV_TRY(name_nodes(folding, error));
    VV_TRY(vv_fold_find_groups(folding, error));
    return vv_fold_merge(folding, out_dag, error);
}

static enum varve_code copy_notes(const struct vv_dag *dag, struct vv_dag *out_dag,
                                  struct varve_error *error)
{
    for (uint64_t row = 0; row < dag->notes.table.count; row++)
        if (strcmp(vv_dag_string(dag, dag->notes.key[row]), "edges back") != 0)
            VV_TRY(vv_dag_add_note(out_dag, vv_dag_string(dag, dag->notes.key[row]),
                                   vv_dag_string(dag, dag->notes.text[row]), error));
    return VARVE_OK;
}

/* Folds into out_dag what `merged` holds for a moment, if something is to be cut. */
static enum varve_code fold_and_cut(struct vv_folding *folding, struct vv_dag *out_dag,
                                    struct varve_error *error)
{
    const struct vv_fold_options *options = folding->options;
    struct vv_dag merged;
    if (options->top <= 0 && options->around == NULL)
        return fold(folding, out_dag, error);
    enum varve_code code = vv_dag_init(&merged, error);
    if (code == VARVE_OK)
        code = fold(folding, &merged, error);
    if (code == VARVE_OK)
        code = vv_fold_cut(&merged, options, out_dag, error);
    vv_dag_deinit(&merged);
    return code;
}

enum varve_code vv_fold(const struct vv_dag *dag, const struct vv_fold_options *options,
                        struct vv_dag *out_dag, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct vv_folding folding = { .dag = dag, .options = options, .scratch = &scratch };
    enum varve_code code = vv_intern_init(&folding.strings, error);
    if (code == VARVE_OK)
        code = fold_and_cut(&folding, out_dag, error);
    vv_intern_deinit(&folding.strings);
    vv_scratch_deinit(&scratch);
    if (code == VARVE_OK)
        code = copy_notes(dag, out_dag, error);
    return code == VARVE_OK ? vv_fold_settle(out_dag, error) : code;
}
