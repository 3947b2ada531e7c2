/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/device_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "derive/select/track_order.h"
#include "model/device_id.h"
#include "model/once.h"
#include "numbers/pair_ids.h"

/* ---- devices, and which are chosen ---- */

static int compare_devices(const void *a, const void *b)
{
    const struct vv_device *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->owner > right->owner) - (left->owner < right->owner);
}

static bool are_same(const struct vv_device *left, const struct vv_device *right)
{
    return left->scope == right->scope && left->owner == right->owner && left->id == right->id;
}

/* ---- work that counts ---- */

/* The chosen steps by scope and begin; if no steps were named, the steps that are left out. */
struct chosen_step {
    uint32_t scope;
    int64_t begin_ns;
    int64_t last_end_ns; /* latest end of this step and of the earlier ones of its scope */
};

static int compare_chosen(const void *a, const void *b)
{
    const struct chosen_step *left = a, *right = b;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* `out_steps` has room for every step. Returns the number of steps in it. */
static size_t order_chosen(const struct vv_scope *scope, struct chosen_step *out_steps)
{
    const struct vv_model *model = scope->model;
    size_t count = 0;
    for (uint32_t s = 0; s < model->steps.table.count; s++) {
        uint32_t process = model->tracks.process[model->steps.track[s]];
        if (scope->every_step ? !vv_step_counts(scope, s) : scope->steps[s])
            out_steps[count++] = (struct chosen_step){
                process != VV_NONE ? model->processes.scope[process] : 0, model->steps.begin_ns[s],
                model->steps.begin_ns[s] + model->steps.duration_ns[s],
            };
    }
    if (count > 0)
        qsort(out_steps, count, sizeof *out_steps, compare_chosen);
    for (size_t i = 1; i < count; i++)
        if (out_steps[i].scope == out_steps[i - 1].scope &&
            out_steps[i].last_end_ns < out_steps[i - 1].last_end_ns)
            out_steps[i].last_end_ns = out_steps[i - 1].last_end_ns;
    return count;
}

static bool begins_in_a_step(const struct chosen_step *steps, size_t count, uint32_t scope,
                             int64_t begin_ns)
{
    const struct chosen_step wanted = { scope, begin_ns, 0 };
    size_t after = VV_FIRST_NOT(i, 0, count, compare_chosen(&steps[i], &wanted) <= 0);
    return after > 0 && steps[after - 1].scope == scope && begin_ns < steps[after - 1].last_end_ns;
}

struct found { uint32_t activity, device; uint8_t class; bool is_left_out; };

struct finding {
    struct vv_device_work *work;
    struct vv_device *devices;      /* those of the work                                        */
    struct vv_work_item *items;
    struct vv_scratch *scratch;     /* memory of the search                                     */
    const char *wanted;             /* device's name; NULL = all                                */
    struct found *found;
    size_t found_count;
    uint8_t *by_name;               /* for vv_device_class_of                                   */
    struct chosen_step *steps;
    size_t step_count;
    struct vv_groups rows;          /* (scope or owner, id) -> row in devices, in order of
                                       appearance */
    size_t capacity;                /* capacity of devices                                      */
    char names[200];                /* names of devices that were not wanted                    */
};

/* True if the activity is device work of a chosen rank and thread, and the filter lets it through.
 * Then *out_device is its device. */
static bool is_chosen(const struct finding *finding, uint32_t activity,
                      struct vv_device *out_device)
{
    const struct vv_scope *scope = finding->work->scope;
    const struct vv_model *model = scope->model;
    uint32_t slice = model->activities.slice[activity], launch = model->activities.launch[activity];
    if (slice == VV_NONE || !vv_scope_holds(scope, slice) ||
        (!finding->work->is_hta && !vv_is_device_work(model, activity)))
        return false;
    uint32_t track = model->slices.track[slice], process = model->tracks.process[track];
    uint32_t id = model->activities.device[activity];
    *out_device = (struct vv_device){
        .scope = process != VV_NONE ? model->processes.scope[process] : 0,
        .owner = process != VV_NONE ? model->processes.id_family[process] : 0,
        .id = id != VV_NONE ? id : model->tracks.device[track],
        .rank = process != VV_NONE ? scope->ranks[process] : -1,
    };
    if ((process != VV_NONE && !scope->processes[process]) ||
        (scope->by_thread && (launch == VV_NONE || !scope->tracks[model->slices.track[launch]])))
        return false;
    return !finding->work->is_hta ||
           vv_hta_counts(&finding->work->hta, activity, out_device->scope);
}

static bool is_in_scope(const struct finding *finding, uint32_t activity,
                        const struct vv_device *device)
{
    const struct vv_scope *scope = finding->work->scope;
    const struct vv_model *model = scope->model;
    uint32_t launch = model->activities.launch[activity];
    /* HTA does not know warm-up */
    if (scope->every_step && (finding->step_count == 0 || finding->work->is_hta))
        return true;
    if (launch != VV_NONE)
        return vv_step_counts(scope, model->slices.step[launch]);
    return scope->every_step !=
           begins_in_a_step(finding->steps, finding->step_count, device->scope,
                            model->slices.begin_ns[model->activities.slice[activity]]);
}

static enum vv_device_class class_of(const struct finding *finding, uint32_t activity)
{
    const struct vv_model *model = finding->work->scope->model;
    if (!finding->work->is_hta)
        return vv_device_class_of(model, activity, finding->by_name);
    return vv_hta_class(vv_text_of(model, model->slices.name[model->activities.slice[activity]]));
}

static void note_unwanted(struct finding *finding, uint32_t id)
{
    size_t length = strlen(finding->names);
    char name[40];
    vv_device_text(id, name, sizeof name);
    if (strstr(finding->names, name) == NULL && length + sizeof name < sizeof finding->names)
        snprintf(finding->names + length, sizeof finding->names - length, "%s%s",
                 length > 0 ? ", " : "", name);
}

/* The row of the device, new or known. */
static enum varve_code device_row(struct finding *finding, const struct vv_device *wanted,
                                  size_t *out_row, struct varve_error *error)
{
    struct vv_device_work *work = finding->work;
    uint32_t row, whose = vv_device_whose(wanted->scope, wanted->owner);
    VV_TRY(vv_groups_add(&finding->rows, whose, wanted->id, &row, error));
    *out_row = row;
    if (row < work->device_count)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(work->scope->scratch, &finding->devices, &finding->capacity,
                              work->device_count + 1, error));
    finding->devices[work->device_count++] = *wanted;
    return VARVE_OK;
}

