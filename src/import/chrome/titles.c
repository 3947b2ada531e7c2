/* SPDX-License-Identifier: Apache-2.0 */
/* titles.c — metadata events (M): names, labels, and the display order of processes and threads.
 * They may be at any place in the file. They may also name something that has no events; that gets
 * no rows. */
#include <stdio.h>
#include <stdlib.h>

#include "import/chrome/number.h"
#include "import/chrome/reader.h"
#include "varve/varve.h"

static const struct { const char *event, *arg; enum vv_chrome_title_kind kind; } title_kinds[] = {
    { "process_name", "name", VV_TITLE_PROCESS_NAME },
    { "process_labels", "labels", VV_TITLE_PROCESS_LABELS },
    { "process_sort_index", "sort_index", VV_TITLE_PROCESS_SORT },
    { "thread_name", "name", VV_TITLE_THREAD_NAME },
    { "thread_sort_index", "sort_index", VV_TITLE_THREAD_SORT },
};

static bool is_key(const struct vv_chrome_value *key, const char *word)
{
    return vv_text_is(key->at, key->length, word);
}

/* Kineto's names of threads and streams end in a blank. */
static enum varve_code push_title(struct vv_chrome_reader *reader, struct vv_chrome_title *title,
                                  const struct vv_chrome_value *said, struct varve_error *error)
{
    struct vv_chrome_value trimmed = *said, *value = &trimmed;
    while (said->kind == VV_CHROME_STRING && value->length > 0 &&
           value->at[value->length - 1] == ' ')
        value->length--;
    VV_TRY(vv_chrome_store(reader, value, &title->value, &title->value_kind, error));
    VV_CHROME_PUSH(&reader->titles, *title, error);
    return VARVE_OK;
}

/* Keeps a metadata event that the format does not define: each argument is a fact of its
 * process. */
static enum varve_code add_other(struct vv_chrome_reader *reader, struct vv_chrome_title *title,
                                 struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    const struct vv_chrome_value *name = &event->fields[VV_FIELD_NAME];
    uint32_t event_name = 0, arg_name;
    title->kind = VV_TITLE_OTHER;
    if (vv_chrome_has(event, VV_FIELD_NAME) && name->kind == VV_CHROME_STRING)
        VV_TRY(vv_chrome_text_id(&reader->text, name, &event_name, error));
    for (size_t i = 0; i < event->arg_count; i++) {
        char *key;
        VV_TRY(vv_chrome_text_id(&reader->text, &event->args[i].key, &arg_name, error));
        const struct vv_intern *strings = &reader->model->strings;
        if (asprintf(&key, "%s.%s", vv_intern_text(strings, event_name),
                     vv_intern_text(strings, arg_name)) < 0)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a name");
        enum varve_code code = vv_model_text(reader->model, key, &title->key, error);
        free(key);
        VV_TRY(code);
        VV_TRY(push_title(reader, title, &event->args[i].value, error));
    }
    return VARVE_OK;
}

enum varve_code vv_chrome_add_title(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    const struct vv_chrome_value *name = &event->fields[VV_FIELD_NAME];
    struct vv_chrome_title title = { .kind = VV_TITLE_EVENT };
    VV_TRY(vv_chrome_ident(&reader->text,
                           vv_chrome_has(event, VV_FIELD_PID) ? &event->fields[VV_FIELD_PID] : NULL,
                           &title.pid, error));
    VV_TRY(vv_chrome_ident(&reader->text,
                           vv_chrome_has(event, VV_FIELD_TID) ? &event->fields[VV_FIELD_TID] : NULL,
                           &title.tid, error));
    VV_CHROME_PUSH(&reader->titles, title, error); /* the event itself, to be counted           */
    for (size_t i = 0; i < sizeof title_kinds / sizeof title_kinds[0]; i++) {
        if (!vv_chrome_has(event, VV_FIELD_NAME) || !is_key(name, title_kinds[i].event))
            continue;
        title.kind = (uint8_t)title_kinds[i].kind;
        for (size_t arg = 0; arg < event->arg_count; arg++)
            if (is_key(&event->args[arg].key, title_kinds[i].arg))
                VV_TRY(push_title(reader, &title, &event->args[arg].value, error));
        return VARVE_OK;
    }
    return add_other(reader, &title, error);
}

