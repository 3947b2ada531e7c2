/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_bytes.h — text in memory read as a trace in Chrome's format, whatever it looks like, by
 * any number of parts. */
#ifndef VARVE_TESTS_CHROME_BYTES_H
#define VARVE_TESTS_CHROME_BYTES_H

#include <stdbool.h>
#include <stdlib.h>

#include "import/chrome/parts.h"
#include "import/rows/producer_words.h"
#include "input_bytes.h"
#include "memory_file.h"

#define CHROME_MEMORY_BYTES (UINT64_C(512) << 20)

/* One input of 16 is read by several threads too: starting those takes longer than reading. */
static inline bool chrome_is_for_threads(const void *text, size_t bytes)
{
    const unsigned char *at = text;
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum += at[i];
    return sum % 16 == 0;
}

/* The finished model; it must be destroyed also if this fails. */
static inline enum varve_code chrome_bytes(const void *text, size_t bytes, unsigned parts,
                                           struct vv_model **out_model, struct varve_error *error)
{
    static const struct vv_import_options options = { 0 };
    struct vv_source *source = NULL;
    if (vv_model_create(out_model, NULL) != VARVE_OK)
        abort();
    (*out_model)->limit_bytes = CHROME_MEMORY_BYTES;
    enum varve_code code = vv_source_open(memory_file(text, bytes), &source, error);
    struct vv_import_job job = { "trace", source, *out_model, 0, &options, NULL, NULL };
    if (code == VARVE_OK)
        code = vv_chrome_read_parts(&job, parts, error);
    if (code == VARVE_OK)
        code = vv_words_to_columns(*out_model, error);
    if (code == VARVE_OK)
        code = vv_model_finish(*out_model, error);
    if (code != VARVE_OK && error != NULL)
        sentence_must_of(error, code, input_bytes_of(memory_file(text, bytes)));
    vv_source_close(source);
    return code;
}

#endif
