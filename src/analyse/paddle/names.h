/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — the names of ranges as Fluid's report has them: a number stands for each "%…%".
 *
 * Fluid's recorder writes the name of an operator's output between two '%' when each operator is to
 * have rows of its own. The report then numbers such fragments, from 0 in the order in which they
 * first appear behind the same text. One oddity of Fluid's changes figures, so it is here, too: of
 * the pieces that '%' divides a name into, the n-th number is that of the n-th piece, but it
 * replaces the n-th fragment, which is piece 2n - 1. Thread-compatible. */
#ifndef VV_ANALYSE_PADDLE_NAMES_H
#define VV_ANALYSE_PADDLE_NAMES_H

#include "base/intern.h"
#include "model/model.h"
#include "numbers/pair_ids.h"

struct vv_fluid_names {
    const struct vv_model *model; /* borrowed                                                  */
    struct vv_scratch *scratch;
    struct vv_intern *texts;      /* the names, with numbers                                   */
    uint32_t *known;              /* string of the model -> id in texts; VV_NONE = not yet      */
    struct vv_intern *pieces;     /* what '%' divides names into                                */
    struct vv_groups behind;      /* (piece, the text before it) -> a text; first pieces have
                                     VV_NONE before them */
    uint32_t *numbers;            /* text -> the number of its last piece                       */
    uint32_t *counts;             /* text -> pieces that are numbered behind it                 */
    size_t number_capacity, count_capacity;
};

enum varve_code vv_fluid_names_init(struct vv_fluid_names *out_names, const struct vv_model *model,
                                    struct vv_scratch *scratch, struct varve_error *error);

/* The id in names->texts of a string of the model. New fragments get their numbers now. */
enum varve_code vv_fluid_name(struct vv_fluid_names *names, uint32_t string, uint32_t *out_name,
                              struct varve_error *error);

#endif
