/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/recorded_processes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/line/trace_folder.h"
#include "ctf/metadata_write.h"

/* ---- the files that a process has mapped ---- */

struct mappings {
    char *folder;      /* that of its own stream; owned; NULL = it has none                     */
    char *controlled;  /* that of its control page; owned; NULL = none                          */
    char page_is[VV_MAPPED_FILE_BYTES]; /* device and inode of the control page                 */
    bool has_library;  /* libvarve.so is mapped                                                 */
};

static void mappings_deinit(struct mappings *found)
{
    free(found->folder);
    free(found->controlled);
    *found = (struct mappings){ 0 };
}

/* Turns \012 into a newline: so the kernel writes one in a path. */
static void unescape(char *path)
{
    char *to = path;
    for (const char *from = path; *from != '\0';) {
        bool is_newline = strncmp(from, "\\012", 4) == 0;
        *to++ = is_newline ? '\n' : *from;
        from += is_newline ? 4 : 1;
    }
    *to = '\0';
}

/* The folder of `path` if the last part of `path` is `name`, or begins with it; NULL otherwise, or
 * if there is no memory. */
static char *folder_of(const char *path, const char *name, bool begins)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL ||
        (begins ? strncmp(slash + 1, name, strlen(name)) : strcmp(slash + 1, name)) != 0)
        return NULL;
    return strndup(path, (size_t)(slash - path));
}

void vv_recorded_file_of(const char *line, char out_file[VV_MAPPED_FILE_BYTES])
{
    char device[16] = "", inode[24] = "";
    sscanf(line, "%*s %*s %*s %15s %23s", device, inode);
    snprintf(out_file, VV_MAPPED_FILE_BYTES, "%s %s", device, inode);
}

static void read_mapping(char *line, struct mappings *found)
{
    char *path = strchr(line, '/'), *rights = strchr(line, ' ');
    if (path == NULL || rights == NULL)
        return;
    path[strcspn(path, "\n")] = '\0';
    unescape(path);
    const char *slash = strrchr(path, '/');
    found->has_library = found->has_library || strncmp(slash, "/libvarve.so", 12) == 0;
    if (strncmp(rights, " rw-s", 5) != 0)
        return;
    if (found->folder == NULL)
        found->folder = folder_of(path, "process.", true);
    if (found->controlled == NULL &&
        (found->controlled = folder_of(path, VV_CONTROL_FILE, false)) != NULL)
        vv_recorded_file_of(line, found->page_is);
}

/* Returns 0 or an errno number. */
static int read_mappings(pid_t pid, struct mappings *out_found)
{
    char name[64], *line = NULL;
    size_t capacity = 0;
    *out_found = (struct mappings){ 0 };
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    if (maps == NULL)
        return errno;
    errno = 0;
    while (getline(&line, &capacity, maps) > 0)
        read_mapping(line, out_found);
    int failure = ferror(maps) ? errno : 0;
    free(line);
    fclose(maps);
    if (failure != 0)
        mappings_deinit(out_found);
    return failure;
}

/* ---- finding processes ---- */

void vv_recorded_program(pid_t pid, char out_program[16])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    out_program[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(out_program, 16, file) == NULL)
        out_program[0] = '\0';
    out_program[strcspn(out_program, "\n")] = '\0';
    fclose(file);
}

const char *vv_recorded_trace(const struct vv_recorded *recorded, size_t *out_length)
{
    const char *end = strrchr(recorded->folder, '/'), *begin = end;
    while (begin > recorded->folder && begin[-1] != '/')
        begin--;
    *out_length = (size_t)(end - begin);
    return begin;
}

/* A word of a trace's extension, or with a slash, that names something here is a path: it means
 * this trace and no trace of the same name elsewhere. */
static bool is_path(const char *word)
{
    size_t length = strlen(word);
    return (strchr(word, '/') != NULL ||
            (length > 6 && strcmp(word + length - 6, ".varve") == 0)) &&
           access(word, F_OK) == 0;
}

static bool is_recorded_into(const struct vv_recorded *recorded, const char *path)
{
    char *trace = strndup(recorded->folder,
                          (size_t)(strrchr(recorded->folder, '/') - recorded->folder));
    bool is_same = trace != NULL && vv_trace_folder_is_same(trace, path);
    free(trace);
    return is_same;
}

/* Is the word the program, the trace, or the trace without its extension? */
static bool is_meant(const struct vv_recorded *recorded, const char *word)
{
    if (is_path(word))
        return is_recorded_into(recorded, word);
    size_t length, word_length = strlen(word);
    const char *trace = vv_recorded_trace(recorded, &length);
    bool is_trace = word_length <= length && strncmp(trace, word, word_length) == 0;
    return strncmp(recorded->program, word, sizeof recorded->program - 1) == 0 ||
           (is_trace &&
            (word_length == length ||
             (length - word_length == 6 && strncmp(trace + word_length, ".varve", 6) == 0)));
}

