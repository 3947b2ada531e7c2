/* SPDX-License-Identifier: Apache-2.0 */
/* words.h — the words that PyTorch's trace files use for Varve's records. doc/chrome.md. */
#ifndef VV_EXPORT_CHROME_WORDS_H
#define VV_EXPORT_CHROME_WORDS_H

#include <stdint.h>

/* The event category of a layer (one VARVE_LAYER_ bit): "cpu_op", "user_annotation" … */
const char *vv_kineto_category(uint32_t layer);
/* PyTorch's current word for a category that it writes, or once wrote; write this word. NULL:
 * PyTorch never wrote the category. */
const char *vv_kineto_known(const char *category);
/* The name of a layer in doc/format.md: "OP" …; "" if it is not a single known bit. */
const char *vv_chrome_layer(uint32_t layer);
/* The name of an enum varve_dtype in PyTorch: "float", "c10::Half" …; "" if unknown. */
const char *vv_torch_dtype(uint32_t dtype);

#endif
