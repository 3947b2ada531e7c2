/* SPDX-License-Identifier: Apache-2.0 */
/* words.h — the words of PyTorch's trace files for what our records say. doc/chrome.md. */
#ifndef VV_EXPORT_CHROME_WORDS_H
#define VV_EXPORT_CHROME_WORDS_H

#include <stdint.h>

/* A layer's (one VARVE_LAYER_ bit) event category: "cpu_op", "user_annotation" … */
const char *vv_kineto_category(uint32_t layer);
/* What PyTorch calls today what it calls, or once called, so: that is written with it. NULL: it never did. */
const char *vv_kineto_known(const char *category);
/* "OP" … as doc/format.md spells it; "" for no single known bit. */
const char *vv_chrome_layer(uint32_t layer);
/* An enum varve_dtype as PyTorch prints it: "float", "c10::Half" …; "" unknown. */
const char *vv_torch_dtype(uint32_t dtype);

#endif
