/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/match/match.h"

#include <stdlib.h>
#include <string.h>

#include "mlir/match/matching.h"

const char *const vv_mlir_level_words[VV_MLIR_LEVEL_COUNT] = {
#define WORD(name, word) [VV_MLIR_LEVEL_##name] = word,
    VV_MLIR_LEVELS(WORD)
#undef WORD
};

static const struct level {
    vv_mlir_level_fn *find; /* NULL: done for all records together                              */
    bool is_certain;        /* it says which operation it is, so the type need not              */
} levels[VV_MLIR_LEVEL_COUNT] = {
    [VV_MLIR_LEVEL_TAG] = { vv_mlir_find_tag, true },
    [VV_MLIR_LEVEL_KEY] = { vv_mlir_find_key, true },
    [VV_MLIR_LEVEL_NAME] = { vv_mlir_find_name, false },
    [VV_MLIR_LEVEL_CALLS] = { vv_mlir_find_called, false },
    [VV_MLIR_LEVEL_NORMAL] = { vv_mlir_find_normal, false },
    [VV_MLIR_LEVEL_FUSED] = { vv_mlir_find_fused, false },
    [VV_MLIR_LEVEL_JOINED] = { vv_mlir_find_joined, false },
    [VV_MLIR_LEVEL_COMMAND] = { vv_mlir_find_command, true },
    [VV_MLIR_LEVEL_SYMBOL] = { vv_mlir_find_symbol, true },
    [VV_MLIR_LEVEL_LINE] = { vv_mlir_find_line, false },
    [VV_MLIR_LEVEL_PATH] = { vv_mlir_find_path, false },
    [VV_MLIR_LEVEL_FRAMES] = { vv_mlir_find_frames, false },
    [VV_MLIR_LEVEL_SUFFIX] = { vv_mlir_find_suffix, false },
    [VV_MLIR_LEVEL_ARGUMENTS] = { vv_mlir_find_anchored, false },
    [VV_MLIR_LEVEL_ORDER] = { NULL, false },
};

/* The first level that finds operations of the record's type; otherwise the first that finds any. A
 * name says more than a line or a place: where one is found, only names may find a better type. */
static enum varve_code find(struct vv_mlir_matching *matching, uint32_t record,
                            struct varve_error *error)
{
    struct vv_mlir_finding *finding = &matching->findings[record];
    for (int level = 0; level < VV_MLIR_LEVEL_COUNT; level++) {
        const struct level *row = &levels[level];
        struct vv_mlir_ops ops = { NULL, 0 };
        uint32_t set = VV_MLIR_NONE;
        bool is_named = finding->set != VV_MLIR_NONE && finding->level <= VV_MLIR_LEVEL_JOINED;
        if (level > (int)matching->options->weakest || row->find == NULL ||
            (is_named && level > VV_MLIR_LEVEL_JOINED))
            continue;
        VV_TRY(row->find(matching, record, &ops, error));
        VV_TRY(vv_mlir_in_function(matching, record, &ops, error));
        if (ops.count > 0)
            VV_TRY(vv_mlir_set_of(matching, record, ops, &set, error));
        if (set == VV_MLIR_NONE)
            continue;
        bool is_good = row->is_certain || matching->sets[set].is_type_equal;
        if (finding->set == VV_MLIR_NONE || is_good) {
            finding->set = set;
            finding->level = (uint8_t)level;
            finding->is_certain = row->is_certain;
        }
        if (is_good)
            break;
    }
    return VARVE_OK;
}