static enum varve_code find_work(struct finding *finding, struct varve_error *error)
{
    struct vv_device_work *work = finding->work;
    const struct vv_model *model = work->scope->model;
    size_t row = 0;
    for (uint32_t a = 0; a < model->activities.table.count; a++) {
        struct vv_device device;
        if (!is_chosen(finding, a, &device))
            continue;
        bool is_left_out = !is_in_scope(finding, a, &device);
        if (is_left_out && !work->scope->every_step)
            continue;
        enum vv_device_class class = class_of(finding, a);
        if (class == VV_CLASS_NONE)
            continue;
        if (finding->wanted != NULL && !vv_device_is_called(device.id, finding->wanted)) {
            note_unwanted(finding, device.id);
            continue;
        }
        if (work->device_count == 0 || !are_same(&finding->devices[row], &device))
            VV_TRY(device_row(finding, &device, &row, error));
        finding->found[finding->found_count++] =
            (struct found){ a, (uint32_t)row, (uint8_t) class, is_left_out };
        if (is_left_out)
            continue;
        work->count++;
        finding->devices[row].last++; /* `last` is a count until the work has its place */
        work->unlinked += model->activities.launch[a] == VV_NONE;
    }
    if (finding->wanted != NULL && work->count == 0 && finding->names[0] != '\0')
        VV_FAIL(error, VARVE_INVALID, "no device '%s' did work here. These did: %s",
                finding->wanted, finding->names);
    return VARVE_OK;
}

