/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_matched.h — a module's text, records written by hand, and what they were found on as text.
 * Include after cmocka.h. */
#ifndef VARVE_TESTS_MATCHED_H
#define VARVE_TESTS_MATCHED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/match/match.h"

#define MATCHED_UNUSED __attribute__((unused))

struct matched {
    struct vv_mlir_module module;
    struct vv_mlir_profile profile;
    struct vv_mlir_matches matches;
};

static inline void matched_begin(struct matched *matched, const char *text)
{
    struct varve_error error = { 0 };
    memset(matched, 0, sizeof *matched);
    if (vv_mlir_read("net.mlir", text, strlen(text), &matched->module, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    matched->profile.producer = "";
    assert_int_equal(vv_intern_init(&matched->profile.strings, NULL), VARVE_OK);
}

static inline uint32_t matched_text(struct matched *matched, const char *text)
{
    uint32_t id = 0;
    assert_int_equal(vv_intern_add(&matched->profile.strings, text, strlen(text), &id, NULL),
                     VARVE_OK);
    return id;
}

/* A record of `self_ns`, which the caller fills. */
static inline struct vv_mlir_record *matched_record(struct matched *matched, const char *name,
                                                    const char *type, int64_t self_ns)
{
    struct vv_mlir_profile *profile = &matched->profile;
    assert_int_equal(vv_array_reserve(&profile->records, &profile->record_capacity,
                                      profile->record_count + 1, sizeof *profile->records, NULL),
                     VARVE_OK);
    struct vv_mlir_record *record = &profile->records[profile->record_count++];
    *record = (struct vv_mlir_record){ .name = matched_text(matched, name),
                                       .type = matched_text(matched, type), .tag = -1,
                                       .command_index = -1, .device = VV_NONE, .count = 1,
                                       .total_ns = self_ns, .self_ns = self_ns };
    profile->self_ns += self_ns;
    return record;
}

/* "linear.py:134": a frame of the last record. */
MATCHED_UNUSED static inline void matched_frame(struct matched *matched, const char *file,
                                                uint32_t line)
{
    struct vv_mlir_profile *profile = &matched->profile;
    struct vv_mlir_record *record = &profile->records[profile->record_count - 1];
    assert_int_equal(vv_array_reserve(&profile->frames, &profile->frame_capacity,
                                      profile->frame_count + 1, sizeof *profile->frames, NULL),
                     VARVE_OK);
    if (record->frame_count++ == 0)
        record->first_frame = (uint32_t)profile->frame_count;
    profile->frames[profile->frame_count++] =
        (struct vv_mlir_frame){ 0, matched_text(matched, file), line };
}

MATCHED_UNUSED static inline void matched_inner(struct matched *matched, const char *op_name,
                                                int64_t tag)
{
    struct vv_mlir_profile *profile = &matched->profile;
    struct vv_mlir_record *record = &profile->records[profile->record_count - 1];
    assert_int_equal(vv_array_reserve(&profile->inners, &profile->inner_capacity,
                                      profile->inner_count + 1, sizeof *profile->inners, NULL),
                     VARVE_OK);
    if (record->inner_count++ == 0)
        record->first_inner = (uint32_t)profile->inner_count;
    profile->inners[profile->inner_count++] =
        (struct vv_mlir_inner){ .op_name = matched_text(matched, op_name), .tag = tag };
}

static inline void matched_run(struct matched *matched, const struct vv_mlir_match_options *options)
{
    static const struct vv_mlir_match_options all = VV_MLIR_MATCH_ALL;
    struct varve_error error = { 0 };
    if (vv_mlir_match(&matched->module, &matched->profile, options != NULL ? options : &all,
                      &matched->matches, &error) != VARVE_OK)
        fail_msg("%s", error.message);
}

/* "level primary+members": operations as their numbers; "!" before a level: another type; "-":
 * nothing found. One word a record. */
MATCHED_UNUSED static inline const char *matched_said(const struct matched *matched)
{
    static char text[4096];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < matched->profile.record_count; i++) {
        const struct vv_mlir_match *match = &matched->matches.of_record[i];
        const char *separator = i > 0 ? "; " : "";
        if (match->group == VV_MLIR_NONE) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s-", separator);
            continue;
        }
        const struct vv_mlir_group *group = &matched->matches.groups[match->group];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s %u", separator,
                                   match->is_type_equal ? "" : "!",
                                   vv_mlir_level_words[match->level], group->primary);
        for (uint32_t m = 0; m < group->member_count; m++) {
            uint32_t op = matched->matches.members[group->first_member + m];
            if (op != group->primary)
                length += (size_t)snprintf(text + length, sizeof text - length, "+%u", op);
        }
        assert_true(length < sizeof text);
    }
    return text;
}

static inline void matched_end(struct matched *matched)
{
    vv_mlir_matches_deinit(&matched->matches);
    vv_mlir_profile_deinit(&matched->profile);
    vv_mlir_deinit(&matched->module);
}

#endif
