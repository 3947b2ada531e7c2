/* SPDX-License-Identifier: Apache-2.0 */
/* intervals.h — sets of instants, as half-open intervals of nanoseconds: unions, differences,
 * lengths.
 *
 * A set is united when its intervals are in order, do not touch, and are not empty.
 * vv_intervals_unite makes a set united; all functions after it take united sets and give united
 * sets. Thread-compatible. */
#ifndef VV_NUMBERS_INTERVALS_H
#define VV_NUMBERS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/scratch.h"

struct vv_interval {
    int64_t begin_ns, end_ns; /* [begin, end)                                                   */
};

struct vv_intervals {
    struct vv_scratch *scratch; /* where the items' memory comes from                          */
    struct vv_interval *items;
    size_t count, capacity;
};

/* Adds an interval that does not touch the last one. */
enum varve_code vv_intervals_append(struct vv_intervals *set, int64_t begin_ns, int64_t end_ns,
                                    struct varve_error *error);

/* Adds an interval. A struct with a scratch, zeroed else, is the empty set. An interval without
 * length adds nothing. Intervals that come in order are joined at once, so a busy stream needs few
 * of them. */
static inline enum varve_code vv_intervals_add(struct vv_intervals *set, int64_t begin_ns,
                                               int64_t end_ns, struct varve_error *error)
{
    if (end_ns <= begin_ns)
        return VARVE_OK;
    if (set->count > 0) {
        struct vv_interval *last = &set->items[set->count - 1];
        if (begin_ns >= last->begin_ns && begin_ns <= last->end_ns) {
            last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
            return VARVE_OK;
        }
    }
    if (set->count == set->capacity)
        return vv_intervals_append(set, begin_ns, end_ns, error);
    set->items[set->count++] = (struct vv_interval){ begin_ns, end_ns };
    return VARVE_OK;
}

/* Sorts the intervals, and joins those that overlap or touch. */
void vv_intervals_unite(struct vv_intervals *set);

/* The length of a united set. */
int64_t vv_intervals_length(const struct vv_intervals *set);
/* *out becomes a without b, or the common part of a and b. *out must be another set; its former
 * content is dropped. The result is united. */
enum varve_code vv_intervals_subtract(const struct vv_intervals *a, const struct vv_intervals *b,
                                      struct vv_intervals *out, struct varve_error *error);
enum varve_code vv_intervals_intersect(const struct vv_intervals *a, const struct vv_intervals *b,
                                       struct vv_intervals *out, struct varve_error *error);
/* Both at once: *inside becomes the common part, *outside becomes a without b. */
enum varve_code vv_intervals_divide(const struct vv_intervals *a, const struct vv_intervals *b,
                                    struct vv_intervals *inside, struct vv_intervals *outside,
                                    struct varve_error *error);
/* The length of a without b, or of the common part, without making the set. */
int64_t vv_intervals_length_without(const struct vv_intervals *a, const struct vv_intervals *b);
int64_t vv_intervals_length_common(const struct vv_intervals *a, const struct vv_intervals *b);
/* The length of the part inside [begin_ns, end_ns). The time grows with the number of intervals
 * there. */
int64_t vv_intervals_length_within(const struct vv_intervals *set, int64_t begin_ns,
                                   int64_t end_ns);

#endif
