/* SPDX-License-Identifier: Apache-2.0 */
/* process.c — reads one process folder, in the order of work that process.h describes. */
#include "import/varve/process/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/binary_search.h"
#include "import/input/input_file.h"
#include "import/varve/process/parallel.h"
#include "import/varve/process/ranges.h"
#include "import/varve/records/held.h"

/* ---- the files of the folder ---- */

struct stream_file {
    uint64_t instance, part;
    const char *path; /* in the arena                                                           */
};

struct folder {
    struct vv_arena arena;
    const char *path, *metadata;
    bool keeps_last;                        /* of a flight recorder                              */
    VV_ARRAY_OF(struct stream_file) files;  /* of the current listing                            */
    VV_ARRAY_OF(struct vv_packets) streams;
};

/* Reads decimal digits without a leading zero; false if there are none or too many. */
static bool read_number(const char **text, uint64_t *out_number)
{
    const char *digit = *text;
    uint64_t number = 0;
    for (; *digit >= '0' && *digit <= '9' && digit - *text < 18; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    bool valid = digit > *text && (**text != '0' || digit == *text + 1);
    *text = digit;
    *out_number = number;
    return valid;
}

/* Reads "process.P" or "thread.N.P". */
static bool read_name(const char *name, struct stream_file *out_file)
{
    out_file->instance = 0;
    if (strncmp(name, "process.", 8) == 0) {
        name += 8;
    } else {
        if (strncmp(name, "thread.", 7) != 0)
            return false;
        name += 7;
        if (!read_number(&name, &out_file->instance) || out_file->instance == 0 || *name++ != '.')
            return false;
    }
    return read_number(&name, &out_file->part) && *name == '\0';
}

static enum varve_code join_path(struct folder *folder, const char *name, const char **out_path,
                                 struct varve_error *error)
{
    size_t bytes = strlen(folder->path) + strlen(name) + 2;
    char *path = vv_arena_alloc(&folder->arena, bytes);
    if (path == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for file names");
    snprintf(path, bytes, "%s/%s", folder->path, name);
    *out_path = path;
    return VARVE_OK;
}

static int compare_files(const void *a, const void *b)
{
    const struct stream_file *left = a, *right = b;
    if (left->instance != right->instance)
        return left->instance < right->instance ? -1 : 1;
    return left->part < right->part ? -1 : left->part > right->part;
}

/* Lists the files of the process's own stream, or those of all threads. */
static enum varve_code list_files(struct folder *folder, bool own, struct varve_error *error)
{
    folder->files.count = 0;
    DIR *directory = opendir(folder->path);
    if (directory == NULL)
        return vv_fail_errno(error, errno, "cannot read '%s'", folder->path);
    enum varve_code code = VARVE_OK;
    const struct dirent *entry;
    while (code == VARVE_OK && (entry = readdir(directory)) != NULL) {
        struct stream_file file;
        if (!read_name(entry->d_name, &file) || (file.instance == 0) != own)
            continue;
        code = join_path(folder, entry->d_name, &file.path, error);
        if (code == VARVE_OK)
            code = vv_array_reserve(&folder->files.items, &folder->files.capacity,
                                    folder->files.count + 1, sizeof file, error);
        if (code == VARVE_OK)
            folder->files.items[folder->files.count++] = file;
    }
    closedir(directory);
    if (folder->files.count > 1)
        qsort(folder->files.items, folder->files.count, sizeof *folder->files.items,
              compare_files);
    return code;
}

static enum varve_code add_streams(struct folder *folder, bool own, struct varve_error *error)
{
    VV_TRY(list_files(folder, own, error));
    size_t first = folder->streams.count;
    const char **paths = vv_arena_alloc(&folder->arena, folder->files.count * sizeof *paths);
    if (paths == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for file names");
    for (size_t i = 0; i < folder->files.count; i++) {
        const struct stream_file *file = &folder->files.items[i];
        paths[i] = file->path;
        if (i == 0 || file->instance != file[-1].instance) {
            struct vv_packets packets = { .instance = file->instance, .paths = &paths[i],
                                          .keeps_last = folder->keeps_last && !own,
                                          .first_part = file->part };
            VV_PUSH(&folder->streams, packets, error);
        }
        folder->streams.items[folder->streams.count - 1].path_count++;
    }
    for (size_t i = first; i < folder->streams.count; i++)
        VV_TRY(vv_packets_read(&folder->streams.items[i], error));
    return VARVE_OK;
}

static void close_folder(struct folder *folder)
{
    for (size_t i = 0; i < folder->streams.count; i++)
        vv_packets_deinit(&folder->streams.items[i]);
    free(folder->streams.items);
    free(folder->files.items);
    vv_arena_deinit(&folder->arena);
}

/* ---- metadata ---- */

/* The metadata, and the file's text when it was last read. */
struct said {
    struct vv_metadata metadata;
    char *text;
    size_t length;
};

static enum varve_code read_metadata(const struct folder *folder, struct said *said,
                                     struct varve_error *error)
{
    char *text;
    size_t length;
    VV_TRY(vv_input_read_all(folder->metadata, VV_METADATA_BYTES_MAX, &text, &length, error));
    if (said->text != NULL && said->length == length && memcmp(said->text, text, length) == 0) {
        free(text);
        return VARVE_OK;
    }
    free(said->text);
    vv_metadata_deinit(&said->metadata);
    said->text = text;
    said->length = length;
    enum varve_code code = vv_metadata_read(text, length, &said->metadata, error);
    if (code != VARVE_OK)
        vv_error_note(error, "'%s'", folder->metadata);
    return code;
}

/* Is a stream without its first parts, or is a stream missing? Threads are numbered without
 * gaps. */
static bool has_forgotten(const struct folder *folder)
{
    uint64_t expected = 1;
    for (size_t i = 0; folder->keeps_last && i < folder->streams.count; i++) {
        const struct vv_packets *packets = &folder->streams.items[i];
        if (packets->instance != 0 && (packets->lacks_begin || packets->instance != expected))
            return true;
        expected++;
    }
    return false;
}

/* Finds the threads' streams, then the process's own stream, then reads metadata. Each is listed
 * again: see packets.h. */
static enum varve_code take_snapshot(struct folder *folder, struct said *said,
                                     struct varve_error *error)
{
    VV_TRY(add_streams(folder, false, error));
    VV_TRY(add_streams(folder, true, error));
    return read_metadata(folder, said, error);
}

/* ---- after all streams ---- */

/* Ends the ranges that are still open at the end of the process, innermost first, because the time
 * of an inner range is part of the outer one's inside_ns. */
static void end_open_ranges(struct vv_process_reader *process, size_t first_placed)
{
    struct vv_model *model = process->model;
    struct vv_slices *slices = &model->slices;
    for (size_t i = process->open_ranges.count; i-- > 0;) {
        const struct vv_open_range *range = &process->open_ranges.items[i];
        int64_t duration_ns = process->last_ns - range->begin_ns;
        slices->duration_ns[range->slice] = duration_ns;
        slices->self_ns[range->slice] = duration_ns - range->inside_ns;
        slices->flags[range->slice] |= VV_SLICE_UNFINISHED;
        /* the parent is the item before this one, and is open too */
        if (slices->parent[range->slice] != VV_NONE)
            process->open_ranges.items[i - 1].inside_ns += duration_ns;
        if (range->step != VV_NONE)
            model->steps.duration_ns[range->step] = duration_ns;
        if (duration_ns == 0)
            model->placed_count = first_placed;
        model->health.unfinished++;
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct vv_thread_name *left = a, *right = b;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* The thread's last recorded name; 0 if it has none. `thread_names` is sorted. */
static uint32_t last_name(const struct vv_process_reader *process, uint64_t tid)
{
    const struct vv_thread_name *names = process->thread_names.items;
    size_t after = VV_FIRST_NOT(i, 0, process->thread_names.count, names[i].tid <= tid);
    const struct vv_thread_name *found = after == 0 ? NULL : &names[after - 1];
    return found != NULL && found->tid == tid ? found->name : 0;
}

static void name_tracks(struct vv_process_reader *process, uint32_t first_track)
{
    struct vv_tracks *tracks = &process->model->tracks;
    if (process->thread_names.count > 1)
        qsort(process->thread_names.items, process->thread_names.count,
              sizeof *process->thread_names.items, compare_names);
    for (uint32_t row = first_track; row < tracks->table.count; row++)
        tracks->name[row] = last_name(process, (uint64_t)tracks->tid[row]);
}

/* The half width of a band around the clock's line that holds every sample with its uncertainty.
 * The samples' monotonic clock has its own origin, so only changes of its distance matter. */
static int64_t clock_uncertainty_ns(const struct vv_process_reader *process)
{
    __extension__ typedef __int128 wide;
    wide least = 0, most = 0;
    for (size_t i = 0; i < process->samples.count; i++) {
        const struct vv_sample *sample = &process->samples.items[i];
        wide distance = (wide)sample->time_ns - (wide)sample->monotonic_ns;
        wide low = distance - sample->uncertainty_ns, high = distance + sample->uncertainty_ns;
        least = i == 0 || low < least ? low : least;
        most = i == 0 || high > most ? high : most;
    }
    wide half = (most - least + 1) / 2;
    if (process->samples.count == 0)
        return -1;
    return half > INT64_MAX ? INT64_MAX : (int64_t)half;
}

#define FACT_PREFIX "fact."
#define DEVICE_PREFIX "device."

/* A note called "fact.KEY" is the fact KEY of the process. */
static enum varve_code add_fact(struct vv_process_reader *process, const struct vv_collector *said,
                                const char *key, struct varve_error *error)
{
    struct vv_model *model = process->model;
    uint32_t row;
    VV_TRY(vv_model_add_fact(model, &row, error));
    VV_TRY(vv_model_text(model, key, &model->facts.key[row], error));
    model->facts.value[row] = said->text;
    model->facts.process[row] = process->process;
    model->facts.kind[row] = VV_ARG_TEXT;
    return VARVE_OK;
}

/* Adds a fact for each collector: "collector torch", "attached: torch 2.15.0". */
static enum varve_code add_collectors(struct vv_process_reader *process, struct varve_error *error)
{
    static const char *const states[] = {
        [VV_COLLECTOR_ATTACHED] = "attached", [VV_COLLECTOR_PARTLY] = "partly attached",
        [VV_COLLECTOR_REFUSED] = "not attached", [VV_COLLECTOR_ABSENT] = "absent",
        [VV_COLLECTOR_OFF] = "off", [VV_COLLECTOR_NOTE] = "note",
    };
    struct vv_model *model = process->model;
    for (size_t i = 0; i < process->collectors.count; i++) {
        const struct vv_collector *said = &process->collectors.items[i];
        char key[VV_NAME_BYTES_MAX + 32], value[VV_NAME_BYTES_MAX + 32];
        const char *text = vv_intern_text(&model->strings, said->text);
        uint32_t row, value_text;
        const char *name = vv_intern_text(&model->strings, said->name);
        if (strncmp(name, FACT_PREFIX, sizeof FACT_PREFIX - 1) == 0) {
            snprintf(key, sizeof key, "%.*s", (int)VV_NAME_BYTES_MAX,
                     name + sizeof FACT_PREFIX - 1);
            VV_TRY(add_fact(process, said, key, error));
            if (strncmp(key, DEVICE_PREFIX, sizeof DEVICE_PREFIX - 1) == 0)
                VV_TRY(vv_device_fact(process, key + sizeof DEVICE_PREFIX - 1, text, error));
            continue;
        }
        snprintf(key, sizeof key, "collector %.*s", (int)VV_NAME_BYTES_MAX, name);
        snprintf(value, sizeof value, "%s%s%.*s",
                 said->state < VV_COLLECTOR_STATE_COUNT ? states[said->state] : "unknown",
                 text[0] != '\0' ? ": " : "", (int)VV_NAME_BYTES_MAX, text);
        VV_TRY(vv_model_add_fact(model, &row, error));
        VV_TRY(vv_model_text(model, key, &model->facts.key[row], error));
        VV_TRY(vv_model_text(model, value, &value_text, error));
        model->facts.value[row] = value_text;
        model->facts.process[row] = process->process;
        model->facts.kind[row] = VV_ARG_TEXT;
    }
    return VARVE_OK;
}

/* The launcher's environment says which rank it is. A group of more ranks than that job has knows
 * better: a program that a launcher starts once may start its ranks itself. */
static void set_rank(const struct vv_process_reader *process, uint32_t row)
{
    const struct vv_metadata *metadata = process->metadata;
    struct vv_processes *processes = &process->model->processes;
    bool is_told = metadata->rank >= 0;
    processes->rank[row] = is_told ? metadata->rank : -1;
    processes->world_size[row] = metadata->world_size > 0 ? metadata->world_size : 0;
    if (process->group.size > (is_told ? processes->world_size[row] : 0)) {
        processes->rank[row] = process->group.rank;
        processes->world_size[row] = process->group.size;
    }
}

static enum varve_code fill_process(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_model *model = process->model;
    const struct vv_metadata *metadata = process->metadata;
    struct vv_processes *processes = &model->processes;
    uint32_t row = process->process;
    const char *slash = strrchr(metadata->program, '/');
    processes->name[row] = process->process_name;
    if (process->process_name == 0)
        VV_TRY(vv_model_text(model, slash == NULL ? metadata->program : slash + 1,
                             &processes->name[row], error));
    VV_TRY(vv_model_text(model, metadata->host, &processes->host[row], error));
    processes->clock_uncertainty_ns[row] = clock_uncertainty_ns(process);
    processes->record_cost_ps[row] = metadata->record_cost_ps > 0 ? metadata->record_cost_ps : 0;
    processes->slow_ns[row] = process->slow_ns < INT64_MAX ? (int64_t)process->slow_ns : 0;
    processes->keep_bytes[row] = metadata->keep_bytes > 0 ? (uint64_t)metadata->keep_bytes : 0;
    processes->reserve_bytes[row] =
        metadata->reserve_bytes > 0 ? (uint64_t)metadata->reserve_bytes : 0;
    processes->keep_ns[row] = metadata->keep_ns > 0 ? (uint64_t)metadata->keep_ns : 0;
    processes->forgot[row] = process->forgot;
    set_rank(process, row);
    if (metadata->storage[0] != '\0')
        VV_TRY(vv_model_text(model, metadata->storage, &processes->storage[row], error));
    VV_TRY(add_collectors(process, error));
    bool empty = process->events == 0;
    processes->pid[row] = metadata->pid;
    processes->events[row] = process->events;
    processes->lost[row] = process->lost;
    processes->begin_ns[row] = empty ? metadata->begin_realtime_ns : process->first_ns;
    processes->end_ns[row] = empty ? metadata->begin_realtime_ns : process->last_ns;
    if (model->run.command == 0)
        VV_TRY(vv_model_text(model, metadata->program, &model->run.command, error));
    if (model->run.host == 0)
        model->run.host = processes->host[row];
    return VARVE_OK;
}

/* ---- the whole process ---- */

/* Does the metadata have sites? A process that was killed between its metadata and its first record
 * has neither sites nor streams, and nothing of it is missing. */
static bool has_sites(const struct vv_metadata *metadata)
{
    for (size_t i = 0; i < metadata->class_count; i++)
        if (metadata->classes[i].id >= VV_SITE_ID_FIRST)
            return true;
    return false;
}

static enum varve_code decode(struct vv_process_reader *process, const struct folder *folder,
                              struct varve_error *error)
{
    const struct vv_metadata *metadata = process->metadata;
    VV_TRY_NOTE(vv_timeline_init(&process->timeline, metadata->frequency_hz, metadata->offset_s,
                                 metadata->offset_ticks, error),
                error, "'%s'", folder->metadata);
    process->window = malloc(VV_WINDOW_BYTES);
    process->run = calloc(1, sizeof *process->run);
    if (process->run != NULL)
        process->run->notes = malloc(VV_RUN_NOTES * sizeof *process->run->notes);
    if (process->window == NULL || process->run == NULL || process->run->notes == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", folder->path);
    process->forgot = has_forgotten(folder);
    VV_TRY(vv_classes_make(process, error));
    VV_TRY(vv_model_add_process(process->model, &process->process, error));
    uint32_t first_track = (uint32_t)process->model->tracks.table.count;
    uint32_t first_slice = (uint32_t)process->model->slices.table.count;
    uint32_t first_step = (uint32_t)process->model->steps.table.count;
    uint32_t first_memory = (uint32_t)process->model->memory.table.count;
    uint32_t first_counter = (uint32_t)process->model->counters.table.count;
    size_t first_placed = process->model->placed_count;
    /* The process's own stream, with strings and pauses, was found last. */
    const struct vv_packets *streams = folder->streams.items;
    size_t threads = folder->streams.count;
    if (threads > 0 && streams[threads - 1].instance == 0)
        VV_TRY(vv_stream_read(process, &streams[--threads], error));
    else if (threads > 0 || has_sites(metadata))
        process->model->health.truncated_files++;
    VV_TRY(vv_graphs_end(process, error));
    for (size_t i = 0; i < threads; i++)
        VV_TRY(vv_stream_read(process, &streams[i], error));
    end_open_ranges(process, first_placed);
    VV_TRY(vv_past_join(process, first_track, first_placed, error));
    vv_executions_join(process);
    VV_TRY(vv_torch_finish(process, first_slice, first_step, first_placed, error));
    name_tracks(process, first_track);
    VV_TRY(vv_pairs_join(process, error));
    VV_TRY(vv_marks_join(process, error));
    VV_TRY(vv_devices_join(process, error));
    VV_TRY(vv_held_join(process, first_memory, first_counter, error));
    VV_TRY(vv_values_join(process, error));
    VV_TRY(vv_counts_join(process, error));
    return fill_process(process, error);
}

static void close_process(struct vv_process_reader *process)
{
    free(process->classes);
    vv_key_map_deinit(&process->strings);
    free(process->pauses.items);
    free(process->samples.items);
    free(process->thread_names.items);
    free(process->pair_ends.items);
    free(process->open_ranges.items);
    free(process->dispatches.items);
    free(process->collectors.items);
    vv_devices_said_deinit(&process->devices);
    free(process->values.more.items);
    vv_counts_said_deinit(&process->counts);
    vv_past_said_deinit(&process->past);
    vv_graphs_said_deinit(&process->graphs);
    free(process->marks.of_devices.items);
    free(process->text.items);
    vv_seen_words_deinit(&process->shapes);
    vv_seen_words_deinit(&process->operators);
    vv_seen_words_deinit(&process->calls);
    free(process->window);
    if (process->run != NULL)
        free(process->run->notes);
    free(process->run);
    vv_waves_destroy(process->waves);
}

enum varve_code vv_process_read(struct vv_model *model, const char *folder_path, unsigned threads,
                                struct varve_error *error)
{
    struct folder folder = { .path = folder_path };
    struct said said = { 0 };
    struct vv_process_reader process = { .model = model, .metadata = &said.metadata,
                                         .graphs = { .graph = VV_NONE, .node = VV_NONE },
                                         .threads = threads };
    vv_arena_init(&folder.arena);
    model->has_phases = true;
    enum varve_code code = join_path(&folder, "metadata", &folder.metadata, error);
    /* Read it once before the streams, to tell a later format version from a damaged stream. */
    if (code == VARVE_OK)
        code = read_metadata(&folder, &said, error);
    folder.keeps_last = vv_metadata_keeps_last(&said.metadata);
    if (code == VARVE_OK)
        code = take_snapshot(&folder, &said, error);
    if (code == VARVE_OK) {
        model->health.truncated_files += said.metadata.torn;
        code = decode(&process, &folder, error);
    }
    close_process(&process);
    vv_metadata_deinit(&said.metadata);
    free(said.text);
    close_folder(&folder);
    return code;
}
