/* SPDX-License-Identifier: Apache-2.0 */
/* profile_text.h — a profile as lines of text, for tests. Include after cmocka.h. */
#ifndef VARVE_TESTS_PROFILE_TEXT_H
#define VARVE_TESTS_PROFILE_TEXT_H

#include <stdio.h>

#include "handmade.h"
#include "mlir/profile/profile.h"

static inline struct vv_mlir_profile profile_of(const struct vv_model *model,
                                                const struct vv_question *question)
{
    struct vv_mlir_profile profile;
    struct varve_error error = { 0 };
    if (vv_mlir_profile_make(model, question, &profile, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return profile;
}

/* "name|type|place count total/self min..max p50 p95 @first", one line a record. */
static inline const char *profile_text(const struct vv_mlir_profile *profile)
{
    static char text[8192];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < profile->record_count; i++) {
        const struct vv_mlir_record *r = &profile->records[i];
        length += (size_t)snprintf(
            text + length, sizeof text - length, "%s|%s|%u %dx %d/%d %d..%d %d %d @%d\n",
            vv_mlir_profile_text(profile, r->symbol != 0 ? r->symbol : r->name),
            vv_mlir_profile_text(profile, r->type), r->place, (int)r->count, (int)r->total_ns,
            (int)r->self_ns, (int)r->min_ns, (int)r->max_ns, (int)r->p50_ns, (int)r->p95_ns,
            (int)r->first_ns);
        assert_true(length < sizeof text);
    }
    return text;
}

/* Gives the slice an argument. */
HANDMADE_UNUSED static inline void profile_argument(struct vv_model *model, uint32_t slice,
                                                    const char *key, enum vv_arg_kind kind,
                                                    uint64_t value)
{
    uint32_t row;
    assert_int_equal(vv_model_add_arg(model, &row, NULL), VARVE_OK);
    if (model->slices.arg_count[slice]++ == 0)
        model->slices.first_arg[slice] = row;
    model->args.key[row] = handmade_text(model, key);
    model->args.kind[row] = (uint8_t)kind;
    model->args.value[row] = value;
}

#endif
