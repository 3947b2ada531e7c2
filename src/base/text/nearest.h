/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h — guesses which word a user meant to type. Thread-safe. */
#ifndef VV_BASE_TEXT_NEAREST_H
#define VV_BASE_TEXT_NEAREST_H

#include <stddef.h>

/* The entry of the NULL-terminated list that is nearest to `word` (insertions, deletions,
 * replacements and swaps of neighbours); the first if several are equally near. NULL if more than a
 * third of the word would have to change. */
const char *vv_nearest(const char *word, const char *const *list);

#endif
