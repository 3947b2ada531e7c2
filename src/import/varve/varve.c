/* SPDX-License-Identifier: Apache-2.0 */
/* varve.c — the importer of Varve's own traces (doc/format.md): the trace folder NAME.varve, or one
 * process folder inside it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/system/folder.h"
#include "base/workers.h"
#include "ctf/lost_page.h"
#include "import/input/format.h"
#include "import/varve/process/process.h"

#define THREADS_MAX 16

struct names {
    struct vv_arena arena;
    VV_ARRAY_OF(const char *) paths; /* of process folders                                      */
};

static enum varve_code join_path(struct vv_arena *arena, const char *folder, const char *name,
                                 const char **out_path, struct varve_error *error)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    size_t bytes = length + strlen(name) + 2;
    char *path = vv_arena_alloc(arena, bytes);
    if (path == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for file names");
    snprintf(path, bytes, "%.*s/%s", (int)length, folder, name);
    *out_path = path;
    return VARVE_OK;
}

/* Does not use the heap, because probing cannot report that memory is out. */
static bool folder_has(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* A folder whose name begins with '.' is being made or replaced. A folder with streams but without
 * metadata counts: the error of reading it then says what is missing. */
static bool is_process(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return name[0] != '.' && length > 0 && (size_t)length < sizeof path &&
           vv_folder_may_follow(AT_FDCWD, path) &&
           (folder_has(path, "metadata") || folder_has(path, "process.0"));
}

/* Sorts process folders by their numbers: "9", "10", "10.1". */
static int compare_paths(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static enum varve_code list_processes(const char *path, struct names *names,
                                      struct varve_error *error)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return vv_fail_errno(error, errno, "cannot read '%s'", path);
    enum varve_code code = VARVE_OK;
    const struct dirent *entry;
    while (code == VARVE_OK && (entry = readdir(directory)) != NULL) {
        if (!is_process(path, entry->d_name))
            continue;
        const char *folder = NULL;
        code = join_path(&names->arena, path, entry->d_name, &folder, error);
        if (code == VARVE_OK)
            code = vv_array_reserve(&names->paths.items, &names->paths.capacity,
                                    names->paths.count + 1, sizeof *names->paths.items, error);
        if (code == VARVE_OK)
            names->paths.items[names->paths.count++] = folder;
    }
    closedir(directory);
    if (names->paths.count > 1)
        qsort(names->paths.items, names->paths.count, sizeof *names->paths.items, compare_paths);
    return code;
}

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)head;
    (void)head_bytes;
    if (!is_folder)
        return false;
    if (folder_has(path, "metadata") || folder_has(path, "manifest.json"))
        return true;
    DIR *directory = opendir(path);
    if (directory == NULL)
        return true; /* the error of reading it will say why */
    bool found = false;
    const struct dirent *entry;
    while (!found && (entry = readdir(directory)) != NULL)
        found = is_process(path, entry->d_name);
    closedir(directory);
    return found;
}

/* Other programs write files called "manifest.json", too. */
static bool is_recording(const char *path)
{
    char manifest[PATH_MAX], head[8192];
    size_t bytes, name = strlen(path);
    if (name > 6 && strcmp(path + name - 6, ".varve") == 0)
        return true;
    int length = snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    return length > 0 && (size_t)length < sizeof manifest &&
           vv_folder_read(AT_FDCWD, manifest, head, sizeof head, &bytes) == 0 &&
           memmem(head, bytes, "\"varve_format\"", 14) != NULL;
}

static unsigned count_threads(const struct vv_import_options *options)
{
    unsigned threads = options->threads != 0 ? options->threads : vv_workers_allowed();
    return threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* Reads how many records were lost by processes that have no folder here. */
static enum varve_code read_lost(struct vv_model *model, const char *trace,
                                 struct varve_error *error)
{
    struct vv_lost lost;
    vv_lost_page_read(trace, &lost);
    model->health.truncated_files += lost.is_damaged;
    model->run.lost_homeless = lost.records;
    const char *why = lost.os_errno != 0 ? strerrordesc_np(lost.os_errno) : NULL;
    return why != NULL ? vv_model_text(model, why, &model->run.lost_why, error) : VARVE_OK;
}

static enum varve_code read_folder(const struct vv_import_job *job, struct names *names,
                                   struct varve_error *error)
{
    const char *path = job->path, *manifest = NULL;
    struct vv_model *model = job->model;
    unsigned threads = count_threads(job->options);
    if (folder_has(path, "metadata"))
        return vv_process_read(model, path, threads, error);
    VV_TRY(join_path(&names->arena, path, "manifest.json", &manifest, error));
    VV_TRY(vv_manifest_read(model, manifest, error));
    VV_TRY(read_lost(model, path, error));
    VV_TRY(list_processes(path, names, error));
    for (size_t i = 0; i < names->paths.count; i++)
        VV_TRY(vv_process_read(model, names->paths.items[i], threads, error));
    return VARVE_OK;
}

static enum varve_code read_trace(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_model *model = job->model;
    struct names names = { 0 };
    vv_arena_init(&names.arena);
    enum varve_code code = read_folder(job, &names, error);
    if (code == VARVE_OK)
        code = vv_memory_join(model, error);
    free(names.paths.items);
    vv_arena_deinit(&names.arena);
    return code;
}

const struct vv_importer vv_importer_varve = {
    .name = "varve",
    .title = "varve",
    .probe = probe,
    .read = read_trace,
    .is_recording = is_recording,
};
