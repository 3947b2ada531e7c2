/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tar.c — any bytes as a tar archive: members whose content and headers add up to the archive,
 * or an error; and what is unpacked lies in its folder, as plain files without links. */
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "../support/input_bytes.h"
#include "../support/memory_file.h"
#include "import/archive/tar.h"
#include "import/archive/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT_BYTES (UINT64_C(4) << 20)

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The sum of content that was read. */
static uint64_t read_members(struct vv_tar *tar, enum varve_code *out_code,
                             struct varve_error *error)
{
    uint64_t content = 0;
    bool has = true;
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && has) {
        char buffer[1000];
        size_t got = 1;
        uint64_t before = content;
        code = vv_tar_next(tar, &has, error);
        if (code != VARVE_OK || !has)
            break;
        must(memchr(tar->member.path, '\0', sizeof tar->member.path) != NULL);
        while (code == VARVE_OK && got > 0) {
            code = vv_tar_read(tar, buffer, sizeof buffer, &got, error);
            content += code == VARVE_OK ? got : 0;
        }
        must(code != VARVE_OK || content - before == tar->member.bytes);
    }
    *out_code = code;
    return content;
}

static int look(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path;
    must(kind == FTW_D || kind == FTW_F);
    must(S_ISDIR(status->st_mode) || S_ISREG(status->st_mode));
    must(place->level <= VV_HOLDING_DEPTH);
    return 0;
}

static void unpack(const char *path)
{
    struct vv_source *source;
    struct vv_holding holding;
    struct varve_error error;
    bool is_cut;
    if (vv_source_open(path, &source, &error) != VARVE_OK)
        return;
    must(vv_holding_make(&holding, &error) == VARVE_OK);
    enum varve_code code = vv_unpack(&holding, source, "a.tgz", "0", &is_cut, &error);
    if (code != VARVE_OK)
        sentence_must_of(&error, code, input_bytes_of(path));
    must(nftw(holding.path, look, 16, FTW_PHYS) == 0);
    char *made = strdup(holding.path);
    vv_holding_remove(&holding);
    must(made == NULL || access(made, F_OK) != 0);
    free(made);
    vv_source_close(source);
}

/* Making files takes a hundred times as long as reading: one input of 16. */
static bool is_unpacked(const uint8_t *data, size_t size)
{
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += data[i];
    return sum % 16 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = memory_file(data, size);
    struct vv_source *source;
    struct varve_error error;
    struct vv_tar tar;
    enum varve_code code;
    if (vv_source_open(path, &source, &error) != VARVE_OK)
        return 0;
    vv_tar_init(&tar, source, LIMIT_BYTES);
    uint64_t content = read_members(&tar, &code, &error);
    must(content <= tar.offset && (!vv_source_is_plain(source) || tar.offset <= size));
    vv_source_close(source);
    if (is_unpacked(data, size))
        unpack(path);
    return 0;
}