/* ---- applying them ---- */

static uint32_t process_of(const struct vv_chrome_reader *reader, struct vv_chrome_ident pid)
{
    static const struct vv_chrome_ident of_process = { 0, VV_IDENT_NONE };
    return vv_chrome_find_place(&reader->places, pid, of_process);
}

/* If there are several names, the longest counts; of equally long ones, the last in the alphabet.
 * So their order does not matter. If there is no name, the text of a pid or tid serves. */
static void take_name(const struct vv_chrome_reader *reader, const struct vv_chrome_title *title,
                      struct vv_chrome_ident ident, uint32_t *name)
{
    const struct vv_intern *strings = &reader->model->strings;
    uint32_t offered = (uint32_t)title->value;
    if (title->value_kind != VV_ARG_TEXT || offered == 0)
        return;
    bool is_ident = ident.kind == VV_IDENT_TEXT && *name == ident.number;
    bool is_longer = strings->lengths[offered] > strings->lengths[*name];
    bool is_later = strings->lengths[offered] == strings->lengths[*name] &&
                    strcmp(strings->strings[offered], strings->strings[*name]) > 0;
    if (is_ident || is_longer || is_later)
        *name = offered;
}

static enum varve_code add_fact(struct vv_chrome_reader *reader, uint32_t process, uint32_t key,
                                const struct vv_chrome_title *title, struct varve_error *error)
{
    struct vv_facts *facts = &reader->model->facts;
    uint32_t row;
    VV_TRY(vv_model_add_fact(reader->model, &row, error));
    facts->key[row] = key;
    facts->process[row] = process;
    facts->value[row] = title->value;
    facts->kind[row] = title->value_kind;
    return VARVE_OK;
}

static enum varve_code apply_to_process(struct vv_chrome_reader *reader,
                                        const struct vv_chrome_title *title,
                                        struct varve_error *error)
{
    uint32_t process = process_of(reader, title->pid), key = title->key;
    if (process == VV_NONE)
        return VARVE_OK;
    if (title->kind == VV_TITLE_PROCESS_NAME) {
        take_name(reader, title, title->pid, &reader->model->processes.name[process]);
        return VARVE_OK;
    }
    if (title->kind == VV_TITLE_PROCESS_LABELS)
        VV_TRY(vv_model_text(reader->model, "process_labels", &key, error));
    else if (title->kind == VV_TITLE_PROCESS_SORT)
        VV_TRY(vv_model_text(reader->model, "process_sort_index", &key, error));
    return add_fact(reader, process, key, title, error);
}

static void apply_to_track(struct vv_chrome_reader *reader, const struct vv_chrome_title *title)
{
    struct vv_tracks *tracks = &reader->model->tracks;
    uint32_t track = vv_chrome_find_place(&reader->places, title->pid, title->tid);
    if (track == VV_NONE)
        return;
    if (title->kind == VV_TITLE_THREAD_NAME)
        take_name(reader, title, title->tid, &tracks->name[track]);
    if (title->kind == VV_TITLE_THREAD_SORT && title->value_kind == VV_ARG_INT &&
        (int64_t)title->value >= INT32_MIN && (int64_t)title->value <= INT32_MAX)
        tracks->sort_index[track] = (int32_t)title->value;
}

static enum varve_code add_named(struct vv_named_pids *named, struct vv_chrome_ident pid,
                                 struct varve_error *error)
{
    bool is_new = named->count == 0 || named->items[named->count - 1] != pid.number;
    if (pid.kind == VV_IDENT_NUMBER && is_new)
        VV_CHROME_PUSH(named, pid.number, error);
    return VARVE_OK;
}

/* A process for which there are only names has no row. Its metadata events are counted for the
 * process with the most events, which must have written them. */
