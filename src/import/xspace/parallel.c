/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c — gathers pieces of lines in the order of the file, and decodes them at the same time
 * when there are enough. The work of one thread fits in its caches. A single thread appends its
 * chunks before it decodes more. */
#include <stdlib.h>

#include "base/workers.h"
#include "import/xspace/xspace.h"

#define CHUNK_BYTES ((size_t)64 << 10)
#define CHUNKS 16u /* the same for any number of threads, so that the model does not depend on that
                      number */
#define CHUNKS_OF_ONE 3u /* chunks that a single thread decodes before it appends them           */
#define CHUNK_EVENTS_MAX (UINT32_C(1) << 20)

/* ---- planes ---- */

enum varve_code vv_xspace_plane_create(struct vv_xspace *space, struct vv_xspace_plane **out_plane,
                                       struct varve_error *error)
{
    struct vv_xspace_wave *wave = &space->wave;
    VV_TRY(vv_array_reserve(&wave->planes.items, &wave->planes.capacity, wave->planes.count + 1,
                            sizeof(struct vv_xspace_plane *), error));
    struct vv_xspace_plane *plane = calloc(1, sizeof *plane);
    if (plane == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a plane");
    plane->space = space;
    wave->planes.items[wave->planes.count++] = plane;
    *out_plane = plane;
    return VARVE_OK;
}

void vv_xspace_plane_deinit(struct vv_xspace_plane *plane)
{
    vv_key_map_deinit(&plane->own_lines);
    vv_key_map_deinit(&plane->stat_ids);
    vv_key_map_deinit(&plane->event_ids);
    free(plane->stat_kinds);
    free(plane->event_kinds);
    free(plane->lines);
    free(plane->stats);
    free(plane->event_metadata);
    free(plane->stat_metadata);
}

/* Closes the first `count` planes. */
static void close_planes(struct vv_xspace_wave *wave, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vv_xspace_plane_deinit(wave->planes.items[i]);
        free(wave->planes.items[i]);
    }
    wave->planes.count -= count;
    if (wave->planes.count > 0)
        memmove(wave->planes.items, wave->planes.items + count,
                wave->planes.count * sizeof *wave->planes.items);
}

/* ---- the wave ---- */

