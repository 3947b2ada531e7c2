/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_arguments.h — the plain values among an operator's arguments (ops.scalars of the model): a JSON list of texts, one an
 * argument, "" where it is a tensor: ["","","[16, 16]","False","1"]. Numbers are counted from 0. Thread-safe. */
#ifndef VV_MEANING_SCALAR_ARGUMENTS_H
#define VV_MEANING_SCALAR_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Is argument `at` written exactly so? */
bool vv_scalar_is(const char *list, int at, const char *text);
/* Number `item` of the list of numbers that argument `at` is; `standard` where there is none. */
int64_t vv_scalar_item(const char *list, int at, uint32_t item, int64_t standard);
/* The same of a list of True and False. */
bool vv_scalar_flag(const char *list, int at, uint32_t item, bool standard);

#endif
