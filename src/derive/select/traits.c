/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/traits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/select/source_line.h"
#include "meaning/autograd_links.h"
#include "model/device_id.h"
#include "model/find.h"

static const char *const layer_names[] = { "API",  "HOST",   "OP",   "RUNTIME", "RUNTIME_L1",
                                           "DEVICE",
                                           "COMM", "MEMORY", "STEP", "PYTHON",  "METRIC" };

static const char *const trait_words[VV_TRAIT_COUNT + 1] = {
    [VV_TRAIT_NAME] = "name",     [VV_TRAIT_CATEGORY] = "category", [VV_TRAIT_OP] = "op",
    [VV_TRAIT_THREAD] = "thread", [VV_TRAIT_LAYER] = "layer",       [VV_TRAIT_PHASE] = "phase",
    [VV_TRAIT_SHAPE] = "shape",   [VV_TRAIT_MODULE] = "module",     [VV_TRAIT_SOURCE] = "source",
    [VV_TRAIT_STREAM] = "stream", [VV_TRAIT_DEVICE] = "device",     [VV_TRAIT_RANK] = "rank",
};

const char *vv_trait_word(enum vv_trait trait)
{
    return trait_words[trait];
}

enum varve_code vv_trait_find(const char *word, enum vv_trait *out_trait, struct varve_error *error)
{
    for (int t = 0; t < VV_TRAIT_COUNT; t++) {
        *out_trait = (enum vv_trait)t;
        if (strcmp(trait_words[t], word) == 0)
            return VARVE_OK;
    }
    VV_FAIL(error, VARVE_INVALID, "nothing is called '%s'", word);
}

/* ---- traits from the slices around ---- */

/* A call of a module, as PyTorch's profiler names it. It has no source line of its own. */
static bool is_module(const struct vv_model *model, uint32_t row)
{
    const struct vv_slices *slices = &model->slices;
    return slices->layer[row] == VARVE_LAYER_PYTHON &&
           strncmp(vv_text_of(model, slices->name[row]), "nn.Module: ", 11) == 0;
}

/* The module that the slice itself names, or VV_NONE. */
static uint32_t own_module(const struct vv_model *model, uint32_t row)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t op = slices->op[row];
    if (op != VV_NONE && model->ops.module[op] != 0)
        return model->ops.module[op];
    return is_module(model, row) ? slices->name[row] : VV_NONE;
}

static void inherit_modules(struct vv_traits *traits)
{
    const struct vv_slices *slices = &traits->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t own = own_module(traits->model, row), parent = slices->parent[row];
        traits->modules[row] = own != VV_NONE || parent == VV_NONE ? own : traits->modules[parent];
    }
}

/* A backward operator does the work of its forward operator, so it has the module of that operator.
 * So does the engine's range around it. */
static void follow_links(struct vv_traits *traits, const struct vv_autograd_links *links,
                         uint32_t *forward)
{
    const struct vv_model *model = traits->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t count = (uint32_t)slices->table.count;
    for (uint32_t row = 0; row < count; row++)
        forward[row] = VV_NONE;
    for (size_t i = 0; i < links->count; i++)
        if (traits->modules[links->items[i].forward] != VV_NONE)
            forward[links->items[i].backward] = links->items[i].forward;
    for (uint32_t row = 0; row + 1 < count; row++)
        if (forward[row + 1] != VV_NONE && slices->parent[row + 1] == row &&
            vv_is_engine_range(vv_text_of(model, slices->name[row])))
            forward[row] = forward[row + 1];
    for (uint32_t row = 0; row < count; row++) {
        uint32_t own = own_module(model, row), parent = slices->parent[row];
        if (forward[row] != VV_NONE)
            forward[row] = traits->modules[forward[row]];
        else
            forward[row] = own != VV_NONE || parent == VV_NONE ? own : forward[parent];
    }
    memcpy(traits->modules, forward, count * sizeof *forward);
}

