/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/reader.h"

#include <stdlib.h>
#include <string.h>

#include "model/cells.h"

#define KEY_SLOTS 4096u
#define CATEGORY_SLOTS 1024u
#define SAMPLE_BYTES (UINT64_C(4) << 20)     /* size of the sample for an estimate              */
#define AHEAD_BYTES_MIN (UINT64_C(64) << 20) /* a smaller file is not worth the estimate        */
#define AHEAD_ROWS_MIN 65536
/* In a file of this size, each column of a table that grows may take a large page at once. */
#define LARGE_BYTES_MIN (UINT64_C(256) << 20)
#define GROWING_ROWS_MIN 4096u
#define LARGE_ROWS (VV_CELLS_PAGE_BYTES / sizeof(uint32_t))

static struct vv_table *table_of(const struct vv_chrome_reader *reader, int row)
{
    return (void *)((char *)reader->model + vv_model_tables[row].table_offset);
}

static void note_first_rows(struct vv_chrome_reader *reader)
{
    for (int i = 0; i < VV_TABLE_COUNT; i++) {
        reader->first_rows[i] = table_of(reader, i)->count;
    }
}

enum varve_code vv_chrome_reader_init(struct vv_chrome_reader *reader,
                                      const struct vv_import_job *job, struct vv_model *model,
                                      uint64_t offset, struct varve_error *error)
{
    *reader = (struct vv_chrome_reader){ .job = job, .model = model, .rank = -1, .begin = offset };
    note_first_rows(reader);
    VV_TRY(vv_chrome_text_init(&reader->text, model, &reader->window, error));
    vv_chrome_places_init(&reader->places, model, job->scope);
    VV_TRY(vv_recent_texts_init(&reader->keys, KEY_SLOTS, error));
    VV_TRY(vv_recent_texts_init(&reader->categories, CATEGORY_SLOTS, error));
    reader->known_classes[reader->known_class_count++] = vv_dialect_class("", 0);
    VV_TRY(vv_chrome_window_init(&reader->window, job->source, offset, offset > 0, error));
    vv_chrome_cursor_init(&reader->cursor, &reader->window);
    return VARVE_OK;
}

void vv_chrome_reader_deinit(struct vv_chrome_reader *reader)
{
    vv_chrome_window_deinit(&reader->window);
    vv_chrome_event_deinit(&reader->event);
    vv_chrome_text_deinit(&reader->text);
    vv_chrome_places_deinit(&reader->places);
    vv_recent_texts_deinit(&reader->keys);
    vv_recent_texts_deinit(&reader->categories);
    vv_kineto_shapes_deinit(&reader->shapes);
    free(reader->halves.items);
    free(reader->async_halves.items);
    free(reader->asyncs.items);
    free(reader->async_marks.items);
    free(reader->flow_ends.items);
    free(reader->families.items);
    free(reader->titles.items);
    free(reader->frames.items);
    free(reader->frame_args.items);
    free(reader->runs.items);
    free(reader->step_slices.items);
    vv_slots_deinit(&reader->async_slots);
    vv_slots_deinit(&reader->family_slots);
    *reader = (struct vv_chrome_reader){ 0 };
}

/* ---- room ahead ---- */

/* The number of bytes of text that this reader will read in all; 0 = not known. */
static uint64_t bytes_to_read(const struct vv_chrome_reader *reader)
{
    uint64_t bytes = vv_source_disk_bytes(reader->window.source);
    if (!vv_source_is_plain(reader->window.source) || bytes < AHEAD_BYTES_MIN)
        return 0;
    return (reader->stop_at != 0 ? reader->stop_at : bytes) - reader->begin;
}

/* Makes room for rows, if the model may hold them. Columns of links that are dense so far get large
 * pages, as other columns do by themselves. */
static void reserve_rows(struct vv_chrome_reader *reader, int row, uint64_t extra)
{
    const struct vv_model_table *about = &vv_model_tables[row];
    const struct vv_table *table = table_of(reader, row);
    uint64_t first = table->capacity < LARGE_ROWS ? table->count : table->capacity;
    if (vv_model_reserve(reader->model, (enum vv_table_row)row, extra, NULL) != VARVE_OK)
        return;
    for (size_t i = 0; i < about->column_count && first < table->capacity; i++) {
        const struct vv_column *column = &about->columns[i];
        uint32_t *links;
        memcpy(&links, (const char *)table + column->pointer_offset, sizeof links);
        if (column->blank != 0 && vv_links_are_dense(links, table->count))
            vv_cells_fill(links, first * sizeof *links, table->capacity * sizeof *links);
    }
}