/* ---- sorting ---- */

/* Sorts the devices, and finds where the work of each begins. new_row: former row -> new row. */
static void place_devices(struct finding *finding, size_t *new_row, struct vv_device *former)
{
    struct vv_device *devices = finding->devices;
    size_t first = 0, known = finding->work->device_count, count = 0;
    if (known == 0)
        return;
    memcpy(former, devices, known * sizeof *former);
    for (size_t old = 0; old < known; old++) { /* a device that only worked in warm-up steps is
                                                  dropped */
        new_row[old] = SIZE_MAX;
        if (former[old].last == 0)
            continue;
        former[old].first = old; /* former row, until the devices are sorted */
        devices[count++] = former[old];
    }
    finding->work->device_count = count;
    qsort(devices, count, sizeof *devices, compare_devices);
    for (size_t d = 0; d < count; d++) {
        size_t items = devices[d].last;
        new_row[devices[d].first] = d;
        devices[d].first = devices[d].last = first;
        first += items;
    }
}

static struct vv_interval times_of(const struct vv_device_work *work, uint32_t slice)
{
    const struct vv_slices *slices = &work->scope->model->slices;
    if (work->is_hta)
        return vv_hta_times(&work->hta, slice);
    return (struct vv_interval){ slices->begin_ns[slice],
                                 slices->begin_ns[slice] + slices->duration_ns[slice] };
}

static int compare_places(const void *a, const void *b, void *context)
{
    const struct vv_model *model = context;
    const struct vv_work_item *left = a, *right = b;
    uint32_t of_left = model->activities.slice[left->activity],
             of_right = model->activities.slice[right->activity];
    if (model->slices.track[of_left] != model->slices.track[of_right])
        return vv_track_compare(model, model->slices.track[of_left], model->slices.track[of_right]);
    return (of_left > of_right) - (of_left < of_right);
}

/* Sorts work that begins at the same instant by track, so the order of the file does not matter. */
static void order_ties(const struct finding *finding, const struct vv_device *device)
{
    struct vv_work_item *items = finding->items;
    for (size_t i = device->first, next; i < device->last; i = next) {
        for (next = i + 1; next < device->last && items[next].begin_ns == items[i].begin_ns; next++)
            ;
        if (next - i > 1)
            qsort_r(items + i, next - i, sizeof *items, compare_places,
                    (void *)finding->work->scope->model);
    }
}

/* Places the next row in order of time: an item of its device, or a cut of the device's time.
 * Between two items one cut counts. */
static void place(const struct finding *finding, const struct found *next, const size_t *new_row)
{
    if (new_row[next->device] == SIZE_MAX)
        return;
    struct vv_device *device = &finding->devices[new_row[next->device]];
    const struct vv_work_item *former =
        device->last > device->first ? &finding->items[device->last - 1] : NULL;
    const struct vv_device_work *work = finding->work;
    if (next->is_left_out) {
        device->cuts = former != NULL && device->cuts < UINT16_MAX ? (uint16_t)(former->stretch + 1)
                                                                   : device->cuts;
        return;
    }
    struct vv_interval times = times_of(work, work->scope->model->activities.slice[next->activity]);
    finding->items[device->last++] =
        (struct vv_work_item){ times.begin_ns, times.end_ns, next->activity, next->class,
                               device->cuts };
}

