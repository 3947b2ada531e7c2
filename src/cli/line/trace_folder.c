/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/trace_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/folder.h"

#define PATH_BYTES 4096
#define OPEN_FOLDERS 16
#define DEPTH_MAX 64 /* for folders that people put into their traces                           */

/* ---- what is in a folder ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static bool file_contains(const char *path, const char *text)
{
    char head[8192];
    size_t length;
    return vv_folder_read(AT_FDCWD, path, head, sizeof head, &length) == 0 &&
           memmem(head, length, text, strlen(text)) != NULL;
}

static bool is_process_folder(const char *trace, const char *name)
{
    char metadata[PATH_BYTES];
    int length = snprintf(metadata, sizeof metadata, "%s/%s/metadata", trace, name);
    return isdigit((unsigned char)name[0]) && length < (int)sizeof metadata && exists(metadata);
}

/* False only if the folder cannot be read. */
static bool scan(const char *path, size_t *out_entries, size_t *out_processes)
{
    DIR *folder = opendir(path);
    *out_entries = *out_processes = 0;
    if (folder == NULL)
        return false;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        *out_entries += !is_self;
        *out_processes += is_process_folder(path, entry->d_name);
    }
    closedir(folder);
    return true;
}

size_t vv_trace_folder_processes(const char *path)
{
    size_t entries, processes;
    scan(path, &entries, &processes);
    return processes;
}

bool vv_trace_folder_is_trace(const char *path)
{
    char manifest[PATH_BYTES];
    int length = snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    if (length >= (int)sizeof manifest || !is_folder(path))
        return false;
    return file_contains(manifest, "\"varve_format\"") || vv_trace_folder_processes(path) > 0;
}

bool vv_trace_folder_is_same(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static int64_t size_sum_bytes; /* static, because nftw passes no context */

static int add_size(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path;
    (void)kind;
    (void)place;
    size_sum_bytes += (int64_t)status->st_blocks * 512;
    return 0;
}

int64_t vv_trace_folder_size(const char *path)
{
    size_sum_bytes = 0;
    nftw(path, add_size, OPEN_FOLDERS, FTW_PHYS);
    return size_sum_bytes;
}

/* ---- its name ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_interpreter(const char *program)
{
    static const char *const names[] = { "python", "pypy", "bash", "sh",   "dash", "zsh",
                                         "perl",   "ruby", "node", "lua" };
    const char *base = last_part(program);
    size_t length = strlen(base);
    while (length > 0 && (isdigit((unsigned char)base[length - 1]) || base[length - 1] == '.'))
        length--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(names[i], base, length) == 0)
            return true;
    return false;
}

/* The script or module in an interpreter's arguments; NULL if the program is not in a file. */
static const char *script_of(char *const *arguments)
{
    static const char *const with_value[] = { "-W", "-X", "-I", "-r", "-o" };
    for (; *arguments != NULL; arguments++) {
        const char *word = *arguments;
        if (strcmp(word, "-m") == 0)
            return arguments[1];
        if (strcmp(word, "-c") == 0 || strcmp(word, "-e") == 0 || strcmp(word, "-") == 0)
            return NULL;
        if (word[0] != '-')
            return strchr(last_part(word), '.') != NULL || access(word, F_OK) == 0 ? word : NULL;
        for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
            if (strcmp(word, with_value[i]) == 0 && arguments[1] != NULL) {
                arguments++;
                break;
            }
        }
    }
    return NULL;
}

char *vv_trace_folder_name(char *const *command)
{
    const char *script = is_interpreter(command[0]) ? script_of(command + 1) : NULL;
    const char *base = last_part(script != NULL ? script : command[0]);
    const char *dot = strrchr(base, '.');
    int length = dot != NULL && dot != base ? (int)(dot - base) : (int)strcspn(base, "/");
    char *name;
    if (asprintf(&name, "%.*s.varve", length > 0 ? length : 7, length > 0 ? base : "program") < 0)
        return NULL;
    return name;
}

/* ---- moving former traces away and back ---- */

