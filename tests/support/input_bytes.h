/* SPDX-License-Identifier: Apache-2.0 */
/* input_bytes.h — how long a file is, and what it decompresses to: where a sentence may place an
 * error. */
#ifndef VARVE_TESTS_INPUT_BYTES_H
#define VARVE_TESTS_INPUT_BYTES_H

#include "import/input/source.h"
#include "sentence.h"

/* As far as the file decompresses. zstd gives a failing call's output back or not, as the sizes of
 * the calls fall: where the data is damaged, a reader may get a block more. */
#define BLOCK_BYTES_MAX (128u << 10)

static inline struct sentence_input input_bytes_of(const char *path)
{
    static char buffer[65536];
    struct vv_source *source = NULL;
    struct sentence_input input = { UINT64_MAX, UINT64_MAX, false };
    size_t got = 0;
    if (vv_source_open(path, &source, NULL) != VARVE_OK)
        return input;
    input.file_bytes = vv_source_disk_bytes(source);
    input.is_compressed = !vv_source_is_plain(source);
    input.plain_bytes = input.is_compressed ? 0 : input.file_bytes;
    enum varve_code code = VARVE_OK;
    while (input.is_compressed && code == VARVE_OK) {
        code = vv_source_read(source, buffer, sizeof buffer, &got, NULL);
        input.plain_bytes += code == VARVE_OK ? got : BLOCK_BYTES_MAX;
        if (got == 0)
            break;
    }
    vv_source_close(source);
    return input;
}

#endif
