/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/pack/read.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "ctf/pack/frame.h"
#include "decompress/place.h"

#define HEADER_BYTES sizeof(struct vv_pack_file_header)
#define NO_BLOCK SIZE_MAX

struct vv_packed {
    int descriptor;
    const char *path;
    uint64_t plain_bytes;
    uint64_t *places;  /* place of each block in the file, and of the end: block_count + 1        */
    size_t block_count;
    size_t loaded;     /* the block in memory; NO_BLOCK = none                                    */
    bool has_words;    /* … with its records, not only its headers                                */
    struct vv_pack_block block;
    struct vv_pack_codec codec;
    struct vv_pack_bytes frames;
    struct vv_told_place told;
};

uint64_t vv_packed_plain_bytes(const struct vv_packed *packed)
{
    return packed->plain_bytes;
}

uint64_t vv_packed_record_count(const struct vv_packed *packed)
{
    return packed->block.record_count;
}

bool vv_packed_begins(const char magic[8])
{
    return memcmp(magic, VV_PACK_MAGIC, 8) == 0 || memcmp(magic, VV_PACK_FIRST_MAGIC, 8) == 0;
}

static size_t column_count(const struct vv_packed *packed)
{
    return packed->block.is_first_layout ? VV_PACK_FIRST_COLUMNS : VV_PACK_COLUMNS;
}

static size_t block_header_bytes(const struct vv_packed *packed)
{
    return column_count(packed) * sizeof(uint32_t);
}

static size_t block_plain_bytes(const struct vv_packed *packed, size_t index)
{
    uint64_t left = packed->plain_bytes - (uint64_t)index * VV_PACK_BLOCK_BYTES;
    return left < VV_PACK_BLOCK_BYTES ? (size_t)left : VV_PACK_BLOCK_BYTES;
}

/* ---- the file ---- */

static enum varve_code fail_cut(const struct vv_packed *packed, uint64_t offset,
                                struct varve_error *error)
{
    return vv_fail_at(error, VARVE_TRUNCATED, offset, "'%s': this packed stream is cut off",
                      packed->path);
}

/* VARVE_TRUNCATED if the file has fewer bytes. */
static enum varve_code read_exactly(const struct vv_packed *packed, uint64_t offset, void *buffer,
                                    size_t bytes, struct varve_error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(packed->descriptor, (char *)buffer + done, bytes - done,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", packed->path);
        if (got == 0)
            return fail_cut(packed, offset + done, error);
        done += (size_t)got;
    }
    return VARVE_OK;
}

/* Adds the size of a block's header and frames; the block begins at `place`. */
static enum varve_code measure_block(const struct vv_packed *packed, size_t index, uint64_t place,
                                     uint64_t *out_end, struct varve_error *error)
{
    struct vv_pack_block_header header;
    size_t plain_bytes = block_plain_bytes(packed, index);
    VV_TRY(read_exactly(packed, place, &header, block_header_bytes(packed), error));
    uint64_t end = place + block_header_bytes(packed);
    for (size_t i = 0; i < column_count(packed); i++) {
        uint32_t bytes = le32toh(header.frame_bytes[i]);
        if (bytes > vv_pack_frame_limit(vv_pack_column_limit((enum vv_pack_column)i, plain_bytes)))
            return vv_fail_at(error, VARVE_CORRUPT, place + 4 * i,
                              "'%s': a frame of %u bytes in a block of %zu makes no sense",
                              packed->path, bytes, plain_bytes);
        end += bytes;
    }
    *out_end = end;
    return VARVE_OK;
}

