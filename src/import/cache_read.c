/* SPDX-License-Identifier: Apache-2.0 */
/* cache_read.c — a cache file becomes a model, if it can be believed (doc/cache.md).
 *
 * Checked before anything is used: owner and mode, exact size, the head's checksum, that every block lies
 * inside the file and is as long as its rows need. Then the checksums of blocks: always those of row
 * numbers, strings and flags, which the analyses follow without looking; the others as long as
 * VERIFIED_BYTES last, so that a large model opens in no time. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/cache.h"
#include "import/cache_layout.h"

#define VERIFIED_BYTES (UINT64_C(256) << 20)
#define ROWS_MAX (UINT64_C(0xffffffff) - 1)

struct opening {
    struct vv_cache_head head;
    unsigned char *map;
    uint64_t map_bytes;
    uint64_t verified_bytes;
};

/* A file that others can write may be made to say anything. */
static bool is_ours(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           (status->st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
           status->st_size >= (off_t)sizeof(struct vv_cache_head);
}

static bool read_head(int file, uint64_t size, const struct vv_cache *cache, struct vv_cache_head *head)
{
    const size_t summed = offsetof(struct vv_cache_head, file_bytes);
    if (pread(file, head, sizeof *head, 0) != (ssize_t)sizeof *head)
        return false;
    return memcmp(head->magic, VV_CACHE_MAGIC, sizeof head->magic) == 0 &&
           head->checksum == vv_cache_checksum((const char *)head + summed, sizeof *head - summed, 0) &&
           head->file_bytes == size && head->shape == vv_cache_shape() &&
           head->program == vv_cache_program() && head->source == cache->source;
}

static bool lies_inside(const struct opening *opening, const struct vv_cache_block *block,
                        uint64_t rows, uint64_t width_bytes)
{
    return rows <= ROWS_MAX && block->bytes == rows * width_bytes &&
           block->offset % VV_CACHE_ALIGN == 0 && block->offset <= opening->map_bytes &&
           block->bytes <= opening->map_bytes - block->offset;
}

static bool blocks_fit(const struct opening *opening)
{
    const struct vv_cache_head *head = &opening->head;
    size_t at = 0;
    for (size_t table = 0; table < VV_TABLE_COUNT; table++) {
        for (size_t i = 0; i < vv_model_tables[table].column_count; i++, at++)
            if (!lies_inside(opening, &head->columns[at], head->rows[table],
                             vv_model_tables[table].columns[i].width_bytes))
                return false;
    }
    return lies_inside(opening, &head->text, head->text.bytes, 1) &&
           lies_inside(opening, &head->lengths, head->string_count, sizeof(uint32_t)) &&
           lies_inside(opening, &head->hashes, head->string_count, sizeof(uint32_t));
}

static bool block_holds(struct opening *opening, const struct vv_cache_block *block)
{
    opening->verified_bytes += block->bytes;
    return block->checksum == vv_cache_checksum(opening->map + block->offset, block->bytes, 0);
}

/* What is followed without a look: row numbers, strings, flags. Arguments are looked up by the string table,
 * which knows its bounds. */
static bool is_followed(size_t table, size_t column)
{
    return table != VV_TABLE_ARGS && vv_model_tables[table].columns[column].width_bytes <= sizeof(uint32_t);
}

static bool columns_hold(struct opening *opening, bool followed)
{
    size_t at = 0;
    for (size_t table = 0; table < VV_TABLE_COUNT; table++) {
        for (size_t i = 0; i < vv_model_tables[table].column_count; i++, at++) {
            const struct vv_cache_block *block = &opening->head.columns[at];
            bool is_due = is_followed(table, i) == followed &&
                          (followed || opening->verified_bytes + block->bytes <= VERIFIED_BYTES);
            if (is_due && !block_holds(opening, block))
                return false;
        }
    }
    return true;
}

static bool strings_hold(struct opening *opening)
{
    const struct vv_cache_head *head = &opening->head;
    return block_holds(opening, &head->lengths) &&
           (opening->verified_bytes + head->text.bytes + head->hashes.bytes > VERIFIED_BYTES ||
            (block_holds(opening, &head->text) && block_holds(opening, &head->hashes)));
}

static void borrow_tables(const struct opening *opening, struct vv_model *model)
{
    size_t at = 0;
    for (size_t table = 0; table < VV_TABLE_COUNT; table++) {
        const struct vv_model_table *row = &vv_model_tables[table];
        void *cells[VV_TABLE_COLUMNS_MAX];
        for (size_t i = 0; i < row->column_count; i++)
            cells[i] = opening->map + opening->head.columns[at++].offset;
        vv_table_borrow((struct vv_table *)((char *)model + row->table_offset), row->columns,
                        row->column_count, cells, opening->head.rows[table]);
    }
}

/* The inputs are called as they are called today. */
static enum varve_code name_inputs(struct vv_model *model, const struct vv_cache *cache)
{
    for (size_t i = 0; i < cache->path_count && i < model->inputs.table.count; i++)
        VV_TRY(vv_model_text(model, cache->paths[i], &model->inputs.path[i], NULL));
    return VARVE_OK;
}

/* Takes the mapping in any case. */
static struct vv_model *make_model(struct opening *opening, const struct vv_cache *cache)
{
    struct vv_model *model;
    const struct vv_cache_head *head = &opening->head;
    if (vv_model_create(&model, NULL) != VARVE_OK) {
        munmap(opening->map, opening->map_bytes);
        return NULL;
    }
    model->mapping = opening->map;
    model->mapping_bytes = opening->map_bytes;
    const struct vv_intern_texts texts = {
        .text = (const char *)opening->map + head->text.offset,
        .bytes = head->text.bytes,
        .lengths = (const uint32_t *)(const void *)(opening->map + head->lengths.offset),
        .hashes = (const uint32_t *)(const void *)(opening->map + head->hashes.offset),
        .count = head->string_count,
    };
    bool is_good = vv_intern_adopt(&model->strings, &texts, NULL) == VARVE_OK;
    if (is_good) {
        borrow_tables(opening, model);
        model->run = head->run;
        model->health = head->health;
        is_good = name_inputs(model, cache) == VARVE_OK;
    }
    if (is_good)
        return model;
    vv_model_destroy(model);
    return NULL;
}

static struct vv_model *open_file(const char *path, const struct vv_cache *cache)
{
    struct opening opening = { .map = NULL };
    struct stat status;
    struct vv_model *model = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && is_ours(&status) &&
        read_head(file, (uint64_t)status.st_size, cache, &opening.head)) {
        opening.map_bytes = (uint64_t)status.st_size;
        void *map = mmap(NULL, opening.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        opening.map = map == MAP_FAILED ? NULL : map;
    }
    close(file);
    if (opening.map == NULL)
        return NULL;
    if (blocks_fit(&opening) && columns_hold(&opening, true) && columns_hold(&opening, false) &&
        strings_hold(&opening))
        model = make_model(&opening, cache);
    else
        munmap(opening.map, opening.map_bytes);
    return model;
}

struct vv_model *vv_cache_open(const struct vv_cache *cache)
{
    struct vv_model *model = cache->beside != NULL ? open_file(cache->beside, cache) : NULL;
    return model == NULL && cache->apart != NULL ? open_file(cache->apart, cache) : model;
}
