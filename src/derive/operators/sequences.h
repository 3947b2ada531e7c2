/* SPDX-License-Identifier: Apache-2.0 */
/* sequences.h — the sequences in which repeats are searched: the kernels, copies and sets of each
 * stream of the chosen devices, and the outermost operators of each chosen thread. Two tokens are
 * equal if their names are; on threads their shapes must be equal too. Thread-compatible. */
#ifndef VV_DERIVE_OPERATORS_SEQUENCES_H
#define VV_DERIVE_OPERATORS_SEQUENCES_H

#include "derive/devices/device_work.h"
#include "numbers/pair_ids.h"

struct vv_sequence {
    size_t first, last;   /* indices in `rows` and `tokens` */
    uint32_t track;       /* row */
    bool is_device;
};

struct vv_sequences {
    uint32_t *rows;       /* slices, sequence by sequence, in order of begin */
    uint32_t *tokens;     /* for each of `rows`, its group in `kinds` */
    size_t count, capacity, token_capacity;
    struct vv_sequence *items; /* streams first, then threads */
    size_t sequence_count, sequence_capacity;
    struct vv_groups kinds;    /* token -> (name, shapes), both strings */
};

/* VARVE_INVALID: there is no such device. */
enum varve_code vv_sequences_init(struct vv_sequences *out_sequences, const struct vv_scope *scope,
                                  const struct vv_question *question, struct varve_error *error);

#endif
