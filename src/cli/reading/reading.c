/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/reading.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/answer.h"
#include "base/text/size.h"
#include "cache/cache.h"
#include "cli/line/cleanup_on_signal.h"
#include "cli/line/heap.h"
#include "cli/line/meter.h"
#include "cli/line/say.h"
#include "model/find.h"
#include "cli/reading/again.h"
#include "cli/reading/cache_use.h"
#include "cli/reading/chosen.h"
#include "cli/reading/locate.h"
#include "cli/reading/output.h"
#include "derive/select/filter.h"
#include "import/gather.h"
#include "import/importer.h"
#include "machine/peak_file.h"

/* True if the first operand is a file. A file is another program's trace: Varve's own traces are
 * folders. */
static bool is_foreign(const struct vv_arguments *arguments)
{
    struct stat status;
    return arguments->operand_count > 0 && stat(arguments->operands[0], &status) == 0 &&
           S_ISREG(status.st_mode);
}

/* True if the message itself says what to do, or if no command would help. */
static bool is_said(const struct varve_error *error)
{
    return vv_error_next(error) == VV_NEXT_IS_SAID || error->code == VARVE_INVALID ||
           error->code == VARVE_NO_MEMORY || error->code == VARVE_PERMISSION;
}

/* Says what to type after an input that cannot be read. */
static void say_next(const struct vv_arguments *arguments, const struct varve_error *error)
{
    char *newest = NULL;
    bool is_damaged = error->code == VARVE_CORRUPT || error->code == VARVE_TRUNCATED;
    if (is_said(error))
        return;
    if (vv_error_next(error) == VV_NEXT_MORE_MEMORY)
        vv_say_more("allow it more:  --max-memory SIZE");
    else if (error->code == VARVE_LIMIT && is_foreign(arguments))
        vv_say_more("that is beyond varve's limits: let the program that wrote it leave it out");
    else if (is_damaged && is_foreign(arguments))
        vv_say_more("copy it again, or let the program that wrote it write it again");
    else if (is_damaged)
        vv_say_more("record it again:  varve record -- PROGRAM ARGS");
    else if (arguments->operand_count > 0 && vv_locate_newest(&newest, NULL) == VARVE_OK)
        vv_say_more("the newest trace here is %s:  varve report", newest);
    else
        vv_say_more("record one:  varve record -- PROGRAM ARGS");
    free(newest);
}

/* ---- the options of the command line ---- */

/* The bytes that reading may use: --max-memory, or three quarters of the machine's memory.
 * VARVE_INVALID if the option is wrong. */
static enum varve_code memory_of(const struct vv_arguments *arguments, uint64_t *out_bytes,
                                 struct varve_error *error)
{
    if (arguments->max_memory != NULL)
        VV_TRY_NOTE(vv_size_parse(arguments->max_memory, out_bytes, error), error, "--max-memory");
    else
        *out_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
    return VARVE_OK;
}