static enum varve_code find_modules(struct vv_traits *traits, struct varve_error *error)
{
    const struct vv_slices *slices = &traits->model->slices;
    struct vv_autograd_links links;
    uint32_t *forward;
    VV_TRY(VV_SCRATCH_ARRAY(traits->scratch, &forward, slices->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(traits->scratch, &traits->modules, slices->table.count, error));
    inherit_modules(traits);
    VV_TRY(vv_autograd_links(traits->model, &links, error));
    follow_links(traits, &links, forward);
    vv_scratch_release(traits->scratch, forward);
    return VARVE_OK;
}

/* Sources that were already found, by row of sources and by string. */
struct known_sources {
    uint32_t *by_row, *by_string;
    bool *is_library; /* by source: it is known, and a library's                                 */
    size_t capacity;
};

static enum varve_code add_source(struct vv_traits *traits, struct known_sources *known,
                                  const char *text, size_t length, uint32_t *out_source,
                                  struct varve_error *error)
{
    size_t former = known->capacity;
    VV_TRY(vv_intern_add(traits->texts, text, length, out_source, error));
    VV_TRY(VV_SCRATCH_RESERVE(traits->scratch, &known->is_library, &known->capacity,
                              (size_t)*out_source + 1, error));
    for (; former < known->capacity; former++)
        known->is_library[former] = false;
    known->is_library[*out_source] =
        vv_is_library_frame(vv_intern_text(traits->texts, *out_source));
    return VARVE_OK;
}

static enum varve_code source_of(struct vv_traits *traits, struct known_sources *known,
                                 uint32_t row, uint32_t *out_source, struct varve_error *error)
{
    const struct vv_model *model = traits->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t op = slices->op[row], source = slices->source[row], string = 0;
    char text[600];
    if (source != 0) {
        *out_source = known->by_row[source];
        if (*out_source != 0)
            return VARVE_OK;
        snprintf(text, sizeof text, "%s:%" PRIu32, vv_text_of(model, model->sources.file[source]),
                 model->sources.line[source]);
        VV_TRY(add_source(traits, known, text, strlen(text), out_source, error));
        known->by_row[source] = *out_source;
        return VARVE_OK;
    }
    if (op != VV_NONE && model->ops.stack[op] != 0)
        string = model->ops.stack[op];
    else if (slices->layer[row] == VARVE_LAYER_PYTHON && !is_module(model, row))
        string = slices->name[row];
    *out_source = known->by_string[string];
    if (string == 0 || *out_source != 0)
        return VARVE_OK;
    const char *frame;
    size_t length = vv_own_frame(vv_text_of(model, string), &frame);
    VV_TRY(add_source(traits, known, frame, length, out_source, error));
    known->by_string[string] = *out_source;
    return VARVE_OK;
}

/* The innermost line that is no library's, else the innermost. */
static enum varve_code fill_sources(struct vv_traits *traits, struct known_sources *known,
                                    struct varve_error *error)
{
    const struct vv_slices *slices = &traits->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row], source;
        VV_TRY(source_of(traits, known, row, &source, error));
        uint32_t around = parent != VV_NONE ? traits->sources[parent] : VV_NONE;
        bool is_better = source == 0 || (known->is_library[source] && around != VV_NONE &&
                                         !known->is_library[around]);
        traits->sources[row] = is_better ? around : source;
    }
    return VARVE_OK;
}

