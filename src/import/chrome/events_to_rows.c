/* SPDX-License-Identifier: Apache-2.0 */
/* events_to_rows.c — decides what kind of event it is, and makes the rows for kinds that depend on
 * no other event. */
#include <stdio.h>
#include <stdlib.h>

#include "import/chrome/number.h"
#include "import/chrome/reader.h"

typedef enum varve_code apply_function(struct vv_chrome_reader *reader, struct varve_error *error);

static const struct vv_chrome_value *field(const struct vv_chrome_reader *reader,
                                           enum vv_chrome_field which)
{
    return vv_chrome_has(&reader->event, which) ? &reader->event.fields[which] : NULL;
}

/* ---- what all events share ---- */

static enum varve_code find_class(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_chrome_now *now = &reader->now;
    const struct vv_chrome_value *category = field(reader, VV_FIELD_CAT);
    bool found;
    now->class = reader->known_classes[0];
    now->category = 0;
    if (category == NULL || category->kind != VV_CHROME_STRING || category->length == 0)
        return VARVE_OK;
    struct vv_recent_probe probe = vv_recent_probe(category->at, category->length);
    struct vv_recent_text *slot = vv_recent_find(&reader->categories, &probe, &found);
    if (__builtin_expect(found, 1)) {
        now->category = slot->id;
        now->class = reader->known_classes[slot->meaning];
        return VARVE_OK;
    }
    VV_TRY(vv_chrome_text_id(&reader->text, category, &now->category, error));
    const char *text = vv_intern_text(&reader->model->strings, now->category);
    uint32_t length = reader->model->strings.lengths[now->category], row = 0;
    now->class = vv_dialect_class(text, length);
    while (row < reader->known_class_count && reader->known_classes[row] != now->class)
        row++;
    if (row == sizeof reader->known_classes / sizeof *reader->known_classes)
        return VARVE_OK; /* the event is looked up again                                        */
    if (row == reader->known_class_count)
        reader->known_classes[reader->known_class_count++] = now->class;
    if (length == category->length && memcmp(text, category->at, length) == 0)
        vv_recent_take(slot, &probe, text, now->category, row);
    return VARVE_OK;
}

static enum varve_code find_name(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_value *name = field(reader, VV_FIELD_NAME);
    reader->now.name = 0;
    if (name == NULL)
        return VARVE_OK;
    if (name->kind == VV_CHROME_STRING || name->kind == VV_CHROME_NUMBER)
        return vv_chrome_text_id(&reader->text, name, &reader->now.name, error);
    if (name->kind >= VV_CHROME_ARRAY)
        return vv_chrome_nested_id(&reader->text, name, &reader->now.name, error);
    return VARVE_OK;
}

/* Some writers put their numbers into quotes. */
static enum varve_code find_quoted(struct vv_chrome_reader *reader,
                                   const struct vv_chrome_value *value,
                                   struct vv_chrome_former_ident *former,
                                   struct vv_chrome_ident *out_ident, struct varve_error *error)
{
    bool is_text = value != NULL && value->kind == VV_CHROME_STRING;
    if (is_text && vv_recent_is(&former->text, value->at, value->length)) {
        *out_ident = former->ident;
        return VARVE_OK;
    }
    VV_TRY(vv_chrome_ident(&reader->text, value, out_ident, error));
    if (!is_text || value->length > VV_RECENT_SHORT_BYTES)
        return VARVE_OK;
    struct vv_recent_probe probe = vv_recent_probe(value->at, value->length);
    vv_recent_take(&former->text, &probe, "", 0, 0);
    former->ident = *out_ident;
    return VARVE_OK;
}