static enum varve_code find_blocks(struct vv_packed *packed, uint64_t file_bytes,
                                   struct varve_error *error)
{
    uint64_t count = packed->plain_bytes / VV_PACK_BLOCK_BYTES +
                     (packed->plain_bytes % VV_PACK_BLOCK_BYTES != 0);
    uint64_t limit = (file_bytes - HEADER_BYTES) / block_header_bytes(packed);
    if (packed->plain_bytes > INT64_MAX || count > limit)
        return fail_cut(packed, file_bytes, error);
    size_t capacity = 0;
    VV_TRY(vv_array_reserve(&packed->places, &capacity, (size_t)count + 1, sizeof *packed->places,
                            error));
    packed->places[0] = HEADER_BYTES;
    packed->block_count = (size_t)count;
    for (size_t i = 0; i < packed->block_count; i++) {
        VV_TRY(measure_block(packed, i, packed->places[i], &packed->places[i + 1], error));
        if (packed->places[i + 1] > file_bytes)
            return fail_cut(packed, file_bytes, error);
    }
    uint64_t end = packed->places[packed->block_count];
    if (end < file_bytes)
        return vv_fail_at(error, VARVE_CORRUPT, end,
                          "'%s': something follows the last block of this packed stream",
                          packed->path);
    return VARVE_OK;
}

/* ---- one block ---- */

/* Reads and decompresses the frames of columns first .. last, all of which the layout has. */
static enum varve_code load_columns(struct vv_packed *packed, enum vv_pack_column first,
                                    enum vv_pack_column last, struct varve_error *error)
{
    struct vv_pack_block_header header;
    size_t plain_bytes = block_plain_bytes(packed, packed->loaded), bytes = 0;
    uint64_t place = packed->places[packed->loaded];
    VV_TRY(read_exactly(packed, place, &header, block_header_bytes(packed), error));
    place += block_header_bytes(packed);
    for (size_t i = 0; i < first; i++)
        place += le32toh(header.frame_bytes[i]);
    for (size_t i = first; i <= last; i++)
        bytes += le32toh(header.frame_bytes[i]);
    if (bytes > packed->places[packed->loaded + 1] - place)
        return vv_fail_at(error, VARVE_CORRUPT, place,
                          "'%s': the file has changed while it was read", packed->path);
    VV_TRY(vv_array_reserve(&packed->frames.data, &packed->frames.capacity, bytes + 1, 1, error));
    VV_TRY(read_exactly(packed, place, packed->frames.data, bytes, error));
    const uint8_t *frame = packed->frames.data;
    for (size_t i = first; i <= last; i++) {
        size_t length = le32toh(header.frame_bytes[i]);
        struct vv_pack_bytes *column = &packed->block.columns[i];
        column->count = 0;
        if (length > 0)
            VV_TRY(vv_pack_frame_read(&packed->codec, frame, length,
                                      vv_pack_column_limit((enum vv_pack_column)i, plain_bytes),
                                      column, error));
        frame += length;
    }
    return VARVE_OK;
}

static enum varve_code load_outline(struct vv_packed *packed, struct varve_error *error)
{
    size_t plain_bytes = block_plain_bytes(packed, packed->loaded);
    VV_TRY(vv_pack_block_reset(&packed->block, plain_bytes, error));
    packed->block.plain_bytes = plain_bytes;
    VV_TRY(load_columns(packed, VV_PACK_RUNS, VV_PACK_RAW, error));
    return vv_pack_block_outline(&packed->block, error);
}

static enum varve_code load_words(struct vv_packed *packed, struct varve_error *error)
{
    const enum vv_pack_column last = (enum vv_pack_column)(column_count(packed) - 1);
    VV_TRY(load_columns(packed, VV_PACK_IDS, last, error));
    return vv_pack_block_join(&packed->block, error);
}

