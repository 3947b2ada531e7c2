/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_arguments.h — reads the plain values among an operator's arguments (ops.scalars in the
 * model): a JSON list of texts, one for each argument, "" for a tensor: ["","","[16,
 * 16]","False","1"]. Arguments are numbered from 0. Thread-safe. */
#ifndef VV_MEANING_SCALAR_ARGUMENTS_H
#define VV_MEANING_SCALAR_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Is argument `at` exactly `text`? */
bool vv_scalar_is(const char *list, int at, const char *text);
/* Argument `at`, which is a whole number; `standard` if it is none. */
int64_t vv_scalar_number(const char *list, int at, int64_t standard);
/* Item `item` of argument `at`, which is a list of numbers; `standard` if there is none. */
int64_t vv_scalar_item(const char *list, int at, uint32_t item, int64_t standard);
/* The same for a list of True and False. */
bool vv_scalar_flag(const char *list, int at, uint32_t item, bool standard);

#endif