/* Takes over found->folder. */
static enum varve_code add(struct vv_recorded_list *list, pid_t pid, struct mappings *found,
                           struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            error));
    struct vv_recorded *item = &list->items[list->count];
    *item = (struct vv_recorded){ .pid = pid, .folder = found->folder };
    item->has_control = found->controlled != NULL && strcmp(found->controlled, found->folder) == 0;
    memcpy(item->page_is, found->page_is, sizeof item->page_is);
    vv_recorded_program(pid, item->program);
    found->folder = NULL;
    list->count++;
    return VARVE_OK;
}

static enum varve_code not_recorded(pid_t pid, const struct mappings *found,
                                    struct varve_error *error)
{
    char program[16];
    vv_recorded_program(pid, program);
    if (found->controlled != NULL) {
        const char *slash = strrchr(found->controlled, '/');
        VV_FAIL(error, VARVE_NOT_FOUND,
                "process %d (%s) has recorded nothing of its own yet, and goes on and "
                "off with the one that forked it:  varve start %.*s",
                (int)pid, program, (int)strcspn(slash + 1, "."), slash + 1);
    }
    if (found->has_library)
        VV_FAIL(error, VARVE_NOT_FOUND,
                "process %d (%s) has recorded nothing yet. To wait for a start from its "
                "beginning on:  varve record --paused -- PROGRAM",
                (int)pid, program);
    VV_FAIL(error, VARVE_NOT_FOUND,
            "process %d (%s) is not recorded. Begin it with:  varve record -- PROGRAM", (int)pid,
            program);
}

static enum varve_code find_number(const char *word, struct vv_recorded_list *list,
                                   struct varve_error *error)
{
    struct mappings found;
    char *end;
    errno = 0;
    long pid = strtol(word, &end, 10);
    int failure = *end != '\0' || errno != 0 || pid <= 0 || pid > INT_MAX
                      ? ESRCH
                      : read_mappings((pid_t)pid, &found);
    if (failure == ENOENT || failure == ESRCH)
        VV_FAIL(error, VARVE_NOT_FOUND, "no process %s. Those being recorded:  varve status", word);
    if (failure == EACCES || failure == EPERM)
        VV_FAIL(error, VARVE_PERMISSION, "the system does not let you look into process %s: %s",
                word,
                geteuid() == 0
                    ? "it is beyond this container or the rights of root here"
                    : "only the user whose process it is may see or switch its recording");
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot look into process %s", word);
    enum varve_code code = found.folder != NULL ? add(list, (pid_t)pid, &found, error)
                                                : not_recorded((pid_t)pid, &found, error);
    mappings_deinit(&found);
    return code;
}

static int compare_items(const void *a, const void *b)
{
    const struct vv_recorded *left = a, *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

static enum varve_code find_all(const char *word, struct vv_recorded_list *list,
                                struct varve_error *error)
{
    DIR *processes = opendir("/proc");
    if (processes == NULL)
        return vv_fail_errno(error, errno, "cannot list the processes in /proc");
    enum varve_code code = VARVE_OK;
    const struct dirent *entry;
    while (code == VARVE_OK && (entry = readdir(processes)) != NULL) {
        struct mappings found;
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end != '\0' || read_mappings((pid_t)pid, &found) != 0)
            continue; /* another user's, or it has just ended */
        bool is_recorded = found.folder != NULL;
        if (is_recorded)
            code = add(list, (pid_t)pid, &found, error);
        if (is_recorded && code == VARVE_OK && word != NULL &&
            !is_meant(&list->items[list->count - 1], word))
            free(list->items[--list->count].folder);
        mappings_deinit(&found);
    }
    closedir(processes);
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_items);
    return code;
}

enum varve_code vv_recorded_find(const char *word, struct vv_recorded_list *list,
                                 struct varve_error *error)
{
    *list = (struct vv_recorded_list){ 0 };
    if (word != NULL && *word != '\0' && word[strspn(word, "0123456789")] == '\0')
        return find_number(word, list, error);
    VV_TRY(find_all(word, list, error));
    if (word != NULL && list->count == 0 && is_path(word))
        VV_FAIL(error, VARVE_NOT_FOUND,
                "no process is recorded into '%.100s'. Those being recorded:  varve status", word);
    if (word != NULL && list->count == 0)
        VV_FAIL(error, VARVE_NOT_FOUND,
                "no process that is being recorded is called '%.100s'. Those that are:  "
                "varve status",
                word);
    return VARVE_OK;
}

void vv_recorded_deinit(struct vv_recorded_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].folder);
    free(list->items);
    *list = (struct vv_recorded_list){ 0 };
}

void vv_layers_text(uint32_t layers, char out_text[VV_LAYERS_TEXT_BYTES])
{
    out_text[0] = '\0';
    layers &= VARVE_LAYER_ALL;
    if (layers == 0 || layers == VARVE_LAYER_ALL)
        snprintf(out_text, VV_LAYERS_TEXT_BYTES, "%s", layers == 0 ? "off" : "all");
    for (uint32_t bit = 1; bit <= VARVE_LAYER_ALL && layers != VARVE_LAYER_ALL; bit <<= 1) {
        size_t length = strlen(out_text);
        if ((layers & bit) != 0)
            snprintf(out_text + length, VV_LAYERS_TEXT_BYTES - length, "%s%s",
                     length > 0 ? "," : "", vv_layer_name(bit));
    }
}