/* After a failure no block is loaded. The message names a faulty block by its begin. */
static enum varve_code load_block(struct vv_packed *packed, size_t index, bool with_words,
                                  struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    struct varve_error why = { .offset = VARVE_ERROR_NO_OFFSET };
    if (packed->loaded != index) {
        packed->has_words = false;
        packed->loaded = index;
        code = load_outline(packed, &why);
    }
    if (code == VARVE_OK && with_words && !packed->has_words) {
        code = load_words(packed, &why);
        packed->has_words = code == VARVE_OK;
    }
    if (code == VARVE_OK)
        return VARVE_OK;
    packed->loaded = NO_BLOCK;
    if (code == VARVE_CORRUPT && why.offset == VARVE_ERROR_NO_OFFSET)
        return vv_fail_at(error, code, packed->places[index],
                          "'%s': this packed stream is damaged: %s", packed->path, why.message);
    if (code == VARVE_UNSUPPORTED || code == VARVE_NO_MEMORY)
        vv_error_note(&why, "cannot read '%s'", packed->path);
    if (error != NULL)
        *error = why;
    return code;
}

enum varve_code vv_packed_read(struct vv_packed *packed, uint64_t offset, void *buffer,
                               size_t bytes, size_t *out_bytes, struct varve_error *error)
{
    size_t done = 0;
    while (done < bytes && offset + done < packed->plain_bytes) {
        size_t index = (size_t)((offset + done) / VV_PACK_BLOCK_BYTES);
        size_t begin = (size_t)((offset + done) % VV_PACK_BLOCK_BYTES);
        size_t left = block_plain_bytes(packed, index) - begin;
        size_t count = bytes - done < left ? bytes - done : left;
        enum varve_code code = load_block(packed, index, false, error);
        if (code == VARVE_OK && !packed->has_words &&
            vv_pack_block_has_words(&packed->block, begin, begin + count))
            code = load_block(packed, index, true, error);
        if (code != VARVE_OK)
            return vv_place_told(&packed->told, code, error);
        memcpy((char *)buffer + done, packed->block.plain + begin, count);
        done += count;
    }
    *out_bytes = done;
    return VARVE_OK;
}

enum varve_code vv_packed_place(struct vv_packed *packed, enum varve_code code,
                                struct varve_error *error)
{
    return packed == NULL ? code : vv_place_inside(&packed->told, code, error);
}

/* ---- opening and closing ---- */

/* Loads the last block first: that confirms the plain size of the file. */
static enum varve_code open_file(struct vv_packed *packed, const struct vv_pack_file_header *header,
                                 struct varve_error *error)
{
    struct stat status;
    packed->plain_bytes = le64toh(header->plain_bytes);
    if (fstat(packed->descriptor, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", packed->path);
    if ((uint64_t)status.st_size < HEADER_BYTES)
        return fail_cut(packed, (uint64_t)status.st_size, error);
    VV_TRY(find_blocks(packed, (uint64_t)status.st_size, error));
    return packed->block_count == 0 ? VARVE_OK
                                    : load_block(packed, packed->block_count - 1, false, error);
}

enum varve_code vv_packed_open(int descriptor, const char *path, struct vv_packed **out_packed,
                               struct varve_error *error)
{
    struct vv_pack_file_header header;
    ssize_t got;
    *out_packed = NULL;
    do
        got = pread(descriptor, &header, sizeof header, 0);
    while (got < 0 && errno == EINTR);
    if (got < (ssize_t)sizeof header.magic || !vv_packed_begins(header.magic))
        return VARVE_OK;
    struct vv_packed *packed = calloc(1, sizeof *packed);
    if (packed == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", path);
    packed->descriptor = descriptor;
    packed->path = path;
    packed->block.is_first_layout =
        memcmp(header.magic, VV_PACK_FIRST_MAGIC, sizeof header.magic) == 0;
    packed->loaded = NO_BLOCK;
    enum varve_code code = got < (ssize_t)sizeof header
                               ? fail_cut(packed, (uint64_t)got, error)
                               : open_file(packed, &header, error);
    if (code != VARVE_OK) {
        vv_packed_close(packed);
        return code;
    }
    *out_packed = packed;
    return VARVE_OK;
}

void vv_packed_close(struct vv_packed *packed)
{
    if (packed == NULL)
        return;
    vv_pack_block_deinit(&packed->block);
    vv_pack_codec_deinit(&packed->codec);
    free(packed->frames.data);
    free(packed->places);
    free(packed);
}
