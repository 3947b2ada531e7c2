/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c — finds the cache that belongs to some files: its names, and the fingerprints that it
 * must have. */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/folder.h"
#include "cache/layout.h"

#define SAMPLE_BYTES 65536u
#define SAMPLE_COUNT 16u
#define VERIFIED_BYTES (UINT64_C(256) << 20)
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* Uses four lanes, so that multiplications overlap. Each step is a bijection of its lane, so a
 * change of a single word always changes the sum. */
uint64_t vv_cache_checksum(const void *data, uint64_t bytes, uint64_t seed)
{
    const unsigned char *at = data;
    uint64_t a = seed ^ bytes, b = seed + 1, c = seed + 2, d = seed + 3, words[4];
    uint64_t rest = bytes;
    for (; rest >= sizeof words; rest -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        a = (a ^ words[0]) * MULTIPLIER;
        b = (b ^ words[1]) * MULTIPLIER;
        c = (c ^ words[2]) * MULTIPLIER;
        d = (d ^ words[3]) * MULTIPLIER;
    }
    memset(words, 0, sizeof words);
    if (rest > 0)
        memcpy(words, at, rest);
    const uint64_t ends[] = { a, b, c, d };
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum = (sum ^ ends[i] ^ ends[i] >> 29) * MULTIPLIER;
        sum = (sum ^ words[i] ^ sum >> 32) * MULTIPLIER;
    }
    return sum ^ sum >> 32;
}

uint64_t vv_cache_shape(void)
{
    uint64_t shape = vv_cache_checksum("shape", 5, sizeof(struct vv_cache_head));
    for (size_t table = 0; table < VV_TABLE_COUNT; table++) {
        const struct vv_model_table *row = &vv_model_tables[table];
        shape = vv_cache_checksum(row->name, strlen(row->name), shape);
        for (size_t i = 0; i < row->column_count; i++)
            shape = vv_cache_checksum(row->columns[i].name, strlen(row->columns[i].name),
                                      shape + row->columns[i].width_bytes);
    }
    return shape;
}

/* Identifies this build of varve: another build may read a source differently. */
uint64_t vv_cache_program(void)
{
    struct stat status;
    if (stat("/proc/self/exe", &status) != 0)
        return 0;
    const int64_t is[] = { status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec };
    return vv_cache_checksum(is, sizeof is, 0);
}

/* Samples 64 KiB at 16 places, evenly from the first byte to the last. That is the whole file if it
 * has up to 1 MiB. */
static bool sample(int file, uint64_t size, uint64_t *sum)
{
    char buffer[SAMPLE_BYTES];
    uint64_t last = size > SAMPLE_BYTES ? size - SAMPLE_BYTES : 0;
    for (uint64_t i = 0; i < SAMPLE_COUNT; i++) {
        uint64_t offset = size <= SAMPLE_BYTES * SAMPLE_COUNT ? i * SAMPLE_BYTES
                                                              : last / (SAMPLE_COUNT - 1) * i;
        if (i == SAMPLE_COUNT - 1 && size > SAMPLE_BYTES * SAMPLE_COUNT)
            offset = last;
        if (offset >= size)
            break;
        ssize_t got = pread(file, buffer, sizeof buffer, (off_t)offset);
        if (got <= 0)
            return false;
        *sum = vv_cache_checksum(buffer, (uint64_t)got, *sum);
    }
    return true;
}

bool vv_cache_fingerprint(char *const *paths, size_t count, uint64_t *out_source,
                          uint64_t *out_bytes)
{
    uint64_t sum = count;
    *out_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        int file = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        bool is_good = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
        if (is_good) {
            const int64_t is[] = { status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                                   status.st_ctim.tv_sec, status.st_ctim.tv_nsec };
            sum = vv_cache_checksum(is, sizeof is, sum);
            is_good = sample(file, (uint64_t)status.st_size, &sum);
            *out_bytes += (uint64_t)status.st_size;
        }
        if (file >= 0)
            close(file);
        if (!is_good)
            return false;
    }
    *out_source = sum;
    return true;
}

/* ---- names ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* For one source NAME.vcache; for several, a name made from all of them. */
static char *name_beside(const struct vv_cache *cache)
{
    const char *first = cache->paths[0];
    uint64_t others = 0;
    char *name;
    for (size_t i = 1; i < cache->path_count; i++)
        others = vv_cache_checksum(cache->paths[i], strlen(cache->paths[i]), others);
    int length = cache->path_count == 1
                     ? asprintf(&name, "%s.vcache", first)
                     : asprintf(&name, "%s+%zu.%016llx.vcache", first, cache->path_count - 1,
                                (unsigned long long)others);
    return length < 0 ? NULL : name;
}

static char *name_apart(const struct vv_cache *cache)
{
    uint64_t whole = 0;
    char *folder = vv_cache_folder(), *name = NULL;
    for (size_t i = 0; i < cache->path_count; i++) {
        char *path = realpath(cache->paths[i], NULL);
        if (path != NULL)
            whole = vv_cache_checksum(path, strlen(path), whole);
        free(path);
    }
    if (folder != NULL && asprintf(&name, "%s/%.100s.%016llx.vcache", folder,
                                   base_name(cache->paths[0]), (unsigned long long)whole) < 0)
        name = NULL;
    free(folder);
    return name;
}

enum varve_code vv_cache_create(const char *const *paths, size_t count, struct vv_cache **out_cache,
                                struct varve_error *error)
{
    struct vv_cache *cache = calloc(1, sizeof *cache);
    enum varve_code code = VARVE_OK;
    if (cache == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a cache");
    cache->verified_bytes = VERIFIED_BYTES;
    cache->paths = calloc(count + 1, sizeof *cache->paths);
    bool is_whole = cache->paths != NULL && count > 0;
    for (size_t i = 0; i < count && is_whole; i++) {
        cache->paths[i] = strdup(paths[i]);
        is_whole = cache->paths[i] != NULL;
        cache->path_count = i + 1;
    }
    if (!is_whole)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a cache");
    else if (!vv_cache_fingerprint(cache->paths, count, &cache->source, &cache->source_bytes))
        code = vv_fail(error, VARVE_UNSUPPORTED, "only files that can be read are kept in a cache");
    if (code != VARVE_OK) {
        vv_cache_destroy(cache);
        return code;
    }
    cache->beside = name_beside(cache);
    cache->apart = name_apart(cache);
    *out_cache = cache;
    return VARVE_OK;
}

void vv_cache_destroy(struct vv_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->path_count; i++)
        free(cache->paths[i]);
    free(cache->paths);
    free(cache->beside);
    free(cache->apart);
    free(cache);
}

uint64_t vv_cache_source_bytes(const struct vv_cache *cache)
{
    return cache->source_bytes;
}
