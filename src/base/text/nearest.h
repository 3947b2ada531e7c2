/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h — what someone who mistyped a word probably meant. Thread-safe. */
#ifndef VV_BASE_TEXT_NEAREST_H
#define VV_BASE_TEXT_NEAREST_H

#include <stddef.h>

/* The entry of the NULL-terminated list nearest to `word` (insertions, deletions, replacements and
 * swaps of neighbours), the first of equals; NULL if more than a third of the word would change. */
const char *vv_nearest(const char *word, const char *const *list);

#endif