static inline enum varve_code find_ident(struct vv_chrome_reader *reader,
                                         const struct vv_chrome_value *value,
                                         struct vv_chrome_former_ident *former,
                                         struct vv_chrome_ident *out_ident,
                                         struct varve_error *error)
{
    if (__builtin_expect(value == NULL || value->kind != VV_CHROME_NUMBER || !value->is_plain ||
                             value->scale > 0 || value->digits > INT64_MAX, 0))
        return find_quoted(reader, value, former, out_ident, error);
    out_ident->kind = VV_IDENT_NUMBER;
    out_ident->number = value->is_negative ? -(int64_t)value->digits : (int64_t)value->digits;
    return VARVE_OK;
}

static enum varve_code find_place(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_chrome_ident pid, tid;
    VV_TRY(find_ident(reader, field(reader, VV_FIELD_PID), &reader->former_pid, &pid, error));
    VV_TRY(find_ident(reader, field(reader, VV_FIELD_TID), &reader->former_tid, &tid, error));
    return vv_chrome_place(&reader->places, reader->model, pid, tid, &reader->now.place, error);
}

static void count_event(struct vv_chrome_reader *reader, int64_t end_ns)
{
    struct vv_processes *processes = &reader->model->processes;
    uint32_t process = reader->now.place.process;
    if (reader->now.time_ns < processes->begin_ns[process])
        processes->begin_ns[process] = reader->now.time_ns;
    if (end_ns > processes->end_ns[process])
        processes->end_ns[process] = end_ns;
}

/* ---- slices ---- */

static bool is_true(const struct vv_chrome_value *value)
{
    return value != NULL && value->kind == VV_CHROME_TRUE;
}

static enum varve_code add_flow_of_slice(struct vv_chrome_reader *reader, struct varve_error *error)
{
    bool enters = is_true(field(reader, VV_FIELD_FLOW_IN));
    bool leaves = is_true(field(reader, VV_FIELD_FLOW_OUT));
    if (!enters && !leaves)
        return VARVE_OK;
    return vv_chrome_add_flow(reader, enters && leaves ? VV_FLOW_THROUGH
                                      : enters         ? VV_FLOW_IN
                                                       : VV_FLOW_OUT, error);
}

static enum varve_code add_half(struct vv_chrome_reader *reader, uint32_t slice,
                                struct varve_error *error)
{
    struct vv_chrome_half half = { .time_ns = reader->now.time_ns, .group = reader->now.place.row,
                                   .track = reader->now.place.row, .slice = slice,
                                   .name = reader->now.name, .first_arg = VV_NONE,
                                   .ordinal = reader->now.ordinal };
    if (slice == VV_NONE)
        VV_TRY(vv_chrome_add_args(reader, &half.first_arg, &half.arg_count, error));
    VV_CHROME_PUSH(&reader->halves, half, error);
    return VARVE_OK;
}

/* If an X has no duration, its end was not recorded; the same holds for a B without an E. */
static enum varve_code apply_complete(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_value *duration = field(reader, VV_FIELD_DUR);
    int64_t duration_ns = 0;
    uint32_t slice;
    if (__builtin_expect(duration == NULL, 0))
        duration = field(reader, VV_FIELD_TDUR);
    bool has_end = duration != NULL && vv_chrome_plain_time_ns(duration, &duration_ns);
    bool is_negative = duration_ns < 0;
    if (__builtin_expect(is_negative, 0)) {
        reader->model->health.negative++;
        duration_ns = 0;
    }
    VV_TRY(vv_chrome_add_slice(reader, has_end ? duration_ns : -1, &slice, error));
    if (is_negative)
        reader->model->slices.flags[slice] |= VV_SLICE_NEGATIVE;
    count_event(reader, reader->now.time_ns + duration_ns);
    if (vv_chrome_has(&reader->event, VV_FIELD_BIND_ID))
        VV_TRY(add_flow_of_slice(reader, error));
    return has_end ? VARVE_OK : add_half(reader, slice, error);
}

static enum varve_code apply_begin(struct vv_chrome_reader *reader, struct varve_error *error)
{
    uint32_t slice;
    VV_TRY(vv_chrome_add_slice(reader, -1, &slice, error));
    count_event(reader, reader->now.time_ns);
    return add_half(reader, slice, error);
}

