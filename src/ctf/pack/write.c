/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/pack/write.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "ctf/pack/read.h"
#include "ctf/record_length.h"
#include "ctf/stream_file.h"
#include "sheet/number.h"

#define CHUNK_BYTES 65536u
#define PAGE_BYTES 4096u

void vv_packer_deinit(struct vv_packer *packer)
{
    if (packer == NULL)
        return;
    vv_pack_block_deinit(&packer->block);
    vv_pack_codec_deinit(&packer->codec);
    free(packer->frames.data);
    packer->frames = (struct vv_pack_bytes){ 0 };
}

static enum varve_code check_stop(const struct vv_packer *packer, struct varve_error *error)
{
    if (packer->stop != NULL && *packer->stop != 0)
        VV_FAIL(error, VARVE_STATE, "stopped by a signal: the trace is as it was");
    return VARVE_OK;
}

/* ---- files ---- */

static enum varve_code open_old(const char *path, int *out_file, struct varve_error *error)
{
    *out_file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return *out_file >= 0 ? VARVE_OK : vv_fail_errno(error, errno, "cannot read '%s'", path);
}

static enum varve_code open_new(const char *path, int *out_file, struct varve_error *error)
{
    *out_file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return *out_file >= 0 ? VARVE_OK : vv_fail_errno(error, errno, "cannot make '%s'", path);
}

static void close_file(int file)
{
    if (file >= 0)
        close(file);
}

static enum varve_code write_all(int file, const char *path, const void *data, size_t bytes,
                                 struct varve_error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = write(file, (const char *)data + done, bytes - done);
        if (wrote < 0 && errno != EINTR)
            return vv_fail_errno(error, errno, "cannot write '%s'", path);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return VARVE_OK;
}

enum varve_code vv_pack_fail_size(const char *path, uint64_t bytes, struct varve_error *error)
{
    char is[VV_NUMBER_BYTES], limit[VV_NUMBER_BYTES];
    vv_number_bytes((int64_t)bytes, is, sizeof is);
    vv_number_bytes((int64_t)VV_STREAM_FILE_BYTES_MAX, limit, sizeof limit);
    VV_FAIL(error, VARVE_LIMIT,
            "'%s' has %s, and varve writes none beyond %s: somebody has made it longer. varve info "
            "says "
            "what is wrong with it",
            path, is, limit);
}

/* ---- a plain stream file, run by run ---- */

struct plain {
    int file;
    const char *path;
    uint64_t size_bytes, offset;
    uint64_t header_end, records_end, packet_end; /* of the packet that holds `offset`           */
};