static enum varve_code find_sources(struct vv_traits *traits, struct varve_error *error)
{
    const struct vv_model *model = traits->model;
    struct known_sources known = { .capacity = 0 };
    VV_TRY(VV_SCRATCH_ZEROS(traits->scratch, &known.by_row, model->sources.table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(traits->scratch, &known.by_string, model->strings.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(traits->scratch, &traits->sources, model->slices.table.count, error));
    VV_TRY(vv_intern_in(traits->scratch, &traits->texts, error));
    return fill_sources(traits, &known, error);
}

static enum varve_code find_first_work(struct vv_traits *traits, struct varve_error *error)
{
    const struct vv_model *model = traits->model;
    const struct vv_activities *activities = &model->activities;
    size_t rows = model->slices.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(traits->scratch, &traits->first_work, rows, error));
    memset(traits->first_work, 0xff, rows * sizeof *traits->first_work);
    for (uint32_t a = 0; a < activities->table.count; a++) {
        uint32_t owner = vv_is_device_work(model, a) ? vv_device_owner(model, a) : VV_NONE;
        if (owner == VV_NONE)
            continue;
        uint32_t *first = &traits->first_work[owner];
        if (*first == VV_NONE || model->slices.begin_ns[activities->slice[a]] <
                                     model->slices.begin_ns[activities->slice[*first]])
            *first = a;
    }
    return VARVE_OK;
}

enum varve_code vv_traits_init(struct vv_traits *out_traits, const struct vv_model *model,
                               const int64_t *ranks, unsigned wanted, struct vv_scratch *scratch,
                               struct varve_error *error)
{
    *out_traits = (struct vv_traits){ .model = model, .ranks = ranks, .scratch = scratch };
    if (wanted & VV_TRAIT_BIT(VV_TRAIT_MODULE))
        VV_TRY(find_modules(out_traits, error));
    if (wanted & VV_TRAIT_BIT(VV_TRAIT_PHASE))
        VV_TRY(vv_op_phases(model, &out_traits->phases, error));
    if (wanted & VV_TRAIT_BIT(VV_TRAIT_SOURCE))
        VV_TRY(find_sources(out_traits, error));
    if (wanted & (VV_TRAIT_BIT(VV_TRAIT_STREAM) | VV_TRAIT_BIT(VV_TRAIT_DEVICE)))
        VV_TRY(find_first_work(out_traits, error));
    return VARVE_OK;
}

/* ---- traits of one slice ---- */

static uint32_t layer_number(uint16_t layer)
{
    return layer != 0 ? (uint32_t)__builtin_ctz(layer) : VV_NONE;
}

static uint32_t rank_of(const struct vv_traits *traits, uint32_t track)
{
    uint32_t process = traits->model->tracks.process[track];
    return process != VV_NONE && traits->ranks[process] >= 0 ? (uint32_t)traits->ranks[process]
                                                             : VV_NONE;
}

/* The trait of a piece of device work, or of the first work done for a host slice. */
static uint32_t of_work(const struct vv_traits *traits, enum vv_trait trait, uint32_t slice,
                        bool is_work)
{
    const struct vv_model *model = traits->model;
    uint32_t activity = is_work ? model->slices.activity[slice] : traits->first_work[slice];
    if (activity == VV_NONE)
        return VV_NONE;
    uint32_t track = model->slices.track[model->activities.slice[activity]];
    uint32_t device = model->activities.device[activity];
    if (trait == VV_TRAIT_STREAM)
        return track;
    return device != VV_NONE ? device : model->tracks.device[track];
}

uint32_t vv_trait_of(const struct vv_traits *traits, enum vv_trait trait, uint32_t slice)
{
    const struct vv_model *model = traits->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t activity = slices->activity[slice];
    bool is_work = activity != VV_NONE && vv_is_device_work(model, activity);
    /* the slice that phase, shapes, module and source come from */
    uint32_t subject = is_work && !vv_is_device_operation(model, activity)
                           ? vv_device_owner(model, activity)
                           : slice;
    switch (trait) {
    case VV_TRAIT_NAME:
        return slices->name[slice];
    case VV_TRAIT_CATEGORY:
        return slices->category[slice] != 0 ? slices->category[slice] : VV_NONE;
    case VV_TRAIT_THREAD:
        return slices->track[slice];
    case VV_TRAIT_LAYER:
        return layer_number(slices->layer[slice]);
    case VV_TRAIT_RANK:
        return rank_of(traits, slices->track[slice]);
    case VV_TRAIT_STREAM:
    case VV_TRAIT_DEVICE:
        return of_work(traits, trait, slice, is_work);
    default:
        break;
    }
    uint32_t phase = VV_NONE;
    if (trait == VV_TRAIT_PHASE && subject != VV_NONE)
        phase = vv_phase_of(model, &traits->phases, subject);
    if (trait == VV_TRAIT_PHASE)
        return phase == VV_NONE && is_work ? vv_phase_of(model, &traits->phases, slice) : phase;
    if (subject == VV_NONE)
        return VV_NONE;
    uint32_t op = slices->op[subject];
    switch (trait) {
    case VV_TRAIT_OP:
        return slices->name[subject];
    case VV_TRAIT_SHAPE:
        return op != VV_NONE && model->ops.shapes[op] != 0 ? model->ops.shapes[op] : VV_NONE;
    case VV_TRAIT_MODULE:
        return traits->modules[subject];
    case VV_TRAIT_SOURCE:
        return traits->sources[subject];
    default:
        return VV_NONE;
    }
}

const char *vv_trait_text(const struct vv_traits *traits, enum vv_trait trait, uint32_t value,
                              char *buffer, size_t bytes)
{
    const struct vv_model *model = traits->model;
    switch (trait) {
    case VV_TRAIT_THREAD:
    case VV_TRAIT_STREAM:
        vv_track_text(model, value, buffer, bytes);
        return buffer;
    case VV_TRAIT_LAYER:
        return value < sizeof layer_names / sizeof *layer_names ? layer_names[value] : "";
    case VV_TRAIT_SOURCE:
        return vv_intern_text(traits->texts, value);
    case VV_TRAIT_PHASE:
        return vv_phase_text(model, value);
    case VV_TRAIT_DEVICE:
        vv_device_text(value, buffer, bytes);
        return buffer;
    case VV_TRAIT_RANK:
        snprintf(buffer, bytes, "%" PRIu32, value);
        return buffer;
    default:
        return vv_text_of(model, value);
    }
}

uint32_t vv_trait_limit(const struct vv_traits *traits, enum vv_trait trait)
{
    switch (trait) {
    case VV_TRAIT_THREAD:
    case VV_TRAIT_STREAM:
        return (uint32_t)traits->model->tracks.table.count;
    case VV_TRAIT_LAYER:
        return sizeof layer_names / sizeof *layer_names;
    case VV_TRAIT_SOURCE:
        return traits->texts->count;
    case VV_TRAIT_PHASE:
    case VV_TRAIT_DEVICE:
    case VV_TRAIT_RANK:
        return 0;
    default:
        return traits->model->strings.count;
    }
}