static enum varve_code apply_end(struct vv_chrome_reader *reader, struct varve_error *error)
{
    count_event(reader, reader->now.time_ns);
    return add_half(reader, VV_NONE, error);
}

/* ---- marks and counters ---- */

static enum varve_code add_mark(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_marks *marks = &reader->model->marks;
    const struct vv_chrome_now *now = &reader->now;
    uint32_t row;
    VV_TRY(vv_model_add_mark(reader->model, &row, error));
    marks->time_ns[row] = now->time_ns;
    marks->name[row] = now->name;
    marks->track[row] = now->place.row;
    marks->category[row] = now->category;
    marks->layer[row] = now->class->layer;
    return vv_chrome_add_args(reader, &marks->first_arg[row], &marks->arg_count[row], error);
}

static enum varve_code apply_instant(struct vv_chrome_reader *reader, struct varve_error *error)
{
    bool done;
    count_event(reader, reader->now.time_ns);
    VV_TRY(vv_kineto_memory(reader, &done, error));
    return done ? VARVE_OK : add_mark(reader, error);
}

/* A sample's own category becomes an argument, because the category of the mark is "sample". */
static enum varve_code apply_sample(struct vv_chrome_reader *reader, struct varve_error *error)
{
    uint32_t category = reader->now.category, row, key;
    struct vv_marks *marks = &reader->model->marks;
    VV_TRY(vv_model_text(reader->model, "sample", &reader->now.category, error));
    count_event(reader, reader->now.time_ns);
    VV_TRY(add_mark(reader, error));
    if (category == 0 || category == reader->now.category)
        return VARVE_OK;
    uint64_t mark = marks->table.count - 1;
    VV_TRY(vv_model_text(reader->model, "cat", &key, error));
    VV_TRY(vv_model_add_arg(reader->model, &row, error));
    reader->model->args.key[row] = key;
    reader->model->args.value[row] = category;
    reader->model->args.kind[row] = VV_ARG_TEXT;
    if (marks->arg_count[mark]++ == 0)
        marks->first_arg[mark] = row;
    return VARVE_OK;
}

static enum varve_code add_counter(struct vv_chrome_reader *reader,
                                   const struct vv_chrome_value *key, double value,
                                   struct varve_error *error)
{
    struct vv_counters *counters = &reader->model->counters;
    uint32_t row;
    VV_TRY(vv_model_add_counter(reader->model, &row, error));
    counters->time_ns[row] = reader->now.time_ns;
    counters->value[row] = value;
    counters->name[row] = reader->now.name;
    counters->track[row] = reader->now.place.row;
    bool is_only = key->length == 0 || vv_text_is(key->at, key->length, "value");
    if (is_only)
        return VARVE_OK;
    return vv_chrome_text_id(&reader->text, key, &counters->series[row], error);
}

