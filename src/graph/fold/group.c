/* SPDX-License-Identifier: Apache-2.0 */
/* group.c — the groups that nodes stand in: the parts of their module's path, their block, their
 * phase. Siblings that are numbered ("layers.0", "layers.1" …) and hold the same become one: "24 x
 * layers". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "graph/fold/folding.h"

enum { PATH_PARTS_MAX = 64, NAME_SHOWN = 120 };

static enum varve_code add_group(struct vv_folding *folding, uint32_t parent, const char *text,
                                 size_t length, uint32_t *out_group, struct varve_error *error)
{
    uint32_t name, known = folding->group_ids.count;
    VV_TRY(vv_intern_add(&folding->strings, text, length, &name, error));
    VV_TRY(vv_groups_add(&folding->group_ids, parent + 1, name, out_group, error));
    if (*out_group < known)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(folding->scratch, &folding->groups, &folding->group_capacity,
                              (size_t)known + 1, error));
    bool is_numbered = length > 0;
    for (size_t i = 0; i < length; i++)
        is_numbered = is_numbered && text[i] >= '0' && text[i] <= '9';
    folding->groups[known] = (struct vv_fold_group){ .parent = parent, .name = name,
                                                     .same_as = known, .times = 1,
                                                     .is_numbered = is_numbered };
    return VARVE_OK;
}

/* "net.layers.3.attn" or "net/layers/3": a group for each part. */
static enum varve_code add_path(struct vv_folding *folding, const char *path, uint32_t *group,
                                struct varve_error *error)
{
    for (int parts = 0; *path != '\0' && parts < PATH_PARTS_MAX; parts++) {
        size_t length = parts + 1 == PATH_PARTS_MAX ? strlen(path) : strcspn(path, "./");
        if (length > 0)
            VV_TRY(add_group(folding, *group, path, length, group, error));
        path += length;
        path += *path != '\0';
    }
    return VARVE_OK;
}

static enum varve_code add_block(struct vv_folding *folding, uint32_t block, uint32_t *group,
                                 struct varve_error *error)
{
    const struct vv_fold_block *blocks = folding->options->blocks;
    uint32_t chain[PATH_PARTS_MAX];
    size_t count = 0;
    for (; block < folding->options->block_count && count < PATH_PARTS_MAX;
         block = blocks[block].parent)
        chain[count++] = block;
    while (count-- > 0) {
        const char *name = blocks[chain[count]].name;
        VV_TRY(add_group(folding, *group, name, strlen(name), group, error));
    }
    return VARVE_OK;
}

/* The groups of the input, outermost first: a folded graph that is folded again. */
static enum varve_code add_former(struct vv_folding *folding, uint32_t node, uint32_t *group,
                                  struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &folding->dag->nodes;
    uint32_t *former_of = folding->former_of, *chain = folding->chain, count = 0;
    for (node = nodes->parent[node]; node != VV_NONE && former_of[node] == VV_NONE;
         node = nodes->parent[node])
        chain[count++] = node;
    *group = node != VV_NONE ? former_of[node] : VV_NONE;
    while (count-- > 0) {
        const char *name = vv_dag_string(folding->dag, nodes->name[chain[count]]);
        VV_TRY(add_group(folding, *group, name, strlen(name), group, error));
        former_of[chain[count]] = *group;
    }
    return VARVE_OK;
}

static enum varve_code find_group(struct vv_folding *folding, uint32_t node, uint32_t *out_group,
                                  struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &folding->dag->nodes;
    const struct vv_fold_options *options = folding->options;
    *out_group = VV_NONE;
    VV_TRY(add_former(folding, node, out_group, error));
    if (*out_group != VV_NONE)
        return VARVE_OK;
    for (size_t i = 0; i < options->key_count; i++) {
        const char *phase = vv_dag_string(folding->dag, nodes->phase[node]);
        if (options->keys[i] == VV_FOLD_MODULE)
            VV_TRY(add_path(folding, vv_dag_string(folding->dag, nodes->module[node]), out_group,
                            error));
        else if (options->keys[i] == VV_FOLD_PHASE && phase[0] != '\0')
            VV_TRY(add_group(folding, *out_group, phase, strlen(phase), out_group, error));
        else if (options->keys[i] == VV_FOLD_BLOCK && options->block_of != NULL)
            VV_TRY(add_block(folding, options->block_of[node], out_group, error));
    }
    return VARVE_OK;
}

/* ---- equal siblings ---- */

/* The hash of a group's contents does not depend on the order of what is in it. */
static void hash_contents(struct vv_folding *folding)
{
    struct vv_fold_group *groups = folding->groups;
    uint32_t count = folding->group_ids.count;
    for (uint32_t leaf = 0; leaf < folding->leaf_ids.count; leaf++)
        if (folding->leaf_ids.names[leaf] > 0)
            groups[folding->leaf_ids.names[leaf] - 1].contents +=
                vv_hash_pair(folding->leaf_ids.extras[leaf], 1);
    for (uint32_t group = count; group-- > 0;) {
        uint32_t parent = groups[group].parent;
        if (parent != VV_NONE)
            groups[parent].contents += vv_hash_pair(groups[group].is_numbered
                                                        ? 0 : groups[group].name,
                                                    groups[group].contents);
    }
}

