/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/places.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "import/chrome/number.h"

#define FIRST_SLOTS 256u
#define RECENT_PLACES (sizeof ((struct vv_chrome_places *)0)->recent / sizeof(struct vv_chrome_place))

static const struct vv_chrome_ident of_process = { 0, VV_IDENT_NONE };

static bool same_ident(struct vv_chrome_ident a, struct vv_chrome_ident b)
{
    return a.number == b.number && a.kind == b.kind;
}

static uint32_t hash_of(struct vv_chrome_ident pid, struct vv_chrome_ident tid)
{
    uint64_t hash = vv_hash_pair((uint64_t)pid.number, (uint64_t)tid.number);
    return (uint32_t)vv_hash_step(&vv_hash_key, hash, (uint64_t)pid.kind << 8 | (uint64_t)tid.kind);
}

enum varve_code vv_chrome_places_init(struct vv_chrome_places *places, const struct vv_model *model,
                                      uint32_t scope, struct varve_error *error)
{
    *places = (struct vv_chrome_places){ .scope = scope, .slot_count = FIRST_SLOTS };
    places->first_process = (uint32_t)model->processes.table.count;
    places->first_track = (uint32_t)model->tracks.table.count;
    places->slots = malloc(FIRST_SLOTS * sizeof *places->slots);
    if (places->slots == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for processes and threads");
    memset(places->slots, 0xff, FIRST_SLOTS * sizeof *places->slots);
    for (uint32_t i = 0; i < RECENT_PLACES; i++)
        places->recent[i].row = VV_NONE;
    return VARVE_OK;
}

void vv_chrome_places_deinit(struct vv_chrome_places *places)
{
    free(places->slots);
    free(places->tracks);
    *places = (struct vv_chrome_places){ 0 };
}

static uint32_t slot_of(const struct vv_chrome_places *places, struct vv_chrome_ident pid,
                        struct vv_chrome_ident tid)
{
    uint32_t mask = places->slot_count - 1, slot = hash_of(pid, tid) & mask;
    while (places->slots[slot].row != VV_NONE && !(same_ident(places->slots[slot].pid, pid) &&
                                                   same_ident(places->slots[slot].tid, tid)))
        slot = (slot + 1) & mask;
    return slot;
}

static enum varve_code grow(struct vv_chrome_places *places, struct varve_error *error)
{
    uint32_t former_count = places->slot_count;
    struct vv_chrome_place *former = places->slots;
    if (places->count < former_count / 2)
        return VARVE_OK;
    places->slots = malloc((size_t)former_count * 2 * sizeof *former);
    if (places->slots == NULL) {
        places->slots = former;
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u processes and threads", places->count);
    }
    places->slot_count = former_count * 2;
    memset(places->slots, 0xff, (size_t)places->slot_count * sizeof *former);
    for (uint32_t i = 0; i < former_count; i++)
        if (former[i].row != VV_NONE)
            places->slots[slot_of(places, former[i].pid, former[i].tid)] = former[i];
    free(former);
    return VARVE_OK;
}

static enum varve_code insert(struct vv_chrome_places *places, const struct vv_chrome_place *place,
                              struct varve_error *error)
{
    VV_TRY(grow(places, error));
    places->slots[slot_of(places, place->pid, place->tid)] = *place;
    places->count++;
    return VARVE_OK;
}

/* ---- idents ---- */

enum varve_code vv_chrome_ident(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                                struct vv_chrome_ident *out_ident, struct varve_error *error)
{
    static const char stream[] = "stream ";
    struct vv_chrome_value number;
    uint32_t id = 0;
    *out_ident = (struct vv_chrome_ident){ 0, VV_IDENT_ABSENT };
    if (value == NULL || value->kind == VV_CHROME_NULL)
        return VARVE_OK;
    number = *value;
    out_ident->kind = VV_IDENT_NUMBER;
    if (value->kind == VV_CHROME_STRING && value->length > sizeof stream - 1 &&
        memcmp(value->at, stream, sizeof stream - 1) == 0) {
        number.at += sizeof stream - 1;
        number.length -= (uint32_t)(sizeof stream - 1);
    }
    if (vv_chrome_plain_integer(&number, &out_ident->number) ||
        vv_chrome_id(&number, (uint64_t *)&out_ident->number))
        return VARVE_OK;
    out_ident->kind = VV_IDENT_TEXT;
    if (value->kind == VV_CHROME_STRING || value->kind == VV_CHROME_NUMBER)
        VV_TRY(vv_chrome_text_id(text, value, &id, error));
    else if (value->kind >= VV_CHROME_ARRAY)
        VV_TRY(vv_chrome_nested_id(text, value, &id, error));
    out_ident->number = id;
    return VARVE_OK;
}

/* ---- rows ---- */

static enum varve_code add_process(struct vv_chrome_places *places, struct vv_model *model,
                                   struct vv_chrome_ident pid, uint32_t *out_row,
                                   struct varve_error *error)
{
    VV_TRY(vv_model_add_process(model, out_row, error));
    struct vv_processes *processes = &model->processes;
    processes->pid[*out_row] = pid.kind == VV_IDENT_TEXT ? -1 : pid.number;
    processes->name[*out_row] = pid.kind == VV_IDENT_TEXT ? (uint32_t)pid.number : 0;
    processes->scope[*out_row] = places->scope;
    processes->begin_ns[*out_row] = INT64_MAX;
    processes->end_ns[*out_row] = INT64_MIN;
    struct vv_chrome_place place = { pid, of_process, *out_row, *out_row };
    return insert(places, &place, error);
}

static enum varve_code add_track(struct vv_chrome_places *places, struct vv_model *model,
                                 struct vv_chrome_place *place, struct varve_error *error)
{
    place->process = vv_chrome_find_place(places, place->pid, of_process);
    if (place->process == VV_NONE)
        VV_TRY(add_process(places, model, place->pid, &place->process, error));
    VV_TRY(vv_array_reserve(&places->tracks, &places->track_capacity,
                            model->tracks.table.count - places->first_track + 1,
                            sizeof *places->tracks, error));
    VV_TRY(vv_model_add_track(model, &place->row, error));
    model->tracks.process[place->row] = place->process;
    model->tracks.tid[place->row] = place->tid.kind == VV_IDENT_TEXT ? -1 : place->tid.number;
    model->tracks.name[place->row] =
        place->tid.kind == VV_IDENT_TEXT ? (uint32_t)place->tid.number : 0;
    *vv_chrome_track(places, place->row) = (struct vv_chrome_track_facts){ VV_NONE, false };
    return insert(places, place, error);
}

uint32_t vv_chrome_find_place(const struct vv_chrome_places *places, struct vv_chrome_ident pid,
                              struct vv_chrome_ident tid)
{
    return places->slots[slot_of(places, pid, tid)].row;
}

enum varve_code vv_chrome_place(struct vv_chrome_places *places, struct vv_model *model,
                                struct vv_chrome_ident pid, struct vv_chrome_ident tid,
                                struct vv_chrome_place *out_place, struct varve_error *error)
{
    struct vv_chrome_place *recent =
        &places->recent[((uint64_t)pid.number * 31 + (uint64_t)tid.number) % RECENT_PLACES];
    if (__builtin_expect(recent->row == VV_NONE || !same_ident(recent->pid, pid) ||
                             !same_ident(recent->tid, tid), 0)) {
        struct vv_chrome_place found = places->slots[slot_of(places, pid, tid)];
        if (found.row == VV_NONE) {
            found = (struct vv_chrome_place){ pid, tid, VV_NONE, VV_NONE };
            VV_TRY(add_track(places, model, &found, error));
        }
        *recent = found;
    }
    *out_place = *recent;
    return VARVE_OK;
}
