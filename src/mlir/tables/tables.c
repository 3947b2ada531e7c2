/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/tables/tables.h"

#include <stdio.h>

const struct vv_mlir_table_entry vv_mlir_tables[] = {
    { "coverage", "how much of the profile's time was found in the module", vv_mlir_coverage },
    { "coverage_levels", "by what it was found", vv_mlir_coverage_levels },
    { "unmatched", "what was not found, the longest first", vv_mlir_unmatched },
    { "ambiguous", "groups of operations that share a time", vv_mlir_ambiguous },
    { NULL, NULL, NULL },
};

enum varve_code vv_mlir_table(vv_mlir_table_fn *table, const struct vv_mlir_join *join,
                              int64_t top, struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    enum varve_code code = table(join, top, &scratch, out, error);
    vv_scratch_deinit(&scratch);
    if (code != VARVE_OK)
        vv_sheet_deinit(out);
    return code;
}

double vv_mlir_matched_share(const struct vv_mlir_join *join)
{
    return join->profile->self_ns > 0
               ? (double)join->matches->matched_ns / (double)join->profile->self_ns
               : 0;
}

static size_t found_records(const struct vv_mlir_join *join)
{
    size_t found = 0;
    for (size_t i = 0; i < join->profile->record_count; i++)
        found += join->matches->of_record[i].group != VV_MLIR_NONE;
    return found;
}

enum varve_code vv_mlir_check_profile(const struct vv_mlir_join *join, struct varve_error *error)
{
    size_t records = join->profile->record_count, found = found_records(join);
    if (records == 0)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "the trace has no operations that a program could name: doc/formats.md says "
                     "what is read of each producer");
    double of_names = (double)found / (double)records, of_time = vv_mlir_matched_share(join);
    double of_either = of_names > of_time ? of_names : of_time;
    if (of_either >= VV_MLIR_SHARE_OF_ANOTHER_VERSION ||
        (of_either >= VV_MLIR_SHARE_OF_ANOTHER &&
         (double)join->matches->member_count >=
             VV_MLIR_SHARE_OF_ANOTHER_VERSION * join->module->located))
        return VARVE_OK;
    if (join->module->located == 0)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "'%s' has no locations, so %zu of %zu names of the trace are found in it: "
                     "print it with --mlir-print-debuginfo, or with enable_debug_info=True",
                     join->module->path, found, records);
    VV_FAIL_SAID(error, VARVE_INVALID,
                 "%zu of %zu names of the trace are in '%s', with %.1f %% of its time: it is a "
                 "profile of another module, or of another version of it",
                 found, records, join->module->path, 100 * of_time);
}

void vv_mlir_coverage_warning(const struct vv_mlir_join *join, char *text, size_t bytes)
{
    double share = vv_mlir_matched_share(join);
    text[0] = '\0';
    if (share >= VV_MLIR_SHARE_OF_THIS_ONE)
        return;
    snprintf(text, bytes,
             "only %.1f %% of the profile's time was found in '%s'%s: table unmatched has the rest",
             100 * share, join->module->path,
             join->module->located == 0 ? ", which has no locations"
                                        : ", which may be another version of what ran");
}
