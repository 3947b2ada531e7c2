/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/snapshot/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "base/try_lock.h"
#include "ctf/lost_page.h"
#include "ctf/snapshot/process.h"
#include "ctf/stream_file.h"

#define SUFFIX ".varve"
#define NUMBER_MAX 100000u
#define HIDDEN_STEM_BYTES 200 /* for a name that may already have NAME_MAX bytes */

static int turn;

/* Used by the thread that holds the lock. Static, because stacks may be small. */
static _Alignas(8) char list_buffer[4096];
static char parent_path[PATH_MAX], hidden[NAME_MAX + 1];
static _Alignas(8) char file_buffer[4096];

/* ---- one process ---- */

static int copy_process(int trace, const char *name, int out_trace, const char *out_name,
                        const volatile sig_atomic_t *stop)
{
    int source, out, failure = vv_folder_open_below(trace, name, &source);
    if (failure != 0)
        return failure;
    failure = vv_folder_make(out_trace, out_name, VV_FOLDER_PRIVATE, &out);
    if (failure == 0) {
        failure = vv_snapshot_process(source, out, stop);
        close(out);
        if (failure != 0)
            vv_folder_remove(out_trace, out_name, VV_FOLDER_DEPTH);
    }
    close(source);
    return failure;
}

int vv_snapshot(const char *process_folder, const char *out_folder)
{
    if (!vv_turn_take(&turn))
        return EBUSY;
    int failure = copy_process(AT_FDCWD, process_folder, AT_FDCWD, out_folder, NULL);
    vv_turn_give(&turn);
    return failure;
}

/* ---- a trace ---- */

/* Skips a process whose folder is just being made: it has recorded nothing yet. */
static int copy_all(const struct vv_snapshot_job *job, int trace, int out)
{
    struct vv_folder_list list;
    int failure = 0, copied = 0;
    vv_folder_list_init(&list, trace, list_buffer, sizeof list_buffer);
    for (const char *name; failure == 0 && (name = vv_folder_list_next(&list)) != NULL;) {
        if (name[0] < '0' || name[0] > '9' || vv_stream_folder_pid(name) == 0)
            continue;
        failure = copy_process(trace, name, out, name, job->stop);
        copied += failure == 0;
        if (failure == ENODATA)
            failure = 0;
    }
    if (failure == 0)
        failure = list.failure;
    return failure == 0 && copied == 0 ? ENODATA : failure;
}

static int copy_named(const struct vv_snapshot_job *job, int trace, int out)
{
    int failure = job->processes[0] != NULL ? 0 : ENODATA;
    for (const char *const *name = job->processes; failure == 0 && *name != NULL; name++)
        failure = copy_process(trace, *name, out, *name, job->stop);
    return failure;
}

static int fill(const struct vv_snapshot_job *job, int trace, int out)
{
    int failure = job->processes != NULL ? copy_named(job, trace, out) : copy_all(job, trace, out);
    if (failure != 0)
        return failure;
    failure = vv_folder_copy(trace, out, "manifest.json", VV_MANIFEST_BYTES_MAX, file_buffer,
                             sizeof file_buffer);
    if (failure == 0 || failure == ENOENT) /* a program that records itself has none */
        failure = vv_folder_copy(trace, out, VV_LOST_FILE, VV_LOST_BYTES, file_buffer,
                                 sizeof file_buffer);
    return failure == ENOENT ? 0 : failure;
}

/* Is there nothing, or an empty folder? */
static bool is_free(int at, const char *name)
{
    struct vv_folder_list list;
    int folder;
    if (!vv_folder_has(at, name))
        return true;
    if (vv_folder_open(at, name, &folder) != 0)
        return false;
    vv_folder_list_init(&list, folder, list_buffer, sizeof list_buffer);
    bool is_empty = vv_folder_list_next(&list) == NULL && list.failure == 0;
    close(folder);
    return is_empty;
}

/* Tries several names: a killed process with this number may have left some behind. */
static int make_hidden(int parent, const char *name, int *out_folder)
{
    int failure = EEXIST;
    for (unsigned again = 0; failure == EEXIST && again < NUMBER_MAX; again++) {
        snprintf(hidden, sizeof hidden, ".%.*s.%ld.%u", HIDDEN_STEM_BYTES, name, (long)getpid(),
                 again);
        failure = vv_folder_make(parent, hidden, VV_FOLDER_PRIVATE, out_folder);
    }
    return failure;
}

static int make_in(const struct vv_snapshot_job *job, int trace, int parent, const char *name)
{
    int out;
    if (!is_free(parent, name))
        return EEXIST;
    int failure = make_hidden(parent, name, &out);
    if (failure != 0)
        return failure;
    failure = fill(job, trace, out);
    close(out);
    if (failure == 0 && renameat(parent, hidden, parent, name) != 0)
        failure = errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
    if (failure != 0)
        vv_folder_remove(parent, hidden, VV_FOLDER_DEPTH);
    return failure;
}

/* Splits `path` into parent_path and the name, which is returned without slashes at its end. NULL:
 * the path is too long, or has no name. */
static int split(const char *path, char out_name[NAME_MAX + 1])
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    if (begin + 2 > sizeof parent_path || end - begin > NAME_MAX)
        return ENAMETOOLONG;
    if (end == begin)
        return EINVAL;
    memcpy(out_name, path + begin, end - begin);
    out_name[end - begin] = '\0';
    memcpy(parent_path, path, begin);
    if (begin == 0)
        parent_path[begin++] = '.';
    parent_path[begin] = '\0';
    return 0;
}

static int make(const struct vv_snapshot_job *job, const char *out_trace)
{
    static char name[NAME_MAX + 1];
    int trace, parent, failure = split(out_trace, name);
    if (failure != 0)
        return failure;
    failure = vv_folder_open(AT_FDCWD, job->trace, &trace);
    if (failure != 0)
        return failure;
    failure = vv_folder_open(AT_FDCWD, parent_path, &parent);
    if (failure == 0) {
        failure = make_in(job, trace, parent, name);
        close(parent);
    }
    close(trace);
    return failure;
}

int vv_snapshot_trace(const struct vv_snapshot_job *job, const char *out_trace)
{
    if (!vv_turn_take(&turn))
        return EBUSY;
    int failure = make(job, out_trace);
    vv_turn_give(&turn);
    return failure;
}

/* ---- its name ---- */

static int name_number(const char *trace, unsigned number, char *out_path, size_t capacity)
{
    size_t length = strlen(trace), suffix = strlen(SUFFIX);
    while (length > 1 && trace[length - 1] == '/')
        length--;
    if (length > suffix && memcmp(trace + length - suffix, SUFFIX, suffix) == 0 &&
        trace[length - suffix - 1] != '/')
        length -= suffix;
    int written = number == 1 ? snprintf(out_path, capacity, "%.*s.dump" SUFFIX, (int)length, trace)
                              : snprintf(out_path, capacity, "%.*s.dump.%u" SUFFIX, (int)length,
                                         trace, number);
    if (written > 0 && (size_t)written < capacity)
        return 0;
    out_path[0] = '\0';
    return ENAMETOOLONG;
}

int vv_snapshot_next(const struct vv_snapshot_job *job, char *out_path, size_t capacity)
{
    int failure = EEXIST;
    for (unsigned number = 1; failure == EEXIST && number < NUMBER_MAX; number++) {
        failure = name_number(job->trace, number, out_path, capacity);
        if (failure == 0)
            failure = vv_folder_has(AT_FDCWD, out_path) ? EEXIST : vv_snapshot_trace(job, out_path);
    }
    return failure;
}
