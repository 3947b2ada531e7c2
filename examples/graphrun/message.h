/* SPDX-License-Identifier: Apache-2.0 */
/* message.h — one line on standard error: what is wrong, where, and what to do. */
#ifndef GRAPHRUN_MESSAGE_H
#define GRAPHRUN_MESSAGE_H

#include <stdbool.h>

/* Prints "graphrun: " and the text. Returns false, so that `return refuse(…)` ends a function. */
__attribute__((format(printf, 1, 2))) bool refuse(const char *format, ...);

#endif