/* Several counters may have one name; the id becomes part of the name: "queue [7]". */
static enum varve_code name_with_id(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_value *id = field(reader, VV_FIELD_ID);
    const char *name = vv_intern_text(&reader->model->strings, reader->now.name);
    char *text;
    if (id == NULL || id->kind > VV_CHROME_NUMBER)
        return VARVE_OK;
    if (asprintf(&text, "%s [%.*s]", name, (int)id->length, id->at) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a counter's name");
    enum varve_code code = vv_model_text(reader->model, text, &reader->now.name, error);
    free(text);
    return code;
}

/* What is not a number, or not among "args" (as Chrome's "tts", a clock), is not a counter's value;
 * the event is kept as a mark. */
static enum varve_code apply_counter(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_chrome_event *event = &reader->event;
    size_t rest = 0;
    count_event(reader, reader->now.time_ns);
    VV_TRY(name_with_id(reader, error));
    for (size_t i = 0; i < event->arg_count; i++) {
        double value;
        bool is_inner = i >= event->first_inner && i < event->inner_end;
        if (is_inner && vv_chrome_real(&event->args[i].value, &value))
            VV_TRY(add_counter(reader, &event->args[i].key, value, error));
        else
            event->args[rest++] = event->args[i];
    }
    event->arg_count = rest;
    return rest > 0 ? add_mark(reader, error) : VARVE_OK;
}

/* ---- ends of flows ---- */

static enum varve_code apply_flow(struct vv_chrome_reader *reader, struct varve_error *error)
{
    char phase = reader->now.phase;
    count_event(reader, reader->now.time_ns);
    VV_TRY(vv_chrome_add_flow(reader, phase == 's' ? VV_FLOW_OUT : phase == 't' ? VV_FLOW_STEP
                                                                               : VV_FLOW_IN,
                              error));
    /* Flows have no arguments, so a mark keeps them. */
    return reader->event.arg_count > 0 ? add_mark(reader, error) : VARVE_OK;
}

static enum varve_code apply_async(struct vv_chrome_reader *reader, struct varve_error *error)
{
    count_event(reader, reader->now.time_ns);
    return vv_chrome_add_async(reader, error);
}

/* ---- the table of kinds ---- */

static apply_function *const phases[128] = {
    ['X'] = apply_complete, ['B'] = apply_begin,   ['E'] = apply_end,
    ['i'] = apply_instant,  ['I'] = apply_instant, ['R'] = apply_instant,
    ['N'] = apply_instant,  ['O'] = apply_instant, ['D'] = apply_instant,
    ['P'] = apply_sample,   ['C'] = apply_counter,
    ['s'] = apply_flow,     ['t'] = apply_flow,    ['f'] = apply_flow,
    ['b'] = apply_async,    ['n'] = apply_async,   ['e'] = apply_async,
    ['S'] = apply_async,    ['T'] = apply_async,   ['p'] = apply_async, ['F'] = apply_async,
};

static char phase_of(const struct vv_chrome_reader *reader)
{
    const struct vv_chrome_value *phase = field(reader, VV_FIELD_PH);
    return phase != NULL && phase->kind == VV_CHROME_STRING && phase->length == 1 ? *phase->at
                                                                                  : '\0';
}

static enum varve_code apply_kind(struct vv_chrome_reader *reader, apply_function *apply,
                                  struct varve_error *error)
{
    struct vv_chrome_now *now = &reader->now;
    const struct vv_chrome_value *time = field(reader, VV_FIELD_TS);
    VV_TRY(find_place(reader, error));
    reader->model->processes.events[now->place.process]++;
    if (__builtin_expect(time == NULL || !vv_chrome_plain_time_ns(time, &now->time_ns), 0)) {
        reader->model->health.unplaced++;
        return VARVE_OK;
    }
    if (reader->model->counts_only) {
        count_event(reader, now->time_ns);
        return VARVE_OK;
    }
    VV_TRY(find_class(reader, error));
    VV_TRY(find_name(reader, error));
    return apply(reader, error);
}

enum varve_code vv_chrome_apply(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_chrome_now *now = &reader->now;
    now->phase = phase_of(reader);
    now->ordinal = reader->ordinal++;
    if (now->phase == 'M')
        return vv_chrome_add_title(reader, error);
    apply_function *apply = (unsigned char)now->phase < 128 ? phases[(int)now->phase] : NULL;
    if (__builtin_expect(apply != NULL, 1))
        return apply_kind(reader, apply, error);
    /* Some writers put an empty object after the last comma. It is not an event. */
    reader->model->health.ignored += reader->event.present != 0 || reader->event.arg_count > 0;
    return VARVE_OK;
}

enum varve_code vv_chrome_apply_sample(struct vv_chrome_reader *reader, struct varve_error *error)
{
    reader->now.phase = 'P';
    reader->now.ordinal = reader->ordinal++;
    return apply_kind(reader, apply_sample, error);
}