/* Equal siblings of a list: (parent, contents) of the first one seen. */
static enum varve_code join_siblings(struct vv_folding *folding, struct varve_error *error)
{
    struct vv_fold_group *groups = folding->groups;
    struct vv_groups kinds = { .scratch = folding->scratch }, lists = { .scratch =
                                                                            folding->scratch };
    uint32_t *first, *list_of, count = folding->group_ids.count;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &first, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &list_of, count, error));
    for (uint32_t group = 0; group < count; group++) {
        uint32_t low, kind, known = lists.count;
        list_of[group] = groups[group].parent;
        /* A member of a list that stands for another moves there with all that is in it. */
        if (groups[group].parent != VV_NONE)
            groups[group].parent = groups[groups[group].parent].same_as;
        if (!groups[group].is_numbered)
            continue;
        VV_TRY(vv_groups_add(&kinds, (uint32_t)groups[group].contents,
                             (uint32_t)(groups[group].contents >> 32), &low, error));
        VV_TRY(vv_groups_add(&lists, groups[group].parent + 1, low, &kind, error));
        if (kind == known)
            first[kind] = group;
        groups[group].same_as = first[kind];
        /* A list inside a member of a list is counted once, not in each member. */
        if (first[kind] != group && list_of[first[kind]] == list_of[group])
            groups[first[kind]].times++;
    }
    return VARVE_OK;
}

/* Groups below members of a list that were joined are the same by name. */
static enum varve_code join_below(struct vv_folding *folding, struct varve_error *error)
{
    struct vv_fold_group *groups = folding->groups;
    struct vv_groups places = { .scratch = folding->scratch };
    uint32_t *first, count = folding->group_ids.count;
    VV_TRY(VV_SCRATCH_ARRAY(folding->scratch, &first, count, error));
    for (uint32_t group = 0; group < count; group++) {
        uint32_t place, known = places.count, parent = groups[group].parent;
        if (parent != VV_NONE)
            parent = groups[group].parent = groups[parent].same_as;
        if (groups[group].same_as != group) {
            groups[group].same_as = groups[groups[group].same_as].same_as;
            continue;
        }
        VV_TRY(vv_groups_add(&places, parent + 1, groups[group].name, &place, error));
        if (place == known)
            first[place] = group;
        groups[group].same_as = first[place];
    }
    return VARVE_OK;
}

/* "24 x layers", after the list that they are in. If a list has several kinds of members, their
 * names differ: "12 x layers", "12 x layers from 1". */
static enum varve_code name_lists(struct vv_folding *folding, struct varve_error *error)
{
    struct vv_groups names = { .scratch = folding->scratch };
    for (uint32_t group = 0; group < folding->group_ids.count; group++) {
        struct vv_fold_group *own = &folding->groups[group];
        const char *list = "", *first = vv_intern_text(&folding->strings, own->name);
        char name[200];
        if (own->times < 2 || own->same_as != group)
            continue;
        if (own->parent != VV_NONE)
            list = vv_intern_text(&folding->strings, folding->groups[own->parent].name);
        int length = snprintf(name, sizeof name, "%u \xc3\x97 %.*s", own->times,
                              (int)vv_utf8_valid(list, strnlen(list, NAME_SHOWN)), list);
        uint32_t text, place, known = names.count;
        VV_TRY(vv_intern_add(&folding->strings, name, (size_t)length, &text, error));
        VV_TRY(vv_groups_add(&names, own->parent + 1, text, &place, error));
        if (place < known) {
            snprintf(name + length, sizeof name - (size_t)length, " from %.20s", first);
            VV_TRY(vv_intern_add(&folding->strings, name, strlen(name), &text, error));
        }
        own->name = text;
    }
    return VARVE_OK;
}

enum varve_code vv_fold_find_groups(struct vv_folding *folding, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &folding->dag->nodes;
    for (uint32_t node = 0; node < nodes->table.count; node++) {
        uint32_t leaf;
        folding->group_of[node] = VV_NONE;
        if (nodes->kind[node] == VV_DAG_GROUP)
            continue;
        VV_TRY(find_group(folding, node, &folding->group_of[node], error));
        VV_TRY(vv_groups_add(&folding->leaf_ids, folding->group_of[node] + 1,
                             folding->name_of[node] * VV_DAG_KINDS + nodes->kind[node], &leaf,
                             error));
    }
    hash_contents(folding);
    VV_TRY(join_siblings(folding, error));
    VV_TRY(join_below(folding, error));
    return name_lists(folding, error);
}