static enum varve_code set_names(struct vv_trace_folder *folder, const char *path,
                                 struct varve_error *error)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    folder->path = strndup(path, length);
    if (folder->path == NULL || asprintf(&folder->former, "%s.old", folder->path) < 0)
        folder->former = NULL;
    int stem = folder->path != NULL ? (int)(last_part(folder->path) - folder->path) : 0;
    char *place = folder->path != NULL ? strndup(folder->path, (size_t)stem) : NULL;
    folder->parent =
        place != NULL ? open(*place != '\0' ? place : ".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int failure = errno;
    free(place);
    if (place != NULL && folder->parent < 0)
        return vv_fail_errno(error, failure, "cannot make the folder '%s'", folder->path);
    if (folder->former == NULL ||
        asprintf(&folder->outdated, "%.*s.%s.old.%ld", stem, folder->path, folder->path + stem,
                 (long)getpid()) < 0) {
        folder->outdated = NULL;
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of the trace");
    }
    return VARVE_OK;
}

static void forget(char **name)
{
    free(*name);
    *name = NULL;
}

/* Locks the folder: the recorder writes by path, so a trace must not move while `varve record`
 * waits for its program. False: another process has the lock. A file system without locks counts as
 * unlocked. */
static bool take_lock(int folder)
{
    return flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static bool is_taken(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool taken = folder >= 0 && !take_lock(folder);
    if (folder >= 0)
        close(folder);
    return taken;
}

/* Renames in one folder; returns 0, or -1 and errno. */
static int move(const struct vv_trace_folder *folder, const char *from, const char *to)
{
    return renameat(folder->parent, last_part(from), folder->parent, last_part(to));
}

static void close_both(struct vv_trace_folder *folder)
{
    if (folder->folder >= 0)
        close(folder->folder);
    if (folder->parent >= 0)
        close(folder->parent);
    folder->folder = folder->parent = -1;
}

static enum varve_code fail_taken(const char *path, struct varve_error *error)
{
    VV_FAIL_SAID(error, VARVE_EXISTS,
                 "'%s' is being recorded by another varve record: wait for its end, or "
                 "name another with -o NAME.varve",
                 path);
}

/* Moves the trace at folder->path to folder->former, and the one there to folder->outdated. Clears
 * the names for what did not exist. */
static enum varve_code set_aside(struct vv_trace_folder *folder, struct varve_error *error)
{
    bool has_trace = vv_trace_folder_is_trace(folder->path), has_old = exists(folder->former);
    if (has_trace && is_taken(folder->path))
        return fail_taken(folder->path, error);
    if (!has_trace && exists(folder->path))
        VV_FAIL_SAID(error, VARVE_EXISTS,
                     "'%s' exists and is not a trace: move it away, or name another with "
                     "-o NAME.varve",
                     folder->path);
    if (has_trace && has_old && !vv_trace_folder_is_trace(folder->former))
        VV_FAIL_SAID(error, VARVE_EXISTS,
                     "'%s' would become '%s', which exists and is not a trace: move that "
                     "away, or name another with -o NAME.varve",
                     folder->path, folder->former);
    if (!has_trace || !has_old)
        forget(&folder->outdated);
    if (folder->outdated != NULL && move(folder, folder->former, folder->outdated) != 0) {
        int failure = errno;
        forget(&folder->outdated);
        forget(&folder->former);
        return vv_fail_errno(error, failure, "cannot move the trace '%s.old' aside", folder->path);
    }
    if (!has_trace)
        forget(&folder->former);
    else if (move(folder, folder->path, folder->former) != 0) {
        int failure = errno;
        if (folder->outdated != NULL)
            move(folder, folder->outdated, folder->former);
        forget(&folder->outdated);
        forget(&folder->former);
        return vv_fail_errno(error, failure, "cannot rename the former trace '%s'", folder->path);
    }
    return VARVE_OK;
}

static bool is_empty_folder(const char *path)
{
    size_t entries, processes;
    return is_folder(path) && scan(path, &entries, &processes) && entries == 0;
}

static bool is_ours(const struct vv_trace_folder *folder, const char *path)
{
    struct stat ours, there;
    return fstat(folder->folder, &ours) == 0 && lstat(path, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Finds the path without links, if it still leads to the open folder. */
static enum varve_code find_absolute(struct vv_trace_folder *folder, struct varve_error *error)
{
    folder->absolute = realpath(folder->path, NULL);
    if (folder->absolute == NULL)
        return vv_fail_errno(error, errno, "cannot find the folder '%s' again", folder->path);
    if (!is_ours(folder, folder->absolute)) {
        forget(&folder->absolute);
        VV_FAIL_SAID(error, VARVE_PERMISSION,
                     "somebody has exchanged '%s' while it was made: record where only "
                     "you may write, with -o NAME.varve",
                     folder->path);
    }
    return VARVE_OK;
}

bool vv_trace_folder_follow(struct vv_trace_folder *folder)
{
    char link[64], *place;
    if (is_ours(folder, folder->absolute))
        return true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder->folder);
    place = realpath(link, NULL);
    char *path = place != NULL && is_ours(folder, place) ? strdup(place) : NULL;
    if (path == NULL) {
        free(place);
        return false;
    }
    free(folder->path);
    free(folder->absolute);
    folder->path = path;
    folder->absolute = place;
    return true;
}

static enum varve_code make(struct vv_trace_folder *folder, struct varve_error *error)
{
    const char *name = last_part(folder->path);
    int failure = folder->was_empty
                      ? vv_folder_open_below(folder->parent, name, &folder->folder)
                      : vv_folder_make(folder->parent, name,
                                       folder->is_shared ? VV_FOLDER_SHARED : VV_FOLDER_PRIVATE,
                                       &folder->folder);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot make the folder '%s'", folder->path);
    if (!take_lock(folder->folder))
        return fail_taken(folder->path, error); /* another varve record took it first */
    enum varve_code code = find_absolute(folder, error);
    if (code != VARVE_OK && !folder->was_empty)
        unlinkat(folder->parent, name, AT_REMOVEDIR);
    return code;
}

enum varve_code vv_trace_folder_make(struct vv_trace_folder *out_folder, const char *path,
                                     bool is_shared, struct varve_error *error)
{
    struct vv_trace_folder folder = { .parent = -1, .folder = -1, .is_shared = is_shared };
    enum varve_code code = set_names(&folder, path, error);
    folder.was_empty = code == VARVE_OK && is_empty_folder(folder.path);
    if (folder.was_empty) {
        forget(&folder.former);
        forget(&folder.outdated);
    } else if (code == VARVE_OK)
        code = set_aside(&folder, error);
    if (code != VARVE_OK) {
        vv_trace_folder_deinit(&folder);
        return code;
    }
    code = make(&folder, error);
    if (code != VARVE_OK) {
        vv_trace_folder_undo(&folder);
        return code;
    }
    *out_folder = folder;
    return VARVE_OK;
}

/* Returns 0 or an errno number. */
static int remove_tree(const struct vv_trace_folder *folder, const char *path)
{
    return vv_folder_remove(folder->parent, last_part(path), DEPTH_MAX);
}

enum varve_code vv_trace_folder_keep(struct vv_trace_folder *folder, struct varve_error *error)
{
    int failure = folder->outdated != NULL ? remove_tree(folder, folder->outdated) : 0;
    if (failure != 0)
        (void)vv_fail_errno(error, failure, "cannot remove the outdated trace '%s'",
                            folder->outdated);
    forget(&folder->outdated);
    return failure != 0 ? VARVE_IO : VARVE_OK;
}

void vv_trace_folder_undo(struct vv_trace_folder *folder)
{
    if (folder->absolute != NULL)
        remove_tree(folder, folder->path);
    if (folder->absolute != NULL && folder->was_empty)
        mkdirat(folder->parent, last_part(folder->path), 0777);
    if (folder->former != NULL)
        move(folder, folder->former, folder->path);
    if (folder->outdated != NULL)
        move(folder, folder->outdated, folder->former);
    vv_trace_folder_deinit(folder);
}

void vv_trace_folder_deinit(struct vv_trace_folder *folder)
{
    close_both(folder);
    forget(&folder->path);
    forget(&folder->absolute);
    forget(&folder->former);
    forget(&folder->outdated);
}
