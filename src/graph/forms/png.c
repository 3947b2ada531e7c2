/* SPDX-License-Identifier: Apache-2.0 */
/* png.c — a graph as a PNG picture: what librsvg draws of the SVG, with the graph's JSON in a chunk
 * iTXt "varve-graph", so that the picture can be read again. A theme that follows the reader is
 * light. */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/forms/librsvg.h"
#include "graph/forms/svg.h"

#define PIXELS_MOST 60000000 /* 240 MB of memory while it is drawn                              */
#define SIDE_MOST 32000      /* cairo's limit is 32767                                          */
#define HEAD_BYTES 33        /* the magic, and IHDR                                             */
#define CHUNK "iTXt" "varve-graph\0\0\0\0\0" /* not compressed, no language, no translated key    */

struct writer {
    FILE *stream;
    const char *chunk; /* kind and data                                                         */
    size_t chunk_bytes;
    uint64_t written;
};

/* Of PNG: the CRC of zlib. */
static uint32_t crc_of(const char *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX, table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (size_t i = 0; i < count; i++)
        crc = table[(crc ^ (unsigned char)bytes[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static void put_number(uint32_t number, FILE *stream)
{
    number = htobe32(number);
    fwrite(&number, 1, sizeof number, stream);
}

static void put_chunk(const struct writer *writer)
{
    put_number((uint32_t)(writer->chunk_bytes - 4), writer->stream);
    fwrite(writer->chunk, 1, writer->chunk_bytes, writer->stream);
    put_number(crc_of(writer->chunk, writer->chunk_bytes), writer->stream);
}

/* The chunk goes between IHDR and all others. */
static int take(void *closure, const unsigned char *bytes, unsigned count)
{
    struct writer *writer = closure;
    uint64_t left = writer->written < HEAD_BYTES ? HEAD_BYTES - writer->written : 0;
    size_t first = left < count ? (size_t)left : count;
    fwrite(bytes, 1, first, writer->stream);
    if (left > 0 && first == left)
        put_chunk(writer);
    fwrite(bytes + first, 1, count - first, writer->stream);
    writer->written += count;
    return 0;
}

static enum varve_code close_text(FILE *memory, enum varve_code code, struct varve_error *error)
{
    if (fclose(memory) != 0 && code == VARVE_OK)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the text of a picture");
    return code;
}

/* Twice as large, as screens of many points have it, or as large as it is. */
static enum varve_code choose_scale(struct vv_png_job *job, struct varve_error *error)
{
    for (job->scale = 2; job->scale > 0; job->scale--) {
        int64_t width = (int64_t)job->width * job->scale;
        int64_t height = (int64_t)job->height * job->scale;
        if (width <= SIDE_MOST && height <= SIDE_MOST && width * height <= PIXELS_MOST)
            return VARVE_OK;
    }
    VV_FAIL_SAID(error, VARVE_LIMIT,
                 "a PNG of %d x %d pixels is too large: write .svg or .html, or show fewer nodes "
                 "(--top 100)",
                 job->width, job->height);
}

static enum varve_code draw(const struct vv_dag *dag, const char *svg, size_t length,
                            FILE *stream, struct varve_error *error)
{
    struct writer writer = { .stream = stream };
    struct vv_png_job job = { .svg = svg, .length = length, .take = take, .closure = &writer };
    char *chunk = NULL;
    if (!vv_svg_size(svg, &job.width, &job.height))
        VV_FAIL(error, VARVE_UNSUPPORTED, "the picture has no size");
    VV_TRY(choose_scale(&job, error));
    FILE *memory = open_memstream(&chunk, &writer.chunk_bytes);
    if (memory == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the data of a graph");
    fwrite(CHUNK, 1, sizeof CHUNK - 1, memory);
    enum varve_code code =
        close_text(memory, vv_form_put_json(dag, false, memory, error), error);
    writer.chunk = chunk;
    if (code == VARVE_OK && writer.chunk_bytes > INT32_MAX)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_LIMIT,
                                    "the data of this graph are too large for a PNG: write .svg "
                                    "or .html"));
    if (code == VARVE_OK)
        code = vv_librsvg_draw(&job, error);
    free(chunk);
    return code;
}

static enum varve_code write_png(const struct vv_dag *dag, const struct vv_picture *picture,
                                 FILE *stream, struct varve_error *error)
{
    char *svg = NULL;
    size_t length = 0;
    VV_TRY(vv_librsvg_open(error));
    FILE *memory = open_memstream(&svg, &length);
    if (memory == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the text of a picture");
    enum varve_code code =
        close_text(memory, vv_svg_write(dag, picture, false, memory, error), error);
    if (code == VARVE_OK)
        code = draw(dag, svg, length, stream, error);
    free(svg);
    return code;
}

const struct vv_form vv_form_png = {
    .is_still = true,
    .name = "png",
    .extension = ".png",
    .title = "a picture, drawn by librsvg",
    .write = write_png,
    .is_binary = true,
    .find = vv_librsvg_open,
};