static enum varve_code make_chunks(struct vv_xspace *space, struct varve_error *error)
{
    struct vv_xspace_wave *wave = &space->wave;
    size_t count = CHUNKS;
    wave->chunks = calloc(count, sizeof *wave->chunks);
    if (wave->chunks == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu pieces of a trace", count);
    wave->chunk_count = count;
    for (size_t i = 0; i < count; i++)
        wave->chunks[i].sink.space = space;
    count = space->model->threads > 1 ? CHUNKS : CHUNKS_OF_ONE;
    wave->tables = calloc(count, sizeof *wave->tables);
    if (wave->tables == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu pieces of a trace", count);
    wave->batch_count = count;
    for (size_t i = 0; i < count; i++)
        VV_TRY(vv_model_create(&wave->tables[i], error));
    return VARVE_OK;
}

void vv_xspace_wave_deinit(struct vv_xspace *space)
{
    struct vv_xspace_wave *wave = &space->wave;
    for (size_t i = 0; i < wave->chunk_count; i++) {
        struct vv_xspace_chunk *chunk = &wave->chunks[i];
        vv_key_map_deinit(&chunk->unknown_ids);
        free(chunk->unknown_kinds.items);
        free(chunk->sink.ends.items);
        free(chunk->sink.text);
        free(chunk->segments.items);
        free(chunk->late.items);
        free(chunk->texts.items);
        vv_key_map_deinit(&chunk->are_shapes);
        free(chunk->bytes);
    }
    for (size_t i = 0; i < wave->batch_count; i++)
        vv_model_destroy(wave->tables[i]);
    close_planes(wave, wave->planes.count);
    free(wave->planes.items);
    free(wave->tables);
    free(wave->chunks);
    *wave = (struct vv_xspace_wave){ 0 };
}

/* ---- decoding ---- */

/* Fills the columns that most slices leave empty. */
static void fill_slices(struct vv_slices *slices, uint32_t count)
{
    if (count == 0) /* then the columns may not exist */
        return;
    memset(slices->category, 0, count * sizeof *slices->category);
    memset(slices->flags, 0, count * sizeof *slices->flags);
    memset(slices->op, 0xff, count * sizeof *slices->op);
    memset(slices->activity, 0xff, count * sizeof *slices->activity);
    memset(slices->source, 0, count * sizeof *slices->source);
}

static enum varve_code decode(struct vv_xspace_chunk *chunk)
{
    struct varve_error *error = &chunk->error;
    if (!chunk->sink.space->model->counts_only) {
        VV_TRY(vv_model_reserve(chunk->sink.rows, VV_TABLE_SLICES, chunk->event_count, error));
        fill_slices(&chunk->sink.rows->slices, chunk->event_count);
    }
    for (size_t i = 0; i < chunk->segments.count; i++) {
        struct vv_xspace_segment *segment = &chunk->segments.items[i];
        chunk->failed_segment = i;
        if (segment->is_first)
            vv_xspace_rows_count(&chunk->sink, &segment->before);
        VV_TRY(vv_xspace_segment_read(chunk, segment, error));
    }
    return VARVE_OK;
}

static void decode_chunk(void *context, size_t piece)
{
    struct vv_xspace_chunk *chunk = (struct vv_xspace_chunk *)context + piece;
    chunk->code = decode(chunk);
}

static enum varve_code clear_chunk(struct vv_xspace_chunk *chunk, struct varve_error *error)
{
    struct vv_model *rows = chunk->sink.rows;
    if (rows->strings.count > 1) {
        vv_intern_deinit(&rows->strings);
        VV_TRY(vv_intern_init(&rows->strings, error));
    }
    vv_key_map_clear(&chunk->are_shapes);
    for (int table = 0; table < VV_TABLE_COUNT; table++)
        ((struct vv_table *)((char *)rows + vv_model_tables[table].table_offset))->count = 0;
    rows->health = (struct vv_health){ 0 };
    chunk->sink.ends.count = chunk->segments.count = chunk->late.count = chunk->byte_count = 0;
    chunk->event_count = 0;
    chunk->unknown_plane = NULL;
    return VARVE_OK;
}

static enum varve_code find_failed(struct vv_xspace *space, const struct vv_xspace_chunk *chunks,
                                   size_t count, struct varve_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct vv_xspace_chunk *chunk = &chunks[i];
        if (chunk->code == VARVE_OK)
            continue;
        const struct vv_xspace_plane *plane = chunk->segments.items[chunk->failed_segment].plane;
        space->wave.has_failed = true;
        if (error != NULL)
            *error = chunk->error;
        vv_error_note(error, "plane '%s'", vv_intern_text(&space->model->strings, plane->name));
        return chunk->code;
    }
    return VARVE_OK;
}

/* `count` is at most the number of tables. */
static enum varve_code take_batch(struct vv_xspace *space, struct vv_xspace_chunk *chunks,
                                  size_t count, struct varve_error *error)
{
    for (size_t i = 0; i < count; i++)
        chunks[i].sink.rows = space->wave.tables[i];
    vv_workers_run(space->model->threads, count, decode_chunk, chunks);
    VV_TRY(find_failed(space, chunks, count, error));
    VV_TRY(vv_xspace_chunks_append(space, chunks, count, error));
    for (size_t i = 0; i < count; i++)
        VV_TRY(clear_chunk(&chunks[i], error));
    return VARVE_OK;
}

enum varve_code vv_xspace_wave_flush(struct vv_xspace *space, struct varve_error *error)
{
    struct vv_xspace_wave *wave = &space->wave;
    if (wave->has_failed)
        return VARVE_OK;
    for (size_t first = 0; first < wave->used_count; first += wave->batch_count) {
        size_t left = wave->used_count - first;
        VV_TRY(take_batch(space, wave->chunks + first,
                          left < wave->batch_count ? left : wave->batch_count, error));
    }
    wave->used_count = 0;
    if (wave->planes.count > 1) /* the last plane may still be read */
        close_planes(wave, wave->planes.count - 1);
    return VARVE_OK;
}

/* ---- gathering ---- */

static bool has_room(const struct vv_xspace_chunk *chunk, const struct vv_xspace_segment *segment)
{
    return chunk->segments.count == 0 ||
           (chunk->byte_count + segment->length <= CHUNK_BYTES &&
            chunk->event_count + segment->event_count <= CHUNK_EVENTS_MAX);
}

/* Returns the chunk that is being filled, or a new one. */
static enum varve_code find_chunk(struct vv_xspace *space, const struct vv_xspace_segment *segment,
                                  struct vv_xspace_chunk **out_chunk, struct varve_error *error)
{
    struct vv_xspace_wave *wave = &space->wave;
    if (wave->chunks == NULL)
        VV_TRY(make_chunks(space, error));
    if (wave->used_count == 0 || !has_room(&wave->chunks[wave->used_count - 1], segment)) {
        if (wave->used_count == wave->chunk_count)
            VV_TRY(vv_xspace_wave_flush(space, error));
        wave->used_count++;
    }
    *out_chunk = &wave->chunks[wave->used_count - 1];
    return VARVE_OK;
}

enum varve_code vv_xspace_wave_add(struct vv_xspace *space, const struct vv_xspace_segment *segment,
                                   struct varve_error *error)
{
    struct vv_xspace_chunk *chunk;
    VV_TRY(find_chunk(space, segment, &chunk, error));
    const unsigned char *data = segment->data;
    if (space->window.source != NULL) {
        size_t bytes = segment->length > CHUNK_BYTES ? segment->length : CHUNK_BYTES;
        if (chunk->segments.count == 0) /* makes room for all later ones too, so that segments do
                                           not move */
            VV_TRY(vv_array_reserve(&chunk->bytes, &chunk->byte_capacity, bytes, 1, error));
        memcpy(chunk->bytes + chunk->byte_count, data, segment->length);
        data = chunk->bytes + chunk->byte_count;
    }
    chunk->byte_count += segment->length;
    chunk->event_count += segment->event_count;
    VV_TRY(vv_array_reserve(&chunk->segments.items, &chunk->segments.capacity,
                            chunk->segments.count + 1, sizeof *chunk->segments.items, error));
    chunk->segments.items[chunk->segments.count] = *segment;
    chunk->segments.items[chunk->segments.count++].data = data;
    return VARVE_OK;
}