static enum varve_code place_work(const struct finding *finding, struct vv_keyed_row *keys,
                                  const size_t *new_row, struct varve_error *error)
{
    const struct vv_device_work *work = finding->work;
    const uint32_t *slice_of = work->scope->model->activities.slice;
    const struct found *found = finding->found;
    int64_t origin_ns = INT64_MAX;
    for (size_t i = 0; i < finding->found_count; i++) {
        int64_t begin_ns = times_of(work, slice_of[found[i].activity]).begin_ns;
        origin_ns = begin_ns < origin_ns ? begin_ns : origin_ns;
    }
    for (size_t i = 0; i < finding->found_count; i++) {
        uint64_t key = (uint64_t)(times_of(work, slice_of[found[i].activity]).begin_ns - origin_ns);
        keys[i] = (struct vv_keyed_row){ key, (uint32_t)i };
    }
    VV_TRY(vv_radix_sort(keys, finding->found_count, error));
    for (size_t i = 0; i < finding->found_count; i++)
        place(finding, &found[keys[i].row], new_row);
    for (size_t d = 0; d < work->device_count && !work->is_hta; d++)
        order_ties(finding, &finding->devices[d]);
    return VARVE_OK;
}

static enum varve_code order_work(struct finding *finding, struct varve_error *error)
{
    struct vv_device_work *work = finding->work;
    size_t devices = work->device_count + 1;
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &keys, finding->found_count, error));
    size_t *new_row;
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &new_row, devices, error));
    struct vv_device *former;
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &former, devices, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scope->scratch, &finding->items, work->count, error));
    place_devices(finding, new_row, former);
    VV_TRY(place_work(finding, keys, new_row, error));
    work->devices = finding->devices;
    work->items = finding->items;
    return VARVE_OK;
}

static enum varve_code find_and_order(struct finding *finding, struct varve_error *error)
{
    const struct vv_model *model = finding->work->scope->model;
    if (finding->wanted != NULL && strcmp(finding->wanted, "all") == 0)
        finding->wanted = NULL;
    VV_TRY(
        VV_SCRATCH_ARRAY(finding->scratch, &finding->found, model->activities.table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &finding->by_name, model->strings.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &finding->steps, model->steps.table.count, error));
    finding->step_count = order_chosen(finding->work->scope, finding->steps);
    VV_TRY(find_work(finding, error));
    return order_work(finding, error);
}

static enum varve_code find_in_scratch(struct vv_device_work *work, const char *device,
                                       struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    struct finding finding = { .work = work, .wanted = device, .scratch = &own,
                               .rows = { .scratch = &own } };
    enum varve_code code = find_and_order(&finding, error);
    vv_scratch_deinit(&own);
    return code;
}

/* ---- of all ranks, threads and steps: found once ---- */

struct whole { /* as in struct vv_device_work */
    const struct vv_work_item *items;
    const struct vv_device *devices;
    size_t count, device_count;
    uint64_t unlinked;
};
_Static_assert(sizeof(struct whole) <= VV_ONCE_BYTES, "once.h");

static enum varve_code find_whole(const struct vv_model *model, bool with_warm_up,
                                  struct vv_scratch *scratch, struct whole *out,
                                  struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    struct vv_selection selection = VV_SELECTION_ALL;
    struct vv_scope scope;
    struct vv_device_work work = { .scope = &scope };
    selection.warm_up = with_warm_up;
    enum varve_code code = vv_scope_init(&scope, model, &selection, &own, error);
    scope.scratch = scratch;
    if (code == VARVE_OK)
        code = find_in_scratch(&work, NULL, error);
    vv_scratch_deinit(&own);
    *out = (struct whole){ work.items, work.devices, work.count, work.device_count, work.unlinked };
    return code;
}

static enum varve_code find_without_warm_up(const struct vv_model *model,
                                            struct vv_scratch *scratch, void *out_found,
                                            struct varve_error *error)
{
    return find_whole(model, false, scratch, out_found, error);
}

static enum varve_code find_all(const struct vv_model *model, struct vv_scratch *scratch,
                                void *out_found, struct varve_error *error)
{
    return find_whole(model, true, scratch, out_found, error);
}

