/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/reader.h"

#include <stdlib.h>

#define KEY_SLOTS 4096u
#define CATEGORY_SLOTS 1024u
#define SAMPLE_BYTES (UINT64_C(4) << 20)     /* size of the sample for an estimate              */
#define AHEAD_BYTES_MIN (UINT64_C(64) << 20) /* a smaller file is not worth the estimate        */
#define AHEAD_ROWS_MIN 65536

static void note_first_rows(struct vv_chrome_reader *reader)
{
    for (int i = 0; i < VV_TABLE_COUNT; i++) {
        const struct vv_table *table =
            (const void *)((const char *)reader->model + vv_model_tables[i].table_offset);
        reader->first_rows[i] = table->count;
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

/* The first megabytes show how many rows there will be. Then, and again after four times as many
 * bytes, room is made for all rows: large blocks that need not grow get large pages. If the
 * estimate is too small, the tables grow as usual; if there is no room, nothing is lost. */
static void reserve_ahead(struct vv_chrome_reader *reader)
{
    uint64_t all = bytes_to_read(reader), read = reader->window.offset - reader->begin;
    if (all == 0 || read < SAMPLE_BYTES || read < reader->reserved_at * 4)
        return;
    reader->reserved_at = read;
    double factor = (double)all / (double)read * 1.05;
    uint64_t bytes = (uint64_t)((double)vv_model_bytes(reader->model) * factor);
    if (!vv_model_may_hold(reader->model, bytes))
        return;
    for (int i = 0; i < VV_TABLE_COUNT; i++) {
        const struct vv_model_table *about = &vv_model_tables[i];
        struct vv_table *table = (void *)((char *)reader->model + about->table_offset);
        double wanted = (double)(table->count - reader->first_rows[i]) * factor;
        if (wanted > AHEAD_ROWS_MIN && wanted < UINT32_MAX)
            (void)vv_table_reserve(table, about->columns, about->column_count,
                                   (uint64_t)wanted - (table->count - reader->first_rows[i]), NULL);
    }
    double ends = (double)reader->flow_ends.count * factor;
    if (ends > AHEAD_ROWS_MIN && ends < UINT32_MAX)
        (void)vv_array_reserve(&reader->flow_ends.items, &reader->flow_ends.capacity, (size_t)ends,
                               sizeof *reader->flow_ends.items, NULL);
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
    reserve_ahead(reader);
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