static enum varve_code name_traces(const struct vv_arguments *arguments, struct vv_reading *reading,
                                   struct varve_error *error)
{
    if (arguments->operand_count < 2) {
        VV_TRY(vv_locate_trace(arguments, &reading->path, error));
        reading->title = strdup(reading->path);
    } else {
        VV_TRY(vv_paths_differ((const char *const *)arguments->operands, arguments->operand_count,
                               error));
        reading->path = strdup(arguments->operands[0]);
        if (asprintf(&reading->title, "%s and %zu more", arguments->operands[0],
                     arguments->operand_count - 1) < 0)
            reading->title = NULL;
    }
    if (reading->path == NULL || reading->title == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
    return VARVE_OK;
}

/* ---- reading ---- */

static enum varve_code import(const struct vv_arguments *arguments,
                              const struct vv_gathered *gathered, struct vv_reading *reading,
                              struct varve_error *error)
{
    struct vv_meter meter;
    struct vv_import_options options = { .progress = vv_meter_show, .progress_context = &meter,
                                         .step_by = arguments->step_by,
                                         .step_thread = arguments->thread,
                                         .named_bytes = gathered->named_bytes,
                                         .is_bound_by_size = arguments->max_memory == NULL,
                                         /* a cache answers every question */
                                         .is_without_args = reading->is_without_args &&
                                                            reading->cache == NULL };
    if (arguments->step_by != NULL && arguments->step_by[strspn(arguments->step_by, ".")] == '\0')
        VV_FAIL(error, VARVE_INVALID, "--step-by wants a name, not '%s'", arguments->step_by);
    VV_TRY(memory_of(arguments, &options.max_memory_bytes, error));
    vv_meter_begin(&meter, reading->title, arguments->quiet);
    enum varve_code code = vv_import_all((const char *const *)gathered->paths, gathered->count,
                                         &options, &reading->model, error);
    vv_meter_end(&meter);
    return code;
}

/* A cache holds the steps of the threads with most of them. Does --thread name another one? */
static bool wants_other_steps(const struct vv_arguments *arguments, const struct vv_model *model)
{
    for (uint32_t t = 0; t < model->tracks.table.count && arguments->thread != NULL; t++)
        if (model->tracks.steps_left[t] > 0 && vv_track_is_called(model, t, arguments->thread))
            return true;
    return false;
}

static bool has_steps_left(const struct vv_model *model)
{
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        if (model->tracks.steps_left[t] > 0)
            return true;
    return false;
}

/* Opens the cache of the files, if there is one that holds the steps asked for. */
static enum varve_code open_cache(const struct vv_arguments *arguments, const char *const *paths,
                                  size_t count, struct vv_reading *reading,
                                  struct varve_error *error)
{
    VV_TRY(vv_reading_cache(arguments, paths, count, &reading->cache, error));
    if (reading->cache != NULL)
        reading->model = vv_cache_open(reading->cache);
    if (reading->model != NULL && wants_other_steps(arguments, reading->model)) {
        vv_model_destroy(reading->model);
        reading->model = NULL;
    }
    if (reading->model != NULL) {
        vv_cache_destroy(reading->cache);
        reading->cache = NULL;
    }
    return VARVE_OK;
}

static void say_gathered(const struct vv_arguments *arguments, const struct vv_gathered *gathered,
                         const char *title)
{
    if (arguments->quiet || gathered->searched == 0)
        return;
    vv_say("reading %zu trace%s in %s", gathered->count, gathered->count == 1 ? "" : "s", title);
    if (gathered->older > 0)
        vv_say_more("%llu older of the same program left out: name what you want to read",
                    (unsigned long long)gathered->older);
}

/* Reads what was gathered; folders that were searched have a cache by their files. */
static enum varve_code read_gathered(const struct vv_arguments *arguments,
                                     const struct vv_gathered *gathered,
                                     struct vv_reading *reading, struct varve_error *error)
{
    const char *const *paths = (const char *const *)gathered->paths;
    if (gathered->searched > 0 && !vv_gather_is_held(gathered))
        VV_TRY(open_cache(arguments, paths, gathered->count, reading, error));
    if (reading->model != NULL)
        return VARVE_OK;
    enum varve_code code = import(arguments, gathered, reading, error);
    if (code == VARVE_OK && arguments->thread != NULL && has_steps_left(reading->model)) {
        vv_cache_destroy(reading->cache); /* the steps may be those that --thread chose */
        reading->cache = NULL;
    }
    return code == VARVE_OK ? vv_gather_name_inputs(gathered, reading->model, error)
                            : vv_gather_name_error(gathered, code, error);
}

/* If the cache cannot be made, the traces are still read. A user who asked for the cache by name
 * gets a message. */
static enum varve_code read_traces(const struct vv_arguments *arguments, struct vv_reading *reading,
                                   struct varve_error *error)
{
    const char *const only[] = { reading->path };
    bool is_one = arguments->operand_count < 2;
    const char *const *names = is_one ? only : (const char *const *)arguments->operands;
    size_t count = is_one ? 1 : arguments->operand_count;
    struct vv_gathered gathered;
    reading->is_cache_wanted = arguments->cache;
    VV_TRY(open_cache(arguments, names, count, reading, error));
    if (reading->model != NULL)
        return VARVE_OK;
    VV_TRY(vv_gather(names, count, vv_cleanup_folder, &gathered, error));
    say_gathered(arguments, &gathered, reading->title);
    enum varve_code code = read_gathered(arguments, &gathered, reading, error);
    vv_gather_end(&gathered);
    return code;
}

/* `reading` is zeroed, but for what the verb has asked for. */
static int open_reading(const struct vv_arguments *arguments, const struct vv_gathered *from,
                        struct vv_reading *reading)
{
    struct varve_error error;
    enum varve_code code = name_traces(arguments, reading, &error);
    if (code == VARVE_OK)
        code = read_traces(arguments, reading, &error);
    if (code == VARVE_OK)
        return VV_EXIT_DONE;
    if (from != NULL)
        (void)vv_gather_name_error(from, code, &error);
    int status = vv_print_error(&error);
    say_next(arguments, &error);
    return status;
}

int vv_reading_open(const struct vv_arguments *arguments, struct vv_reading *out_reading)
{
    return vv_reading_open_gathered(arguments, NULL, out_reading);
}

int vv_reading_open_gathered(const struct vv_arguments *arguments, const struct vv_gathered *from,
                             struct vv_reading *out_reading)
{
    *out_reading = (struct vv_reading){ 0 };
    return open_reading(arguments, from, out_reading);
}

static void watch_temporary(const char *path)
{
    vv_cleanup_file(VV_CLEANUP_CACHE, AT_FDCWD, path);
}

void vv_reading_close(struct vv_reading *reading)
{
    struct varve_error error;
    if (reading->cache != NULL && reading->model != NULL &&
        vv_cache_keep(reading->cache, reading->model, watch_temporary, &error) != VARVE_OK &&
        reading->is_cache_wanted)
        vv_say("no cache was written: %s", error.message);
    vv_cache_destroy(reading->cache);
    free(reading->path);
    free(reading->title);
    vv_model_destroy(reading->model);
    *reading = (struct vv_reading){ 0 };
}

int vv_reading_verdict(const struct vv_arguments *arguments, const struct vv_reading *reading,
                       int status)
{
    const struct vv_model *model = reading->model;
    bool is_whole = model->run.lost == 0 && model->health.truncated_files == 0;
    return status == VV_EXIT_DONE && arguments->strict && !is_whole ? VV_EXIT_NO : status;
}

enum varve_code vv_reading_question(const struct vv_arguments *arguments,
                                    struct vv_question *out_question, struct varve_error *error)
{
    *out_question = (struct vv_question){
        .selection = { .thread = arguments->thread, .rank = arguments->rank,
                       .device = arguments->device,
                       .warm_up = arguments->warm_up, .filter = arguments->filter },
        /* Only an option that the user gave counts: the default of one table is not that of
         * another. */
        .by = arguments->said[VV_OPTION_BY] ? arguments->by : NULL,
        .sort = arguments->said[VV_OPTION_SORT] ? arguments->sort : NULL,
        .compat = arguments->compat,
        .annotation = arguments->annotation,
        .instance = arguments->instance,
        .scale = arguments->scale,
        .link = arguments->link,
        .of = arguments->said[VV_OPTION_OF] ? arguments->of : NULL,
        .edges = arguments->edges,
        .around = arguments->around,
        .hops = arguments->hops,
        .break_cycles = arguments->break_cycles,
        /* A program gets every row unless it asks for fewer. */
        .top = arguments->said[VV_OPTION_TOP] || vv_cli_for_people(arguments) ? arguments->top : 0,
    };
    struct vv_filter filter;
    if (arguments->filter != NULL) /* checked before a large trace is read */
        VV_TRY(vv_filter_compile(arguments->filter, &filter, error));
    return vv_selection_steps(&out_question->selection, arguments->steps, error);
}

/* ---- a screen of several tables ---- */

/* Is it a table that people see only where devices bound the steps? */
static bool is_of_devices(const char *table)
{
    return strcmp(table, "kernel_ops") == 0;
}

/* The sheet of that name among these is there, and has no rows. */
static bool is_empty(const struct vv_table_task *tasks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tasks[i].sheet.name, name) == 0)
            return tasks[i].sheet.row_count == 0;
    return false;
}

