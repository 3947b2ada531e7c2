/* SPDX-License-Identifier: Apache-2.0 */
/* traits.h — traits of a slice, such as its name, thread or module: operators are grouped and
 * slices are filtered by them.
 *
 * Every trait of a slice is a number, equal if the texts are equal, so grouping compares only
 * numbers. VV_NONE: the slice does not have the trait. Device work has the phase, shapes, module
 * and source of the operator that it was done for. A slice without module or source has those of
 * the slice around it. A host slice has the stream and device of the first work that was done for
 * it. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_TRAITS_H
#define VV_DERIVE_SELECT_TRAITS_H

#include "base/intern.h"
#include "meaning/phases.h"
#include "model/model.h"

enum vv_trait {
    VV_TRAIT_NAME, VV_TRAIT_CATEGORY, VV_TRAIT_OP, VV_TRAIT_THREAD, VV_TRAIT_LAYER,
    VV_TRAIT_PHASE, VV_TRAIT_SHAPE, VV_TRAIT_MODULE, VV_TRAIT_SOURCE, VV_TRAIT_STREAM,
    VV_TRAIT_DEVICE, VV_TRAIT_RANK, VV_TRAIT_COUNT
};
#define VV_TRAIT_BIT(trait) (1u << (trait))

/* Ends the policy of a table by module of a trace that has none. */
#define VV_NO_MODULES_TEXT                                                                         \
    "; no modules recorded: varve record --collect +modules, torch.profiler with_stack=True"

struct vv_traits {
    const struct vv_model *model; /* borrowed                                                  */
    const int64_t *ranks;         /* borrowed: row of a process -> its rank, -1 = not known     */
    struct vv_scratch *scratch;   /* memory of everything here                                  */
    struct vv_intern *texts;      /* texts of sources; if wanted                                */
    uint32_t *modules, *sources;  /* slice -> string of the model; slice -> id in texts; if
                                     wanted */
    struct vv_op_phases phases;   /* if wanted                                                  */
    uint32_t *first_work;         /* slice -> row in activities; if wanted                      */
};

/* `wanted` has a bit for each trait that will be asked for. */
enum varve_code vv_traits_init(struct vv_traits *out_traits, const struct vv_model *model,
                               const int64_t *ranks, unsigned wanted, struct vv_scratch *scratch,
                               struct varve_error *error);

/* "name", "thread" …, as options and filters call the trait. vv_trait_find: VARVE_INVALID if no
 * trait has this name. */
const char *vv_trait_word(enum vv_trait trait);
enum varve_code vv_trait_find(const char *word, enum vv_trait *out_trait,
                              struct varve_error *error);

uint32_t vv_trait_of(const struct vv_traits *traits, enum vv_trait trait, uint32_t slice);
/* The text of a value, for people. `buffer` is used if the text is not a string of the model. */
const char *vv_trait_text(const struct vv_traits *traits, enum vv_trait trait, uint32_t value,
                              char *buffer, size_t bytes);
/* Values of the trait are below this limit; 0 = they are numbers of any size. */
uint32_t vv_trait_limit(const struct vv_traits *traits, enum vv_trait trait);

#endif
