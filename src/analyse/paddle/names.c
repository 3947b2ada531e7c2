/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/paddle/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/find.h"

#define NUMBER_BYTES 11u

enum varve_code vv_fluid_names_init(struct vv_fluid_names *out_names, const struct vv_model *model,
                                    struct vv_scratch *scratch, struct varve_error *error)
{
    *out_names = (struct vv_fluid_names){ .model = model, .scratch = scratch,
                                          .behind = { .scratch = scratch } };
    VV_TRY(vv_intern_in(scratch, &out_names->texts, error));
    VV_TRY(vv_intern_in(scratch, &out_names->pieces, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_names->known, model->strings.count, error));
    for (uint32_t i = 0; i < model->strings.count; i++)
        out_names->known[i] = VV_NONE;
    return VARVE_OK;
}

/* Finds the text that is `before` and then the piece; a new one gets the next number there. */
static enum varve_code number_piece(struct vv_fluid_names *names, const char *piece, size_t length,
                                    uint32_t before, uint32_t *out_text, struct varve_error *error)
{
    uint32_t id, known = names->behind.count, text;
    VV_TRY(vv_intern_add(names->pieces, piece, length, &id, error));
    VV_TRY(vv_groups_add(&names->behind, id, before, &text, error));
    *out_text = text;
    if (text < known)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(names->scratch, &names->numbers, &names->number_capacity,
                              (size_t)text + 1, error));
    VV_TRY(VV_SCRATCH_RESERVE(names->scratch, &names->counts, &names->count_capacity,
                              (size_t)text + 1, error));
    names->numbers[text] = before != VV_NONE ? names->counts[before]++ : 0;
    names->counts[text] = 0;
    return VARVE_OK;
}

static size_t count_marks(const char *text)
{
    size_t marks = 0;
    for (; *text != '\0'; text++)
        marks += *text == '%';
    return marks;
}

/* `rest` and `piece` go through the pieces at different speeds: each number is that of the next
 * piece, and replaces the piece that stands between the next two marks. */
static enum varve_code replace(struct vv_fluid_names *names, const char *text, size_t marks,
                               uint32_t *out_name, struct varve_error *error)
{
    size_t capacity = strlen(text) + marks / 2 * NUMBER_BYTES + 1, length = strcspn(text, "%");
    const char *piece = text + length + 1, *rest = text + length;
    uint32_t before;
    char *made;
    VV_TRY(VV_SCRATCH_ARRAY(names->scratch, &made, capacity, error));
    memcpy(made, text, length);
    VV_TRY(number_piece(names, text, length, VV_NONE, &before, error));
    for (size_t i = 0; i < marks / 2; i++) {
        size_t bytes = strcspn(piece, "%");
        VV_TRY(number_piece(names, piece, bytes, before, &before, error));
        piece += bytes + 1;
        rest = strchr(rest + 1, '%') + 1;
        length += (size_t)snprintf(made + length, NUMBER_BYTES + 1, "%" PRIu32,
                                   names->numbers[before]);
        bytes = strcspn(rest, "%");
        memcpy(made + length, rest, bytes);
        length += bytes;
        rest += bytes;
    }
    memcpy(made + length, rest, strlen(rest)); /* a last mark without a partner */
    length += strlen(rest);
    VV_TRY(vv_intern_add(names->texts, made, length, out_name, error));
    vv_scratch_release(names->scratch, made);
    return VARVE_OK;
}

enum varve_code vv_fluid_name(struct vv_fluid_names *names, uint32_t string, uint32_t *out_name,
                              struct varve_error *error)
{
    uint32_t *known = &names->known[string];
    if (*known == VV_NONE) {
        const char *text = vv_text_of(names->model, string);
        size_t marks = count_marks(text);
        VV_TRY(marks < 2 ? vv_intern_add(names->texts, text, strlen(text), known, error)
                         : replace(names, text, marks, known, error));
    }
    *out_name = *known;
    return VARVE_OK;
}
