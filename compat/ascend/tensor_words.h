/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_words.h — Ascend's numbers of types and formats of tensors. Thread-safe. */
#ifndef VARVE_COMPAT_TENSOR_WORDS_H
#define VARVE_COMPAT_TENSOR_WORDS_H

#include <stdint.h>

/* enum varve_dtype; VARVE_BITS for a type that Varve has no word for. */
uint32_t vv_tensor_dtype(uint32_t type);
/* "NCHW"; NULL = no word for it. The high bytes, of a sub-format, do not count. */
const char *vv_tensor_format(uint32_t format);

#endif