/* Do devices bound the steps, by the table verdict among these, or is there nothing but their work?
 * True if the table is not there. */
static bool are_devices_the_bound(const struct vv_table_task *tasks, size_t count)
{
    static const char *const devices[] = { "computation", "communication", "copies", NULL };
    if (is_empty(tasks, count, "devices"))
        return false;
    if (is_empty(tasks, count, "operators"))
        return true;
    for (size_t i = 0; i < count; i++) {
        const struct vv_sheet *verdict = &tasks[i].sheet;
        if (strcmp(verdict->name, "verdict") != 0)
            continue;
        for (size_t d = 0; devices[d] != NULL && verdict->row_count > 0; d++)
            if (strcmp(vv_sheet_cell(verdict, 0, 0)->text, devices[d]) == 0)
                return true;
        return false;
    }
    return true;
}

struct screen {
    struct vv_table_task tasks[VV_READING_SHEETS_MAX];
    size_t count;
    bool is_brief; /* for people: tables that they would not see are not made                  */
};

/* Fills the sheets in the order of the tables. screen->count says how many there are, also if one
 * fails. */
static enum varve_code fill_tables(struct screen *screen, const struct vv_question *question,
                                   const struct vv_model *model, const char *const *tables,
                                   struct varve_error *error)
{
    struct vv_table_task *tasks = screen->tasks;
    size_t count = 0, now = 0;
    for (; tables[count] != NULL; count++) {
        tasks[count] = (struct vv_table_task){ .is_alone = tables[1] == NULL };
        VV_TRY(vv_table_find(tables[count], &tasks[count].table, error));
    }
    vv_heap_make_room(model->slices.table.count);
    while (now < count && !(screen->is_brief && is_of_devices(tables[now])))
        now++; /* such tables stand last */
    VV_TRY(vv_tables_answer(tasks, now, model, question, error));
    screen->count = now;
    if (now == count || !are_devices_the_bound(tasks, now))
        return VARVE_OK;
    VV_TRY(vv_tables_answer(tasks + now, count - now, model, question, error));
    screen->count = count;
    return VARVE_OK;
}

