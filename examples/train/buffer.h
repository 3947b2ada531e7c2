/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h — arrays of floats whose lives are told to Varve.
 *
 * Everything that a step computes lies in buffers, so the trace shows which operator allocated
 * what, and how memory rises in the forward pass and falls in the backward one. Thread-safe. */
#ifndef TRAIN_BUFFER_H
#define TRAIN_BUFFER_H

#include <stddef.h>

/* `count` floats of unspecified value, aligned to 64 bytes. NULL = no memory. */
float *buffer_create(size_t count);
void buffer_destroy(float *buffer); /* NULL-safe */

#endif
