/* SPDX-License-Identifier: Apache-2.0 */
/* thesis_levels.h — levels and parents by the rule of mlirgraph 1.0.0, which depends on the order
 * of the intervals. Thread-safe.
 *
 * Two intervals are parallel if they have an instant in common; both ends belong to them. The
 * intervals are put into levels one after the other. Each goes to the first level whose members are
 * all parallel to it. But if it begins before the first member of a level that comes earlier, it
 * becomes a level of its own before that one. If no level stops it, it becomes the last level.
 *
 * The parent of the i-th member of a level is the i-th member of the level before, or the last one
 * there if that level is smaller. */
#ifndef VV_GRAPH_BUILD_THESIS_LEVELS_H
#define VV_GRAPH_BUILD_THESIS_LEVELS_H

#include "numbers/intervals.h"

/* out_parent[i]: an item, or UINT32_MAX at level 0. begin_ns <= end_ns; the unit may be any. Memory
 * O(n). Time O(n log n) for what a profiler records, and never more than O(n sqrt(n) log n) or
 * so: many levels may stay open for times later than that of the next interval, while others,
 * between them, have passed. */
enum varve_code vv_thesis_levels(const struct vv_interval *items, size_t count,
                                 uint32_t *out_level, uint32_t *out_parent,
                                 struct varve_error *error);

#endif
