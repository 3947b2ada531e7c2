/* SPDX-License-Identifier: Apache-2.0 */
/* intervals.h — sets of instants, as half-open intervals of nanoseconds: unions, differences, lengths.
 *
 * A set is united when its intervals are in order, apart and not empty: what vv_intervals_unite makes, and
 * what the functions below it want and give. Thread-compatible. reference: the notation U(X), A\B, A&B, |U|. */
#ifndef VV_NUMBERS_INTERVALS_H
#define VV_NUMBERS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_interval {
    int64_t begin_ns, end_ns; /* [begin, end)                                                   */
};

struct vv_intervals {
    struct vv_interval *items;
    size_t count, capacity;
};

/* A zeroed struct is the empty set. Intervals without length add nothing. */
enum varve_code vv_intervals_add(struct vv_intervals *set, int64_t begin_ns, int64_t end_ns,
                                 struct varve_error *error);
/* Sorts, and joins what overlaps or touches. */
void vv_intervals_unite(struct vv_intervals *set);
void vv_intervals_deinit(struct vv_intervals *set);

/* Of united sets. */
int64_t vv_intervals_length(const struct vv_intervals *set);
/* *out = a without b; a and b; both: *out is another set, emptied first, united afterwards. */
enum varve_code vv_intervals_subtract(const struct vv_intervals *a, const struct vv_intervals *b,
                                      struct vv_intervals *out, struct varve_error *error);
enum varve_code vv_intervals_intersect(const struct vv_intervals *a, const struct vv_intervals *b,
                                       struct vv_intervals *out, struct varve_error *error);
/* |a without b|, |a and b|, without making the set. */
int64_t vv_intervals_length_without(const struct vv_intervals *a, const struct vv_intervals *b);
int64_t vv_intervals_length_common(const struct vv_intervals *a, const struct vv_intervals *b);
/* |set and [begin_ns, end_ns)|, in time that grows with what lies there. */
int64_t vv_intervals_length_within(const struct vv_intervals *set, int64_t begin_ns, int64_t end_ns);

#endif
