/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_packed.c — any bytes as a packed stream file. If the first byte is odd, the others are the
 * file; otherwise they are lengths and the columns of one block, which are compressed here, since
 * no mutation would pass zstd's checksum. Of the first byte, 2 says that these are the columns of
 * the second layout. Where the file is accepted, the laws are: it reads the same
 * in any order of reading, and what was read packs again to a file that compares equal. */
#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/sentence.h"
#include "ctf/pack/read.h"
#include "ctf/pack/write.h"

#define PLAIN_BYTES_MAX ((size_t)1 << 20)
#define LENGTHS_BYTES(columns) (2u * ((columns) + 1))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], packed_path[96], plain_path[96], again_path[96];

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        exit(1);
}

static void remove_folder(void)
{
    unlink(packed_path);
    unlink(plain_path);
    unlink(again_path);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/varve-fuzz-XXXXXX", where != NULL ? where : "/tmp");
    if (mkdtemp(folder) == NULL)
        exit(1);
    snprintf(packed_path, sizeof packed_path, "%s/packed", folder);
    snprintf(plain_path, sizeof plain_path, "%s/plain", folder);
    snprintf(again_path, sizeof again_path, "%s/again", folder);
    atexit(remove_folder);
}

/* The lengths are of two bytes: of the plain file, in words, then of each column. False in a build
 * without zstd, or where the lengths are not there. */
static bool write_columns(const uint8_t *data, size_t size, bool is_first_layout)
{
    const size_t count = is_first_layout ? VV_PACK_FIRST_COLUMNS : VV_PACK_COLUMNS;
    if (size < LENGTHS_BYTES(count))
        return false;
    struct vv_pack_codec codec = { 0 };
    struct vv_pack_bytes out = { 0 };
    struct vv_pack_block_header header = { { 0 } };
    struct vv_pack_file_header head = { .plain_bytes = htole64(8 * (data[0] + 256u * data[1])) };
    size_t at = LENGTHS_BYTES(count);
    for (size_t i = 0; i < count; i++) {
        size_t length = data[2 * i + 2] + 256u * data[2 * i + 3], before = out.count;
        length = length < size - at ? length : size - at;
        struct vv_pack_bytes column = { (uint8_t *)data + at, length, length };
        if (length > 0 && vv_pack_frame_write(&codec, &column, NULL, 0, &out, NULL) != VARVE_OK)
            return false;
        header.frame_bytes[i] = htole32((uint32_t)(out.count - before));
        at += length;
    }
    memcpy(head.magic, is_first_layout ? VV_PACK_FIRST_MAGIC : VV_PACK_MAGIC, sizeof head.magic);
    FILE *file = fopen(packed_path, "wb");
    if (file == NULL || fwrite(&head, sizeof head, 1, file) != 1 ||
        fwrite(&header, count * sizeof *header.frame_bytes, 1, file) != 1 ||
        (out.count > 0 && fwrite(out.data, 1, out.count, file) != out.count) ||
        fclose(file) != 0)
        exit(1);
    free(out.data);
    vv_pack_codec_deinit(&codec);
    return true;
}

static uint64_t file_bytes(void)
{
    struct stat about;
    return stat(packed_path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

/* Reads the plain bytes in windows of `step`, as far as the file is sound; NULL where it is not. */
static uint8_t *read_plain(struct vv_packed *packed, size_t bytes, size_t step)
{
    uint8_t *plain = malloc(bytes + 1);
    size_t got;
    if (plain == NULL)
        exit(1);
    for (size_t at = 0; at < bytes; at += step) {
        struct varve_error error;
        enum varve_code code = vv_packed_read(packed, at, plain + at,
                                              step < bytes - at ? step : bytes - at, &got, &error);
        if (code == VARVE_OK && got == (step < bytes - at ? step : bytes - at))
            continue;
        if (code == VARVE_OK)
            abort();
        sentence_must(&error, code, file_bytes());
        free(plain);
        return NULL;
    }
    return plain;
}

static void check_laws(const uint8_t *plain, size_t bytes)
{
    struct vv_packer packer = { 0 };
    uint64_t records, compared;
    write_file(plain_path, plain, bytes);
    unlink(again_path);
    if (vv_pack_stream(&packer, plain_path, again_path, NULL) != VARVE_OK ||
        vv_pack_compare(&packer, plain_path, again_path, &records, &compared, NULL) != VARVE_OK ||
        compared > bytes)
        abort();
    vv_packer_deinit(&packer);
}

static void read_both_ways(struct vv_packed *packed)
{
    size_t bytes = (size_t)vv_packed_plain_bytes(packed);
    uint8_t *fine = read_plain(packed, bytes, 80), *coarse = read_plain(packed, bytes, 65536);
    if ((fine == NULL) != (coarse == NULL) || (fine != NULL && memcmp(fine, coarse, bytes) != 0))
        abort();
    if (fine != NULL)
        check_laws(fine, bytes);
    free(fine);
    free(coarse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_packed *packed = NULL;
    if (folder[0] == '\0')
        make_folder();
    if (size == 0)
        return 0;
    if (data[0] % 2 != 0)
        write_file(packed_path, data + 1, size - 1);
    else if (!write_columns(data + 1, size - 1, (data[0] & 2) == 0))
        return 0;
    int file = open(packed_path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        exit(1);
    struct varve_error error;
    enum varve_code code = vv_packed_open(file, packed_path, &packed, &error);
    if (code != VARVE_OK)
        sentence_must(&error, code, file_bytes());
    else if (packed != NULL && vv_packed_plain_bytes(packed) <= PLAIN_BYTES_MAX)
        read_both_ways(packed);
    vv_packed_close(packed);
    close(file);
    return 0;
}