int vv_reading_print(const struct vv_arguments *arguments, const char *verb,
                     const char *const *tables, unsigned flags)
{
    struct screen screen = { .is_brief = arguments->table == NULL &&
                                         vv_cli_for_people(arguments) };
    const struct vv_sheet *shown[VV_READING_SHEETS_MAX];
    size_t shown_count = 0;
    bool has_args_shown = arguments->table != NULL || arguments->filter != NULL;
    struct vv_reading reading = { .is_without_args = !has_args_shown &&
                                                     (flags & VV_SCREEN_WITHOUT_ARGS) };
    struct vv_question question;
    struct vv_peaks peaks = { .bytes = 0 };
    struct vv_again again = { 0 };
    struct varve_error error;
    const char *const only[] = { arguments->table, NULL }, *const first[] = { tables[0], NULL };
    if (vv_reading_question(arguments, &question, &error) != VARVE_OK)
        return vv_print_error(&error);
    if (vv_asks_fluid(arguments) && arguments->table == NULL) {
        (void)vv_fail(&error, VARVE_INVALID,
                      "varve %s has no table by the rules of paddle. Type varve report --compat "
                      "paddle",
                      verb);
        return vv_print_error(&error);
    }
    question.full = (flags & VV_SCREEN_FULL) != 0;
    int status = open_reading(arguments, NULL, &reading);
    if (status == VV_EXIT_DONE &&
        vv_check_choices(arguments, &question, reading.model, &error) != VARVE_OK)
        status = vv_print_error(&error);
    if (status == VV_EXIT_DONE && vv_peak_file_of_run(reading.model, &peaks))
        question.host_peaks = &peaks;
    if (status == VV_EXIT_DONE && vv_again_init(&again, arguments, &reading, &error) != VARVE_OK)
        status = vv_print_error(&error);
    if (status == VV_EXIT_DONE && screen.is_brief && vv_has_no_records(reading.model))
        tables = question.full ? tables : first; /* it says that nothing was recorded */
    question.again_options = again.options;
    question.again_device = again.device;
    question.again_steps = again.steps;
    question.again_traces = again.traces;
    if (status == VV_EXIT_DONE &&
        fill_tables(&screen, &question, reading.model, arguments->table != NULL ? only : tables,
                    &error) != VARVE_OK)
        status = vv_print_error(&error);
    if (status == VV_EXIT_DONE) {
        for (size_t i = 0; i < screen.count; i++)
            if (!screen.is_brief || screen.tasks[i].sheet.row_count > 0 ||
                !screen.tasks[i].table->is_optional)
                shown[shown_count++] = &screen.tasks[i].sheet;
        if (shown_count == 0 && screen.count > 0) /* it says that there is nothing, and of what */
            shown[shown_count++] = &screen.tasks[0].sheet;
        status = vv_cli_print(arguments, verb, reading.title, shown, shown_count);
        status = vv_reading_verdict(arguments, &reading, status);
    }
    while (screen.count > 0)
        vv_sheet_deinit(&screen.tasks[--screen.count].sheet);
    vv_again_deinit(&again);
    vv_reading_close(&reading);
    return status;
}