/* The first megabytes show how many rows there will be. Then, and again after four times as many
 * bytes, room is made for all rows: large blocks that need not grow get large pages. If the
 * estimate is too small, the tables grow as usual; if there is no room, nothing is lost. */
static void reserve_ahead(struct vv_chrome_reader *reader, uint64_t all)
{
    uint64_t read = reader->window.offset - reader->begin;
    if (all == 0 || read < SAMPLE_BYTES || read < reader->reserved_at * 4)
        return;
    reader->reserved_at = read;
    double factor = (double)all / (double)read * 1.05;
    uint64_t bytes = (uint64_t)((double)vv_model_bytes(reader->model) * factor);
    if (!vv_model_may_hold(reader->model, bytes))
        return;
    for (int i = 0; i < VV_TABLE_COUNT; i++) {
        uint64_t own = table_of(reader, i)->count - reader->first_rows[i];
        double wanted = (double)own * factor;
        if (all >= LARGE_BYTES_MIN && wanted > AHEAD_ROWS_MIN && wanted < (double)LARGE_ROWS)
            wanted = (double)LARGE_ROWS;
        if (wanted > AHEAD_ROWS_MIN && wanted < UINT32_MAX)
            reserve_rows(reader, i, (uint64_t)wanted - own);
    }
    double ends = (double)reader->flow_ends.count * factor;
    if (ends > AHEAD_ROWS_MIN && ends < UINT32_MAX)
        (void)vv_array_reserve(&reader->flow_ends.items, &reader->flow_ends.capacity, (size_t)ends,
                               sizeof *reader->flow_ends.items, NULL);
}

/* Rows of some kinds begin late in a file, and no sample shows them. In a large file their table
 * does not grow page by page. */
static void reserve_late(struct vv_chrome_reader *reader, uint64_t all)
{
    if (all < LARGE_BYTES_MIN)
        return;
    for (int i = 0; i < VV_TABLE_COUNT; i++) {
        const struct vv_table *table = table_of(reader, i);
        if (table->count > GROWING_ROWS_MIN && table->capacity < LARGE_ROWS)
            reserve_rows(reader, i, LARGE_ROWS - table->count);
    }
}

enum varve_code vv_chrome_refill(struct vv_chrome_reader *reader, const char *keep, bool *out_more,
                                 struct varve_error *error)
{
    if (reader->window.end < reader->window.bytes)
        return vv_fail_at(error, VARVE_CORRUPT, reader->window.offset + reader->window.end,
                          "'%s' is not JSON: a backslash outside of a string", reader->job->path);
    *out_more = !reader->window.is_last;
    if (!*out_more)
        return VARVE_OK;
    uint64_t read_at = reader->window.read_at;
    VV_TRY(
        vv_chrome_window_advance(&reader->window, (uint32_t)(keep - reader->window.text), error));
    if (reader->window.by_offset)
        vv_source_add(reader->window.source, reader->window.read_at - read_at);
    reserve_late(reader, bytes_to_read(reader));
    reserve_ahead(reader, bytes_to_read(reader));
    vv_chrome_cursor_init(&reader->cursor, &reader->window);
    return VARVE_OK;
}

enum varve_code vv_chrome_fail(const struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_cursor *cursor = &reader->cursor;
    uint64_t offset = reader->window.offset + (uint64_t)(cursor->bad_at - cursor->text);
    if (cursor->has_no_memory)
        return vv_fail_at(error, VARVE_NO_MEMORY, offset, "'%s': no memory for an event",
                          reader->job->path);
    if (strcmp(cursor->bad_why, VV_CHROME_TOO_DEEP) == 0)
        return vv_fail_at(error, VARVE_LIMIT, offset, "'%s': %s", reader->job->path,
                          cursor->bad_why);
    return vv_fail_at(error, VARVE_CORRUPT, offset, "'%s' is not JSON: %s", reader->job->path,
                      cursor->bad_why);
}
