/* SPDX-License-Identifier: Apache-2.0 */
/* read.c — reads a cache file as a model, if the file can be trusted (doc/cache.md).
 *
 * Before anything is used, these are checked: owner and mode, exact size, the head's checksum, and
 * that every block lies inside the file and has the length of its rows. Then checksums of blocks
 * are checked: always those of row numbers, strings and flags, because analyses use them as indices
 * unchecked; others up to cache->verified_bytes in all, so that a large model opens at once. If
 * that does not cover all, arguments and facts are checked to name only strings and rows that
 * exist, and slices to end within int64. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/layout.h"
#include "model/outward.h"

#define ROWS_MAX (UINT64_C(0xffffffff) - 1)

struct opening {
    struct vv_cache_head head;
    unsigned char *map;
    uint64_t map_bytes;
    uint64_t verified_bytes, verified_bytes_max;
    bool is_verified; /* all checksums were checked                                             */
};

/* A file that others can write may say anything. */
static bool is_ours(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           (status->st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
           status->st_size >= (off_t)sizeof(struct vv_cache_head);
}

static bool read_head(int file, uint64_t size, const struct vv_cache *cache,
                      struct vv_cache_head *head)
{
    const size_t summed = offsetof(struct vv_cache_head, file_bytes);
    if (pread(file, head, sizeof *head, 0) != (ssize_t)sizeof *head)
        return false;
    return memcmp(head->magic, VV_CACHE_MAGIC, sizeof head->magic) == 0 &&
           head->checksum ==
               vv_cache_checksum((const char *)head + summed, sizeof *head - summed, 0) &&
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

/* The same; but a block beyond the limit of bytes is not checked. */
static bool block_may_hold(struct opening *opening, const struct vv_cache_block *block)
{
    if (opening->verified_bytes + block->bytes <= opening->verified_bytes_max)
        return block_holds(opening, block);
    opening->is_verified = false;
    return true;
}

/* Is the column checked always? Row numbers, strings and flags are, because analyses use them as
 * indices unchecked. Arguments are not: there are too many of them; stays_inside checks those. */
static bool is_followed(size_t table, size_t column)
{
    return table != VV_TABLE_ARGS &&
           vv_model_tables[table].columns[column].width_bytes <= sizeof(uint32_t);
}

static bool columns_hold(struct opening *opening, bool followed)
{
    size_t at = 0;
    for (size_t table = 0; table < VV_TABLE_COUNT; table++) {
        for (size_t i = 0; i < vv_model_tables[table].column_count; i++, at++) {
            const struct vv_cache_block *block = &opening->head.columns[at];
            if (is_followed(table, i) == followed && !(followed ? block_holds(opening, block)
                                                                : block_may_hold(opening, block)))
                return false;
        }
    }
    return true;
}

static bool strings_hold(struct opening *opening)
{
    const struct vv_cache_head *head = &opening->head;
    return block_holds(opening, &head->lengths) && block_may_hold(opening, &head->text) &&
           block_may_hold(opening, &head->hashes);
}

/* ---- checks instead of checksums ---- */

/* Do the rows that VV_ARG_ROWS stands for exist? They may be VV_ARG_ROWS themselves: no reader
 * relies on the contrary. */
static bool rows_stay_inside(const struct vv_args *args)
{
    bool is_outside = false;
    for (uint64_t row = 0; row < args->table.count; row++)
        is_outside |= args->kind[row] == VV_ARG_ROWS &&
                      (uint32_t)args->value[row] + (args->value[row] >> 32) > args->table.count;
    return !is_outside;
}

/* `most_kind` is the largest kind that may occur. */
static bool values_stay_inside(const struct vv_model *model, const uint64_t *value,
                               const uint8_t *kind, const uint32_t *key, uint64_t count,
                               uint8_t most_kind)
{
    const uint32_t strings = model->strings.count;
    uint64_t last[UINT8_MAX + 1] = { 0 }; /* largest value of each kind                         */
    uint8_t most = 0;
    bool is_outside = false;
    for (int i = 0; i <= most_kind; i++)
        last[i] = i == VV_ARG_TEXT || i == VV_ARG_JSON ? strings - 1 : UINT64_MAX;
    for (uint64_t row = 0; row < count; row++) {
        is_outside |= (value[row] > last[kind[row]]) | (key[row] >= strings);
        most = kind[row] > most ? kind[row] : most;
    }
    return !is_outside && most <= most_kind;
}

static bool slices_end(const struct vv_slices *slices)
{
    bool is_endless = false;
    for (uint64_t row = 0; row < slices->table.count; row++) {
        int64_t end_ns;
        is_endless |=
            __builtin_add_overflow(slices->begin_ns[row], slices->duration_ns[row], &end_ns) |
            (slices->duration_ns[row] < 0);
    }
    return !is_endless;
}

static bool stays_inside(const struct vv_model *model)
{
    const struct vv_args *args = &model->args;
    const struct vv_facts *facts = &model->facts;
    return values_stay_inside(model, args->value, args->kind, args->key, args->table.count,
                              VV_ARG_ROWS) &&
           rows_stay_inside(args) &&
           values_stay_inside(model, facts->value, facts->kind, facts->key, facts->table.count,
                              VV_ARG_JSON) &&
           slices_end(&model->slices);
}

/* ---- the model ---- */

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

/* Gives the inputs the paths that the user wrote this time. */
static enum varve_code name_inputs(struct vv_model *model, const struct vv_cache *cache)
{
    for (size_t i = 0; i < cache->path_count && i < model->inputs.table.count; i++)
        VV_TRY(vv_model_text(model, cache->paths[i], &model->inputs.path[i], NULL));
    return VARVE_OK;
}

/* Takes over the mapping, also on failure. */
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
        .key = head->hash_key,
    };
    bool is_good = vv_intern_adopt(&model->strings, &texts, NULL) == VARVE_OK;
    if (is_good) {
        borrow_tables(opening, model);
        model->run = head->run;
        model->health = head->health;
        is_good = (opening->is_verified || stays_inside(model)) &&
                  name_inputs(model, cache) == VARVE_OK &&
                  vv_build_outward(model, NULL) == VARVE_OK;
    }
    if (is_good)
        return model;
    vv_model_destroy(model);
    return NULL;
}

static struct vv_model *open_file(const char *path, const struct vv_cache *cache)
{
    struct opening opening = { .verified_bytes_max = cache->verified_bytes, .is_verified = true };
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
    if (blocks_fit(&opening) && columns_hold(&opening, true) && strings_hold(&opening) &&
        columns_hold(&opening, false))
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
