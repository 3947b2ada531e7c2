/* SPDX-License-Identifier: Apache-2.0 */
/* traits.h — what is said of a slice, one word a question: by which operators are grouped and slices filtered.
 *
 * Every trait of a slice is a number, equal where the texts are, so that grouping compares numbers only;
 * VV_NONE where the slice has none. Work of a device has the phase, shapes, module and source of the operator that
 * it was done for. A slice without module or source has those of the slice around it. A host slice has the stream and
 * device of the first work that was done for it. Thread-compatible. */
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

struct vv_traits {
    const struct vv_model *model; /* borrowed                                                  */
    const int64_t *ranks;         /* borrowed: a process' row -> its rank, -1 = none known      */
    struct vv_intern texts;       /* of sources                                                 */
    uint32_t *modules, *sources;  /* slice -> string of the model, of texts; where wanted        */
    struct vv_op_phases phases;   /* where wanted                                               */
    uint32_t *first_work;         /* slice -> row in activities; where wanted                   */
};

/* `wanted`: bits of the traits that will be asked for. De-initialise also after a failure. */
enum varve_code vv_traits_init(struct vv_traits *out_traits, const struct vv_model *model,
                                   const int64_t *ranks, unsigned wanted, struct varve_error *error);
void vv_traits_deinit(struct vv_traits *traits);

/* "name", "thread" … as options and filters call it. VARVE_INVALID: no trait is called so. */
const char *vv_trait_word(enum vv_trait trait);
enum varve_code vv_trait_find(const char *word, enum vv_trait *out_trait, struct varve_error *error);

uint32_t vv_trait_of(const struct vv_traits *traits, enum vv_trait trait, uint32_t slice);
/* For people. `buffer` holds what is not a string already. */
const char *vv_trait_text(const struct vv_traits *traits, enum vv_trait trait, uint32_t value,
                              char *buffer, size_t bytes);
/* Values of the trait are below this; 0 = they are numbers of any size. */
uint32_t vv_trait_limit(const struct vv_traits *traits, enum vv_trait trait);

#endif