static enum varve_code count_titles(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_processes *processes = &reader->model->processes;
    uint32_t main_process = VV_NONE;
    uint64_t without = 0;
    for (size_t i = 0; i < reader->titles.count; i++) {
        const struct vv_chrome_title *title = &reader->titles.items[i];
        uint32_t process = process_of(reader, title->pid);
        if (title->kind == VV_TITLE_EVENT && process != VV_NONE)
            processes->events[process]++;
        else
            without += title->kind == VV_TITLE_EVENT;
        if (process == VV_NONE && reader->job->named != NULL)
            VV_TRY(add_named(reader->job->named, title->pid, error));
    }
    for (uint32_t row = reader->places.first_process; row < processes->table.count; row++)
        if (main_process == VV_NONE || processes->events[row] > processes->events[main_process])
            main_process = row;
    if (main_process == VV_NONE && without > 0) {
        struct vv_chrome_place place;
        const struct vv_chrome_title *title = &reader->titles.items[0];
        VV_TRY(
            vv_chrome_place(&reader->places, reader->model, title->pid, title->tid, &place, error));
        main_process = place.process;
    }
    if (main_process != VV_NONE)
        processes->events[main_process] += without;
    return VARVE_OK;
}

/* ---- devices ---- */

/* What is known about a process: its label, and the device of its tracks. */
struct device_name {
    uint32_t label, device;
    bool is_device;
};

/* Kineto gives a GPU's process the name of the program, and the label "GPU 0". */
static enum varve_code name_device(struct vv_chrome_reader *reader, uint32_t process,
                                   const struct device_name *known, struct varve_error *error)
{
    uint32_t *name = &reader->model->processes.name[process], label = known->label;
    char text[32];
    if (!known->is_device)
        return VARVE_OK;
    const char *label_text = vv_intern_text(&reader->model->strings, label);
    if (label != 0 && strncmp(label_text, "CPU", 3) != 0) {
        *name = label;
        return VARVE_OK;
    }
    if (label != 0 || known->device == VV_NONE || *name != 0 ||
        known->device >> 16 != VARVE_DEVICE_KIND_CUDA)
        return VARVE_OK;
    snprintf(text, sizeof text, "GPU %u", known->device & 0xffff);
    return vv_model_text(reader->model, text, name, error);
}

static enum varve_code name_devices(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_processes *processes = &reader->model->processes;
    const struct vv_tracks *tracks = &reader->model->tracks;
    uint32_t first = reader->places.first_process;
    size_t count = processes->table.count - first;
    struct device_name *known = calloc(count + 1, sizeof *known);
    enum varve_code code = VARVE_OK;
    if (known == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of %zu processes", count);
    for (size_t i = 0; i < reader->titles.count; i++) {
        const struct vv_chrome_title *title = &reader->titles.items[i];
        uint32_t process = process_of(reader, title->pid);
        if (title->kind == VV_TITLE_PROCESS_LABELS && process != VV_NONE &&
            title->value_kind == VV_ARG_TEXT)
            known[process - first].label = (uint32_t)title->value;
    }
    for (uint32_t row = reader->places.first_track; row < tracks->table.count; row++) {
        if (tracks->kind[row] != VV_TRACK_DEVICE)
            continue;
        struct device_name *of = &known[tracks->process[row] - first];
        of->is_device = true;
        of->device = tracks->device[row];
    }
    for (uint32_t i = 0; i < count && code == VARVE_OK; i++)
        code = name_device(reader, first + i, &known[i], error);
    free(known);
    return code;
}

enum varve_code vv_chrome_apply_titles(struct vv_chrome_reader *reader, struct varve_error *error)
{
    VV_TRY(count_titles(reader, error));
    for (size_t i = 0; i < reader->titles.count; i++) {
        const struct vv_chrome_title *title = &reader->titles.items[i];
        if (title->kind == VV_TITLE_THREAD_NAME || title->kind == VV_TITLE_THREAD_SORT)
            apply_to_track(reader, title);
        else if (title->kind != VV_TITLE_EVENT)
            VV_TRY(apply_to_process(reader, title, error));
    }
    return name_devices(reader, error);
}