enum varve_code vv_device_work_init(struct vv_device_work *out_work, const struct vv_scope *scope,
                                    const char *device, struct varve_error *error)
{
    struct whole whole;
    *out_work = (struct vv_device_work){ .scope = scope };
    if (!scope->every_step || !vv_scope_has_all_rows(scope) ||
        (device != NULL && strcmp(device, "all") != 0))
        return find_in_scratch(out_work, device, error);
    if (scope->keeps_warm_up || scope->left_out == 0)
        VV_TRY(vv_model_once(scope->model, VV_ONCE_ALL_DEVICE_WORK, find_all, &whole, sizeof whole,
                             error));
    else
        VV_TRY(vv_model_once(scope->model, VV_ONCE_DEVICE_WORK, find_without_warm_up, &whole,
                             sizeof whole, error));
    out_work->items = whole.items;
    out_work->devices = whole.devices;
    out_work->count = whole.count;
    out_work->device_count = whole.device_count;
    out_work->unlinked = whole.unlinked;
    return VARVE_OK;
}

enum varve_code vv_device_work_asked(struct vv_device_work *out_work, const struct vv_scope *scope,
                                     const struct vv_question *question, struct varve_error *error)
{
    if (!vv_asks_hta(question))
        return vv_device_work_init(out_work, scope, question->selection.device, error);
    *out_work = (struct vv_device_work){ .scope = scope, .is_hta = true };
    VV_TRY(vv_hta_rules_init(&out_work->hta, scope->model, scope->scratch, error));
    return find_in_scratch(out_work, question->selection.device, error);
}

bool vv_device_call(const struct vv_device_work *work, const struct vv_work_item *item,
                    struct vv_interval *out_call)
{
    uint32_t launch = work->scope->model->activities.launch[item->activity];
    if (launch != VV_NONE)
        *out_call = times_of(work, launch);
    return launch != VV_NONE;
}

enum varve_code vv_device_busy(const struct vv_device_work *work, const struct vv_device *device,
                               unsigned classes, struct vv_interval window,
                               struct vv_intervals *out_busy, struct varve_error *error)
{
    out_busy->count = 0;
    for (size_t i = device->first; i < device->last && work->items[i].begin_ns < window.end_ns;
         i++) {
        const struct vv_work_item *item = &work->items[i];
        if ((classes & VV_CLASS_BIT(item->class)) != 0 && item->end_ns > window.begin_ns)
            VV_TRY(vv_intervals_add(
                out_busy, item->begin_ns > window.begin_ns ? item->begin_ns : window.begin_ns,
                item->end_ns < window.end_ns ? item->end_ns : window.end_ns, error));
    }
    vv_intervals_unite(out_busy);
    return VARVE_OK;
}

enum varve_code vv_busy_of_process(const struct vv_device_work *work, uint32_t process,
                                   struct vv_rank_busy *busy, struct varve_error *error)
{
    const struct vv_scope *scope = work->scope;
    uint32_t number = process != VV_NONE ? scope->model->processes.scope[process] : 0;
    int64_t rank = process != VV_NONE ? scope->ranks[process] : -1;
    const struct vv_device before = { .rank = rank, .scope = number };
    size_t first =
        VV_FIRST_NOT(i, 0, work->device_count, compare_devices(&work->devices[i], &before) < 0);
    if (busy->is_known && busy->scope == number && busy->rank == rank)
        return VARVE_OK;
    busy->time.count = 0;
    busy->time.scratch = scope->scratch;
    *busy = (struct vv_rank_busy){ busy->time, number, rank, true };
    for (size_t d = first; d < work->device_count; d++) {
        const struct vv_device *device = &work->devices[d];
        if (device->scope != number || device->rank != rank)
            break;
        for (size_t i = device->first; i < device->last; i++)
            VV_TRY(vv_intervals_add(&busy->time, work->items[i].begin_ns, work->items[i].end_ns,
                                    error));
    }
    vv_intervals_unite(&busy->time);
    return VARVE_OK;
}
