/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome_reader.h"

#include <stdlib.h>

#define KEY_SLOTS 4096u
#define CATEGORY_SLOTS 1024u

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
    *reader = (struct vv_chrome_reader){ .job = job, .model = model, .rank = -1 };
    note_first_rows(reader);
    VV_TRY(vv_chrome_text_init(&reader->text, model, &reader->window, error));
    VV_TRY(vv_chrome_places_init(&reader->places, model, job->scope, error));
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
    free(reader->async_slots);
    free(reader->family_slots);
    *reader = (struct vv_chrome_reader){ 0 };
}

enum varve_code vv_chrome_refill(struct vv_chrome_reader *reader, const char *keep, bool *out_more,
                                 struct varve_error *error)
{
    *out_more = !reader->window.is_last;
    if (!*out_more)
        return VARVE_OK;
    VV_TRY(vv_chrome_window_advance(&reader->window, (uint32_t)(keep - reader->window.text), error));
    vv_chrome_cursor_init(&reader->cursor, &reader->window);
    return VARVE_OK;
}

enum varve_code vv_chrome_fail(const struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_cursor *cursor = &reader->cursor;
    uint64_t offset = reader->window.offset + (uint64_t)(cursor->bad_at - cursor->text);
    return vv_fail_at(error, VARVE_CORRUPT, offset, "'%s' is not JSON: %s", reader->job->path,
                      cursor->bad_why);
}
