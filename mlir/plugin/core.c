/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>

#include "import/importer.h"
#include "mlir/match/match.h"

struct varve_core {
    struct vv_model *model;
    struct vv_mlir_module module;
    struct vv_mlir_profile profile;
    struct vv_mlir_matches matches;
};

static enum varve_code fill(struct varve_core *core, const char *path, const char *text,
                            size_t bytes, struct varve_error *error)
{
    static const struct vv_question question = VV_QUESTION_ALL;
    static const struct vv_mlir_match_options options = VV_MLIR_MATCH_ALL;
    VV_TRY(vv_import(path, &core->model, error));
    VV_TRY(vv_mlir_read("the module", text, bytes, &core->module, error));
    VV_TRY(vv_mlir_profile_make(core->model, &question, &core->profile, error));
    return vv_mlir_match(&core->module, &core->profile, &options, &core->matches, error);
}

struct varve_core *varve_core_open(const char *path, const char *text, size_t bytes,
                                   char *message, size_t message_bytes)
{
    struct varve_error error;
    struct varve_core *core = calloc(1, sizeof *core);
    if (core == NULL) {
        snprintf(message, message_bytes, "no memory for the profile");
        return NULL;
    }
    if (fill(core, path, text, bytes, &error) != VARVE_OK) {
        snprintf(message, message_bytes, "%s", error.message);
        varve_core_close(core);
        return NULL;
    }
    return core;
}

void varve_core_close(struct varve_core *core)
{
    if (core == NULL)
        return;
    vv_mlir_matches_deinit(&core->matches);
    vv_mlir_profile_deinit(&core->profile);
    vv_mlir_deinit(&core->module);
    vv_model_destroy(core->model);
    free(core);
}

/* A mark for each member of each group, in the order of the groups. */
size_t varve_core_mark_count(const struct varve_core *core) { return core->matches.member_count; }

static void put(struct varve_core_mark *mark, const char *word, int64_t value)
{
    mark->words[mark->field_count] = word;
    mark->values[mark->field_count++] = value;
}

/* All times go to one member, so that who adds up all operations counts each once. */
static void put_times(const struct varve_core *core, uint32_t group, struct varve_core_mark *mark)
{
    struct vv_mlir_record sum;
    vv_mlir_group_sum(&core->profile, &core->matches, group, &sum);
    put(mark, "count", sum.count);
    put(mark, "total", sum.total_ns);
    put(mark, "self", sum.self_ns);
    put(mark, "mean", vv_mlir_mean_ns(&sum));
    put(mark, "min", sum.min_ns);
    put(mark, "max", sum.max_ns);
    put(mark, "p50", sum.p50_ns);
    put(mark, "p95", sum.p95_ns);
    put(mark, "first", sum.first_ns);
}

void varve_core_get_mark(const struct varve_core *core, size_t row,
                         struct varve_core_mark *out_mark)
{
    const struct vv_mlir_matches *matches = &core->matches;
    uint32_t op = matches->members[row], group = matches->group_of_op[op];
    const struct vv_mlir_group *found = &matches->groups[group];
    const struct vv_mlir_match *first = &matches->of_record[matches->records[found->first_record]];
    *out_mark = (struct varve_core_mark){ .op = op, .match = vv_mlir_level_words[found->level],
                                          .is_fused = first->is_fused };
    if (op == found->primary)
        put_times(core, group, out_mark);
    if (found->member_count > 1) {
        put(out_mark, "group", (int64_t)group + 1);
        put(out_mark, "members", found->member_count);
    }
}

struct varve_core_coverage varve_core_get_coverage(const struct varve_core *core)
{
    return (struct varve_core_coverage){
        .ops = core->module.op_count,
        .marked = (uint32_t)core->matches.member_count,
        .profile_ns = core->profile.self_ns,
        .matched_ns = core->matches.matched_ns,
    };
}

const char *varve_core_op_name(const struct varve_core *core, uint32_t op)
{
    return op < core->module.op_count ? vv_mlir_string(&core->module, core->module.ops[op].name)
                                      : NULL;
}