static enum varve_code open_plain(const char *path, struct plain *out_plain,
                                  struct varve_error *error)
{
    struct stat status;
    *out_plain = (struct plain){ .path = path };
    VV_TRY(open_old(path, &out_plain->file, error));
    if (fstat(out_plain->file, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", path);
    out_plain->size_bytes = (uint64_t)status.st_size;
    return VARVE_OK;
}

/* From the first bytes that are no packet, all bytes are kept unchanged up to the file's end. */
static void enter_packet(struct plain *plain)
{
    struct vv_packet_header header;
    uint64_t left = plain->size_bytes - plain->offset;
    plain->header_end = plain->records_end = plain->packet_end = plain->size_bytes;
    if (!vv_stream_file_packet(plain->file, plain->offset, &header))
        return;
    plain->header_end = plain->offset + sizeof header;
    uint64_t records_bytes = header.content_bits / 8 + vv_hidden_bytes(&header);
    if (records_bytes < left)
        plain->records_end = plain->offset + records_bytes;
    if (header.packet_bits / 8 < left)
        plain->packet_end = plain->offset + header.packet_bits / 8;
}

/* Returns how many bytes at the offset are of one kind, at most `room`; 0 at the file's end. The
 * caller moves the offset. */
static size_t next_run_bytes(struct plain *plain, size_t room, enum vv_run_kind *out_kind)
{
    if (plain->offset >= plain->size_bytes)
        return 0;
    if (plain->offset >= plain->packet_end)
        enter_packet(plain);
    uint64_t end = plain->packet_end;
    *out_kind = VV_RUN_ZERO;
    if (plain->offset < plain->header_end) {
        end = plain->header_end;
        *out_kind = VV_RUN_RAW;
    } else if (plain->offset < plain->records_end) {
        end = plain->records_end;
        *out_kind = VV_RUN_WORDS;
    }
    size_t bytes = end - plain->offset < room ? (size_t)(end - plain->offset) : room;
    if (*out_kind == VV_RUN_WORDS && bytes < 8)
        *out_kind = VV_RUN_RAW;
    return *out_kind == VV_RUN_WORDS ? bytes & ~(size_t)7 : bytes;
}

static enum varve_code read_plain(const struct plain *plain, void *buffer, size_t bytes,
                                  struct varve_error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(plain->file, (char *)buffer + done, bytes - done,
                            (off_t)(plain->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", plain->path);
        if (got == 0)
            return vv_fail_at(error, VARVE_TRUNCATED, plain->offset + done,
                              "'%s' has become shorter while it was read", plain->path);
        done += (size_t)got;
    }
    return VARVE_OK;
}

/* ---- packing ---- */

static enum varve_code fill_block(struct vv_pack_block *block, struct plain *plain,
                                  struct varve_error *error)
{
    enum vv_run_kind kind;
    size_t bytes;
    uint64_t left = plain->size_bytes - plain->offset;
    size_t room = left < VV_PACK_BLOCK_BYTES ? (size_t)left : VV_PACK_BLOCK_BYTES;
    VV_TRY(vv_pack_block_reset(block, room, error));
    while ((bytes = next_run_bytes(plain, room - block->plain_bytes, &kind)) > 0) {
        if (kind != VV_RUN_ZERO)
            VV_TRY(read_plain(plain, block->plain + block->plain_bytes, bytes, error));
        VV_TRY(vv_pack_block_add(block, kind, bytes, error));
        plain->offset += bytes;
    }
    return vv_pack_block_split(block, error);
}

static enum varve_code compress_block(struct vv_packer *packer, struct varve_error *error)
{
    struct vv_pack_block_header header = { { 0 } };
    struct vv_pack_bytes *frames = &packer->frames;
    VV_TRY(vv_array_reserve(&frames->data, &frames->capacity, sizeof header, 1, error));
    frames->count = sizeof header;
    for (size_t i = 0; i < VV_PACK_COLUMNS; i++) {
        const struct vv_pack_bytes *column = &packer->block.columns[i];
        size_t before = frames->count, cuts = i == VV_PACK_TICKS ? packer->block.cut_count : 0;
        if (column->count > 0)
            VV_TRY(vv_pack_frame_write(&packer->codec, column, packer->block.cuts, cuts, frames,
                                       error));
        header.frame_bytes[i] = htole32((uint32_t)(frames->count - before));
    }
    memcpy(frames->data, &header, sizeof header);
    return VARVE_OK;
}

static enum varve_code pack_blocks(struct vv_packer *packer, struct plain *plain, int out,
                                   const char *path, struct varve_error *error)
{
    struct vv_pack_file_header header = { .plain_bytes = htole64(plain->size_bytes) };
    memcpy(header.magic, VV_PACK_MAGIC, sizeof header.magic);
    VV_TRY(write_all(out, path, &header, sizeof header, error));
    while (plain->offset < plain->size_bytes) {
        VV_TRY(check_stop(packer, error));
        VV_TRY(fill_block(&packer->block, plain, error));
        VV_TRY(compress_block(packer, error));
        VV_TRY(write_all(out, path, packer->frames.data, packer->frames.count, error));
    }
    return VARVE_OK;
}

enum varve_code vv_pack_stream(struct vv_packer *packer, const char *plain_path,
                               const char *packed_path, struct varve_error *error)
{
    struct plain plain = { .file = -1 };
    int out = -1;
    enum varve_code code = open_plain(plain_path, &plain, error);
    if (code == VARVE_OK)
        code = open_new(packed_path, &out, error);
    if (code == VARVE_OK)
        code = pack_blocks(packer, &plain, out, packed_path, error);
    close_file(out);
    close_file(plain.file);
    return code;
}

/* ---- unpacking ---- */

static enum varve_code open_packed(const char *path, int *out_file, struct vv_packed **out_packed,
                                   struct varve_error *error)
{
    *out_packed = NULL;
    VV_TRY(open_old(path, out_file, error));
    VV_TRY(vv_packed_open(*out_file, path, out_packed, error));
    if (*out_packed == NULL)
        VV_FAIL(error, VARVE_UNSUPPORTED, "'%s' is not a packed stream", path);
    return VARVE_OK;
}

/* Pages of zeros are not written: they stay a hole. */
static enum varve_code write_page(int file, const char *path, const uint8_t *page, size_t bytes,
                                  struct varve_error *error)
{
    if (page[0] != 0 || memcmp(page, page + 1, bytes - 1) != 0)
        return write_all(file, path, page, bytes, error);
    return lseek(file, (off_t)bytes, SEEK_CUR) >= 0
               ? VARVE_OK
               : vv_fail_errno(error, errno, "cannot write '%s'", path);
}

static enum varve_code unpack_bytes(const struct vv_packer *packer, struct vv_packed *packed,
                                    int out, const char *path, struct varve_error *error)
{
    uint64_t size_bytes = vv_packed_plain_bytes(packed);
    uint8_t chunk[CHUNK_BYTES];
    size_t bytes;
    if (size_bytes > VV_STREAM_FILE_BYTES_MAX)
        return vv_pack_fail_size(path, size_bytes, error);
    for (uint64_t offset = 0; offset < size_bytes; offset += bytes) {
        VV_TRY(check_stop(packer, error));
        VV_TRY(vv_packed_read(packed, offset, chunk, sizeof chunk, &bytes, error));
        for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
            size_t page = bytes - at < PAGE_BYTES ? bytes - at : PAGE_BYTES;
            VV_TRY(write_page(out, path, chunk + at, page, error));
        }
    }
    return ftruncate(out, (off_t)size_bytes) == 0
               ? VARVE_OK
               : vv_fail_errno(error, errno, "cannot write '%s'", path);
}

enum varve_code vv_unpack_stream(const struct vv_packer *packer, const char *packed_path,
                                 const char *plain_path, struct varve_error *error)
{
    struct vv_packed *packed = NULL;
    int file = -1, out = -1;
    enum varve_code code = open_packed(packed_path, &file, &packed, error);
    if (code == VARVE_OK)
        code = open_new(plain_path, &out, error);
    if (code == VARVE_OK)
        code = unpack_bytes(packer, packed, out, plain_path, error);
    close_file(out);
    vv_packed_close(packed);
    close_file(file);
    return code;
}

/* ---- comparing ---- */

static enum varve_code compare_bytes(const struct vv_packer *packer, struct plain *plain,
                                     struct vv_packed *packed, uint64_t *out_bytes,
                                     struct varve_error *error)
{
    uint8_t left[CHUNK_BYTES], right[CHUNK_BYTES];
    enum vv_run_kind kind;
    size_t bytes, got;
    uint64_t compared = 0;
    while ((bytes = next_run_bytes(plain, CHUNK_BYTES, &kind)) > 0) {
        VV_TRY(check_stop(packer, error));
        if (kind != VV_RUN_ZERO) {
            VV_TRY(read_plain(plain, left, bytes, error));
            VV_TRY(vv_packed_read(packed, plain->offset, right, bytes, &got, error));
            if (got != bytes || memcmp(left, right, bytes) != 0)
                return vv_fail_at(error, VARVE_INTERNAL, plain->offset,
                                  "'%s' and its packed form differ", plain->path);
            compared += bytes;
        }
        plain->offset += bytes;
    }
    *out_bytes = compared;
    return VARVE_OK;
}

enum varve_code vv_pack_compare(const struct vv_packer *packer, const char *plain_path,
                                const char *packed_path, uint64_t *out_records, uint64_t *out_bytes,
                                struct varve_error *error)
{
    struct plain plain = { .file = -1 };
    struct vv_packed *packed = NULL;
    int file = -1;
    enum varve_code code = open_plain(plain_path, &plain, error);
    if (code == VARVE_OK)
        code = open_packed(packed_path, &file, &packed, error);
    if (code == VARVE_OK && vv_packed_plain_bytes(packed) != plain.size_bytes)
        code =
            vv_fail(error, VARVE_INTERNAL, "'%s' and its packed form differ in size", plain_path);
    if (code == VARVE_OK)
        code = compare_bytes(packer, &plain, packed, out_bytes, error);
    if (code == VARVE_OK)
        *out_records = vv_packed_record_count(packed);
    vv_packed_close(packed);
    close_file(file);
    close_file(plain.file);
    return code;
}
