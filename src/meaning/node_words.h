/* SPDX-License-Identifier: Apache-2.0 */
/* node_words.h — what types of tasks and of data are called. Thread-safe. */
#ifndef VV_MEANING_NODE_WORDS_H
#define VV_MEANING_NODE_WORDS_H

#include <stdint.h>

/* msprof's words for its task types: "AI_CORE"; "" for none. */
const char *vv_task_type_text(uint32_t task_type);
/* "f32"; "" for a dtype that is not known. */
const char *vv_dtype_text(uint32_t dtype);

#endif
