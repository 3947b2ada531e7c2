/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cache.c — a small cache with any bytes changed. The first byte of the input says how: odd,
 * the rest is the file;
 * otherwise the rest are edits of three bytes, two for the place and one for the bits to flip. Its
 * bit 1: nothing is verified that a large cache would not be; bit 2: the file is cut at the place
 * of the last edit.
 * The laws: what is verified is served as it was, or not at all; what is not leads nowhere
 * outside. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "../support/imported_bytes.h"
#include "../support/same_model.h"
#include "cache/cache.h"
#include "cache/layout.h"

#define FILE_BYTES_MAX (1u << 16)

static const char source_text[] =
    "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"cat\": \"cpu_op\", \"pid\": 1, "
    "\"tid\": 1, \"ts\": 1, \"dur\": 9, \"args\": {\"External id\": 3, \"Input Dims\": [[2, 3]], "
    "\"Input type\": [\"float\"], \"x\": \"text\", \"y\": {\"z\": 1}}},{\"ph\": \"X\", \"name\": "
    "\"k\", \"cat\": \"kernel\", \"pid\": 0, \"tid\": 7, \"ts\": 4, \"dur\": 2, \"args\": "
    "{\"External id\": 3, \"correlation\": 5, \"device\": 0, \"stream\": 7}},{\"ph\": \"C\", "
    "\"name\": \"c\", \"pid\": 1, \"tid\": 1, \"ts\": 5, \"args\": {\"v\": 2}},{\"ph\": \"i\", "
    "\"name\": \"m\", \"pid\": 1, \"tid\": 1, \"ts\": 6, \"args\": {\"x\": 1.5}},{\"ph\": \"s\", "
    "\"name\": \"f\", \"id\": 1, \"pid\": 1, \"tid\": 1, \"ts\": 2},{\"ph\": \"f\", \"name\": "
    "\"f\", \"id\": 1, \"bp\": \"e\", \"pid\": 0, \"tid\": 7, \"ts\": 4}], \"fact\": \"text\"}";

static char folder[64], source[96], kept[104];
static uint8_t whole[FILE_BYTES_MAX];
static size_t whole_bytes;
static struct vv_model *original;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_file(const char *path, const void *data, size_t size)
{
    /* cut after it, not before: its memory is used again */
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    imported_must(file >= 0 && write(file, data, size) == (ssize_t)size &&
                  ftruncate(file, (off_t)size) == 0);
    close(file);
}

static void remove_folder(void)
{
    vv_model_destroy(original);
    unlink(source);
    unlink(kept);
    rmdir(folder);
}

static struct vv_cache *cache_of_source(void)
{
    const char *paths[] = { source };
    struct vv_cache *cache = NULL;
    imported_must(vv_cache_create(paths, 1, &cache, NULL) == VARVE_OK);
    return cache;
}

static void make_cache(void)
{
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.32s/varve-fuzz-XXXXXX", where != NULL ? where : "/tmp");
    imported_must(mkdtemp(folder) != NULL);
    snprintf(source, sizeof source, "%s/t.json", folder);
    snprintf(kept, sizeof kept, "%s.vcache", source);
    setenv("XDG_CACHE_HOME", folder, 1);
    write_file(source, source_text, sizeof source_text - 1);
    struct vv_cache *cache = cache_of_source();
    imported_must(vv_import(source, &original, NULL) == VARVE_OK);
    imported_must(vv_cache_keep(cache, original, NULL, NULL) == VARVE_OK);
    vv_cache_destroy(cache);
    int file = open(kept, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, whole, sizeof whole);
    imported_must(got > 0 && got < (ssize_t)sizeof whole);
    close(file);
    whole_bytes = (size_t)got;
    atexit(remove_folder);
}

static void write_edited(const uint8_t *data, size_t size)
{
    static uint8_t edited[FILE_BYTES_MAX];
    size_t place = whole_bytes;
    memcpy(edited, whole, whole_bytes);
    for (size_t i = 1; i + 3 <= size; i += 3) {
        place = (data[i] + 256u * data[i + 1]) % whole_bytes;
        edited[place] ^= data[i + 2];
    }
    write_file(kept, edited, (data[0] & 4) != 0 ? place : whole_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (original == NULL)
        make_cache();
    if (size == 0)
        return 0;
    if ((data[0] & 1) != 0)
        write_file(kept, data + 1, size - 1);
    else
        write_edited(data, size);
    struct vv_cache *cache = cache_of_source();
    bool is_verified = (data[0] & 2) == 0;
    if (!is_verified)
        cache->verified_bytes = 0;
    struct vv_model *model = vv_cache_open(cache);
    if (model != NULL) {
        imported_look_at_references(model);
        imported_must(!is_verified || same_model(original, model));
    }
    vv_model_destroy(model);
    vv_cache_destroy(cache);
    return 0;
}