static enum varve_code index_module(struct vv_mlir_matching *matching, struct varve_error *error)
{
    struct vv_mlir_list *const lists[] = {
        &matching->names, &matching->children, &matching->uses, &matching->definitions,
        &matching->called, &matching->normal, &matching->joined, &matching->lines,
        &matching->paths, &matching->tags, &matching->keys, &matching->chain_ops,
        &matching->chain_starts, &matching->anchored, &matching->owned,
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lists[i]->scratch = matching->scratch;
    matching->chain_slots.scratch = matching->set_slots.scratch = matching->scratch;
    VV_TRY(vv_intern_in(matching->scratch, &matching->texts, error));
    VV_TRY(vv_intern_in(matching->scratch, &matching->kinds, error));
    VV_TRY(vv_mlir_read_types(matching, error));
    VV_TRY(vv_mlir_index_names(matching, error));
    VV_TRY(vv_mlir_index_calls(matching, error));
    VV_TRY(vv_mlir_index_keys(matching, error));
    VV_TRY(vv_mlir_index_symbols(matching, error));
    VV_TRY(vv_mlir_index_places(matching, error));
    VV_TRY(vv_mlir_index_frames(matching, error));
    VV_TRY(vv_mlir_index_suffixes(matching, error));
    return vv_mlir_index_arguments(matching, error);
}

static enum varve_code match(struct vv_mlir_matching *matching, struct vv_mlir_matches *matches,
                             struct varve_error *error)
{
    size_t records = matching->profile->record_count;
    VV_TRY(index_module(matching, error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->findings, records, error));
    for (uint32_t record = 0; record < records; record++) {
        matching->findings[record].set = VV_MLIR_NONE;
        VV_TRY(find(matching, record, error));
    }
    VV_TRY(vv_mlir_pair_in_order(matching, error));
    if (matching->options->weakest >= VV_MLIR_LEVEL_ARGUMENTS)
        VV_TRY(vv_mlir_pair_by_arguments(matching, error));
    if (matching->options->weakest >= VV_MLIR_LEVEL_ORDER)
        VV_TRY(vv_mlir_find_by_order(matching, error));
    VV_TRY(vv_mlir_add_extras(matching, error));
    return vv_mlir_make_groups(matching, matches, error);
}

enum varve_code vv_mlir_match(const struct vv_mlir_module *module,
                              const struct vv_mlir_profile *profile,
                              const struct vv_mlir_match_options *options,
                              struct vv_mlir_matches *out_matches, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct vv_mlir_matching matching = { .module = module, .profile = profile, .options = options,
                                         .scratch = &scratch };
    *out_matches = (struct vv_mlir_matches){ 0 };
    enum varve_code code = match(&matching, out_matches, error);
    vv_scratch_deinit(&scratch);
    if (code != VARVE_OK)
        vv_mlir_matches_deinit(out_matches);
    return code;
}

void vv_mlir_matches_deinit(struct vv_mlir_matches *matches)
{
    free(matches->of_record);
    free(matches->groups);
    free(matches->members);
    free(matches->records);
    free(matches->group_of_op);
    memset(matches, 0, sizeof *matches);
}

void vv_mlir_group_sum(const struct vv_mlir_profile *profile,
                       const struct vv_mlir_matches *matches, uint32_t group,
                       struct vv_mlir_record *out_sum)
{
    const struct vv_mlir_group *row = &matches->groups[group];
    const uint32_t *records = matches->records + row->first_record;
    *out_sum = profile->records[records[0]];
    int64_t most_ns = out_sum->total_ns;
    for (uint32_t i = 1; i < row->record_count; i++) {
        const struct vv_mlir_record *record = &profile->records[records[i]];
        out_sum->count += record->count;
        out_sum->total_ns += record->total_ns;
        out_sum->self_ns += record->self_ns;
        out_sum->min_ns = record->min_ns < out_sum->min_ns ? record->min_ns : out_sum->min_ns;
        out_sum->max_ns = record->max_ns > out_sum->max_ns ? record->max_ns : out_sum->max_ns;
        out_sum->first_ns =
            record->first_ns < out_sum->first_ns ? record->first_ns : out_sum->first_ns;
        if (record->total_ns <= most_ns)
            continue;
        most_ns = record->total_ns;
        out_sum->p50_ns = record->p50_ns;
        out_sum->p95_ns = record->p95_ns;
    }
}
