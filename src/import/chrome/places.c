/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "import/chrome/number.h"

#define RECENT_PLACES                                                                              \
    (sizeof((struct vv_chrome_places *)0)->recent / sizeof(struct vv_chrome_place))

static const struct vv_chrome_ident of_process = { 0, VV_IDENT_NONE };

static bool same_ident(struct vv_chrome_ident a, struct vv_chrome_ident b)
{
    return a.number == b.number && a.kind == b.kind;
}

static uint64_t hash_of_idents(struct vv_chrome_ident pid, struct vv_chrome_ident tid)
{
    uint64_t hash = vv_hash_pair((uint64_t)pid.number, (uint64_t)tid.number);
    return vv_hash_step(&vv_hash_key, hash, (uint64_t)pid.kind << 8 | (uint64_t)tid.kind);
}

static uint64_t hash_of(const void *table, uint32_t number)
{
    const struct vv_chrome_place *place =
        &((const struct vv_chrome_places *)table)->all.items[number];
    return hash_of_idents(place->pid, place->tid);
}

static bool is_place(const void *table, uint32_t number, const void *key)
{
    const struct vv_chrome_place *a = &((const struct vv_chrome_places *)table)->all.items[number],
                                 *b = key;
    return same_ident(a->pid, b->pid) && same_ident(a->tid, b->tid);
}

void vv_chrome_places_init(struct vv_chrome_places *places, const struct vv_model *model,
                           uint32_t scope)
{
    *places = (struct vv_chrome_places){ .scope = scope };
    places->first_process = (uint32_t)model->processes.table.count;
    places->first_track = (uint32_t)model->tracks.table.count;
    for (uint32_t i = 0; i < RECENT_PLACES; i++)
        places->recent[i].row = VV_NONE;
}

void vv_chrome_places_deinit(struct vv_chrome_places *places)
{
    vv_slots_deinit(&places->slots);
    free(places->all.items);
    free(places->tracks);
    *places = (struct vv_chrome_places){ 0 };
}

/* NULL if there is none. */
static const struct vv_chrome_place *find(const struct vv_chrome_places *places,
                                          struct vv_chrome_ident pid, struct vv_chrome_ident tid)
{
    const struct vv_chrome_place key = { .pid = pid, .tid = tid };
    uint32_t number =
        vv_slots_find(&places->slots, hash_of_idents(pid, tid), is_place, places, &key);
    return number == VV_SLOTS_NONE ? NULL : &places->all.items[number];
}

static enum varve_code insert(struct vv_chrome_places *places, const struct vv_chrome_place *place,
                              struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&places->all.items, &places->all.capacity, places->all.count + 1,
                            sizeof *places->all.items, error));
    if (vv_slots_are_full(&places->slots, places->all.count))
        VV_TRY(vv_slots_grow(&places->slots, (uint32_t)places->all.count, hash_of, places,
                             "processes and threads", error));
    places->all.items[places->all.count++] = *place;
    *vv_slots_at(&places->slots, hash_of_idents(place->pid, place->tid), is_place, places, place) =
        (uint32_t)places->all.count;
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
    const struct vv_chrome_place *place = find(places, pid, tid);
    return place == NULL ? VV_NONE : place->row;
}

enum varve_code vv_chrome_place(struct vv_chrome_places *places, struct vv_model *model,
                                struct vv_chrome_ident pid, struct vv_chrome_ident tid,
                                struct vv_chrome_place *out_place, struct varve_error *error)
{
    struct vv_chrome_place *recent =
        &places->recent[((uint64_t)pid.number * 31 + (uint64_t)tid.number) % RECENT_PLACES];
    if (__builtin_expect(recent->row == VV_NONE || !same_ident(recent->pid, pid) ||
                             !same_ident(recent->tid, tid), 0)) {
        const struct vv_chrome_place *known = find(places, pid, tid);
        struct vv_chrome_place found = { pid, tid, VV_NONE, VV_NONE };
        if (known != NULL)
            found = *known;
        else
            VV_TRY(add_track(places, model, &found, error));
        *recent = found;
    }
    *out_place = *recent;
    return VARVE_OK;
}

/* ---- families of ids ---- */

struct labelled {
    const char *label; /* "[TP00] 4711": what is in the brackets counts */
    size_t length;
    uint32_t process;
};

static int by_label(const void *left, const void *right)
{
    const struct labelled *a = left, *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    int order = memcmp(a->label, b->label, a->length);
    return order != 0 ? order : (a->process > b->process) - (a->process < b->process);
}

static size_t list_labelled(const struct vv_chrome_places *places, const struct vv_model *model,
                            struct labelled *out_labelled)
{
    size_t count = 0;
    for (size_t i = 0; i < places->all.count; i++) {
        const struct vv_chrome_place *place = &places->all.items[i];
        if (place->tid.kind != VV_IDENT_NONE || place->pid.kind != VV_IDENT_TEXT)
            continue;
        const char *label = vv_intern_text(&model->strings, (uint32_t)place->pid.number);
        const char *end = label[0] == '[' ? strchr(label, ']') : NULL;
        if (end != NULL)
            out_labelled[count++] =
                (struct labelled){ label, (size_t)(end - label), place->process };
    }
    return count;
}

enum varve_code vv_chrome_set_id_families(const struct vv_chrome_places *places,
                                          struct vv_model *model, struct varve_error *error)
{
    struct labelled *labelled = calloc(places->all.count + 1, sizeof *labelled);
    if (labelled == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu processes and threads",
                places->all.count);
    size_t count = list_labelled(places, model, labelled);
    qsort(labelled, count, sizeof *labelled, by_label);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || labelled[i].length != labelled[i - 1].length ||
                        memcmp(labelled[i].label, labelled[i - 1].label, labelled[i].length) != 0;
        model->processes.id_family[labelled[i].process] =
            is_first ? labelled[i].process + 1
                     : model->processes.id_family[labelled[i - 1].process];
    }
    free(labelled);
    return VARVE_OK;
}
