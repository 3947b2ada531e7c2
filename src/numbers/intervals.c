/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/intervals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"

#define MERGED_MIN 1024u /* intervals; fewer are sorted without memory of their own              */

enum varve_code vv_intervals_append(struct vv_intervals *set, int64_t begin_ns, int64_t end_ns,
                                    struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(set->scratch, &set->items, &set->capacity, set->count + 1, error));
    set->items[set->count++] = (struct vv_interval){ begin_ns, end_ns };
    return VARVE_OK;
}

static int compare(const void *a, const void *b)
{
    const struct vv_interval *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* Intervals from one track or device are mostly in order already. */
static bool is_sorted(const struct vv_intervals *set)
{
    for (size_t i = 1; i < set->count; i++)
        if (set->items[i].begin_ns < set->items[i - 1].begin_ns)
            return false;
    return true;
}

/* Joins each interval to the one before if it begins in that or where that ends. Of a sorted set,
 * this is the union. */
static void join_neighbours(struct vv_intervals *set)
{
    size_t kept = 0;
    for (size_t i = 1; i < set->count; i++) {
        struct vv_interval *last = &set->items[kept], next = set->items[i];
        if (next.begin_ns > last->end_ns || next.begin_ns < last->begin_ns)
            set->items[++kept] = next;
        else if (next.end_ns > last->end_ns)
            last->end_ns = next.end_ns;
    }
    set->count = kept + 1;
}

/* Where the run of ascending intervals ends that begins at `begin`. */
static size_t run_end(const struct vv_interval *items, size_t begin, size_t count)
{
    size_t end = begin + 1;
    while (end < count && items[end].begin_ns >= items[end - 1].begin_ns)
        end++;
    return end;
}

/* Merges each run with the one after it. Returns how many there are in `to`. */
static size_t merge_runs(const struct vv_interval *from, struct vv_interval *to, size_t count)
{
    size_t runs = 0, begin = 0;
    for (; begin < count; runs++) {
        size_t left = begin, middle = run_end(from, begin, count), right = middle;
        size_t end = middle < count ? run_end(from, middle, count) : count;
        while (left < middle && right < end) {
            bool is_right = from[right].begin_ns < from[left].begin_ns;
            *to++ = from[is_right ? right : left];
            right += is_right;
            left += !is_right;
        }
        while (left < middle)
            *to++ = from[left++];
        while (right < end)
            *to++ = from[right++];
        begin = end;
    }
    return runs;
}

/* A large set has few runs: one for each track, or for each kind of work. */
static void sort(struct vv_intervals *set)
{
    struct vv_interval *items = set->items, *others = NULL;
    if (set->count >= MERGED_MIN)
        others = malloc(set->count * sizeof *others);
    if (others == NULL) {
        qsort(items, set->count, sizeof *items, compare);
        return;
    }
    struct vv_interval *from = items, *to = others;
    while (merge_runs(from, to, set->count) > 1) {
        struct vv_interval *former = from;
        from = to;
        to = former;
    }
    if (to == others)
        memcpy(items, others, set->count * sizeof *items);
    free(others);
}

/* Joined before the sort, too, because most of a track's ranges lie in the one before. */
void vv_intervals_unite(struct vv_intervals *set)
{
    if (set->count == 0)
        return;
    join_neighbours(set);
    if (is_sorted(set))
        return;
    sort(set);
    join_neighbours(set);
}

int64_t vv_intervals_length(const struct vv_intervals *set)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < set->count; i++)
        sum_ns += set->items[i].end_ns - set->items[i].begin_ns;
    return sum_ns;
}

/* The first of set->items[next …] that ends after the instant. Mostly it is near, so the steps
 * begin small and double. */
static size_t first_after(const struct vv_intervals *set, size_t next, int64_t at_ns)
{
    size_t step = 1, limit = next;
    while (limit < set->count && set->items[limit].end_ns <= at_ns) {
        next = limit + 1;
        limit += step;
        step *= 2;
    }
    limit = limit < set->count ? limit : set->count;
    return VV_FIRST_NOT(j, next, limit, set->items[j].end_ns <= at_ns);
}

/* Splits a into the pieces that lie in b and those that do not. Each piece is added to its set, if
 * that is not NULL. */
static enum varve_code divide(const struct vv_intervals *a, const struct vv_intervals *b,
                              struct vv_intervals *inside, struct vv_intervals *outside,
                              int64_t *out_inside_ns, struct varve_error *error)
{
    size_t next = 0;
    *out_inside_ns = 0;
    for (size_t i = 0; i < a->count; i++) {
        int64_t at_ns = a->items[i].begin_ns, end_ns = a->items[i].end_ns;
        next = first_after(b, next, at_ns);
        for (size_t j = next; j < b->count && b->items[j].begin_ns < end_ns; j++) {
            int64_t from_ns = b->items[j].begin_ns > at_ns ? b->items[j].begin_ns : at_ns;
            int64_t to_ns = b->items[j].end_ns < end_ns ? b->items[j].end_ns : end_ns;
            if (outside != NULL)
                VV_TRY(vv_intervals_add(outside, at_ns, from_ns, error));
            if (inside != NULL)
                VV_TRY(vv_intervals_add(inside, from_ns, to_ns, error));
            *out_inside_ns += to_ns - from_ns;
            at_ns = to_ns;
        }
        if (outside != NULL)
            VV_TRY(vv_intervals_add(outside, at_ns, end_ns, error));
    }
    return VARVE_OK;
}

enum varve_code vv_intervals_divide(const struct vv_intervals *a, const struct vv_intervals *b,
                                    struct vv_intervals *inside, struct vv_intervals *outside,
                                    struct varve_error *error)
{
    int64_t inside_ns;
    inside->count = outside->count = 0;
    return divide(a, b, inside, outside, &inside_ns, error);
}

enum varve_code vv_intervals_subtract(const struct vv_intervals *a, const struct vv_intervals *b,
                                      struct vv_intervals *out, struct varve_error *error)
{
    int64_t inside_ns;
    out->count = 0;
    return divide(a, b, NULL, out, &inside_ns, error);
}

enum varve_code vv_intervals_intersect(const struct vv_intervals *a, const struct vv_intervals *b,
                                       struct vv_intervals *out, struct varve_error *error)
{
    int64_t inside_ns;
    out->count = 0;
    return divide(a, b, out, NULL, &inside_ns, error);
}

int64_t vv_intervals_length_common(const struct vv_intervals *a, const struct vv_intervals *b)
{
    int64_t inside_ns;
    (void)divide(a, b, NULL, NULL, &inside_ns, NULL); /* cannot fail, because no set grows */
    return inside_ns;
}

int64_t vv_intervals_length_without(const struct vv_intervals *a, const struct vv_intervals *b)
{
    return vv_intervals_length(a) - vv_intervals_length_common(a, b);
}

int64_t vv_intervals_length_within(const struct vv_intervals *set, int64_t begin_ns, int64_t end_ns)
{
    int64_t sum_ns = 0;
    size_t at = VV_FIRST_NOT(i, 0, set->count, set->items[i].end_ns <= begin_ns);
    for (; at < set->count && set->items[at].begin_ns < end_ns; at++) {
        struct vv_interval part = set->items[at];
        sum_ns += (part.end_ns < end_ns ? part.end_ns : end_ns) -
                  (part.begin_ns > begin_ns ? part.begin_ns : begin_ns);
    }
    return sum_ns;
}
