/* SPDX-License-Identifier: Apache-2.0 */
#include "import/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sum.h"
#include "base/system/folder.h"
#include "import/convert.h"
#include "import/formats.h"

#define DEPTH_MAX 8
#define FOUND_MAX 4096u
#define FILES_MAX 100000u

/* ---- what is a trace ---- */

/* A search opens files with these ends of names alone, and those with .gz or .zst behind them. A
 * file that is named is known by its content. */
static const char *const ends[] = { ".json", ".pb", ".pftrace", ".perfetto-trace", ".proto",
                                    ".sqlite", ".db", ".rpd", ".ireeprof" };

static bool ends_in(const char *name, size_t length, const char *end)
{
    size_t bytes = strlen(end);
    return length > bytes && memcmp(name + length - bytes, end, bytes) == 0;
}

static bool has_end_of_trace(const char *name)
{
    static const char *const packed[] = { ".gz", ".zst" };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_in(name, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(name, length, ends[i]))
            return true;
    return false;
}

static bool is_recorded_file(const char *path)
{
    struct vv_source *source = NULL;
    struct varve_error ignored;
    size_t head_bytes;
    if (!has_end_of_trace(path) || !vv_folder_may_follow(AT_FDCWD, path) ||
        vv_source_open(path, &source, &ignored) != VARVE_OK)
        return false;
    const char *head = vv_source_head(source, &head_bytes);
    const struct vv_importer *importer = vv_importer_of(path, false, head, head_bytes);
    vv_source_close(source);
    return importer != NULL && importer->is_recording != NULL && importer->is_recording(path);
}

static bool is_recorded_folder(const char *path)
{
    const struct vv_importer *importer = vv_importer_of(path, true, "", 0);
    return importer != NULL && importer->is_recording(path);
}

bool vv_is_recording(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    return S_ISDIR(status.st_mode) ? is_recorded_folder(path)
                                   : S_ISREG(status.st_mode) && is_recorded_file(path);
}

int64_t vv_time_ns(const struct timespec *time)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)time->tv_sec, INT64_C(1000000000), &ns))
        return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return vv_sum(ns, time->tv_nsec);
}

/* The manifest is written last; any new file in the folder changes the folder's own time. */
static int64_t time_of(const char *path, const struct stat *own)
{
    char manifest[PATH_MAX];
    struct stat status;
    int length = snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    bool has = S_ISDIR(own->st_mode) && length > 0 && (size_t)length < sizeof manifest &&
               stat(manifest, &status) == 0;
    return vv_time_ns(has ? &status.st_mtim : &own->st_mtim);
}

/* ---- looking through folders ---- */

static enum varve_code add(struct vv_search *search, const char *path, const struct stat *status,
                           struct varve_error *error)
{
    if (search->found.count == FOUND_MAX)
        VV_FAIL(error, VARVE_LIMIT,
                "more than %u traces in one folder, the last '%s': name those that belong together",
                FOUND_MAX, path);
    VV_TRY(vv_array_reserve(&search->found.items, &search->found.capacity,
                            search->found.count + 1, sizeof *search->found.items, error));
    char *copy = strdup(path);
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
    search->found.items[search->found.count++] =
        (struct vv_found){ copy, time_of(path, status) };
    return VARVE_OK;
}

static enum varve_code look_at_file(struct vv_search *search, const char *path,
                                    const struct stat *status, struct varve_error *error)
{
    if (++search->files > FILES_MAX)
        VV_FAIL(error, VARVE_LIMIT, "more than %u files in one folder, the last '%s': name the "
                "traces", FILES_MAX, path);
    if (search->convertible == NULL && vv_is_convertible(path, "", 0))
        search->convertible = strdup(path);
    return is_recorded_file(path) ? add(search, path, status, error) : VARVE_OK;
}

/* Where a producer writes one run several times, into folders side by side, this one is read. */
static const char preferred[] = "ASCEND_PROFILER_OUTPUT";

static bool has_preferred(const char *path)
{
    char below[PATH_MAX];
    struct stat status;
    int length = snprintf(below, sizeof below, "%s/%s", path, preferred);
    return length > 0 && (size_t)length < sizeof below && lstat(below, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

static enum varve_code look(struct vv_search *search, const char *path, int depth_left,
                            struct varve_error *error);

/* Links to folders are not followed, so there are no circles. */
static enum varve_code look_at(struct vv_search *search, const char *path, int depth_left,
                               struct varve_error *error)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return VARVE_OK;
    if (S_ISDIR(status.st_mode)) {
        if (is_recorded_folder(path))
            return add(search, path, &status, error);
        return depth_left > 0 ? look(search, path, depth_left - 1, error) : VARVE_OK;
    }
    if (S_ISLNK(status.st_mode) && stat(path, &status) != 0)
        return VARVE_OK;
    return S_ISREG(status.st_mode) ? look_at_file(search, path, &status, error) : VARVE_OK;
}

static bool is_former(const char *name)
{
    return ends_in(name, strlen(name), ".varve.old");
}

static enum varve_code look(struct vv_search *search, const char *path, int depth_left,
                            struct varve_error *error)
{
    bool is_one_preferred = has_preferred(path);
    enum varve_code code = VARVE_OK;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return vv_fail_errno(error, errno, "cannot read the folder '%s'", path);
    for (struct dirent *entry; code == VARVE_OK && (entry = readdir(folder)) != NULL;) {
        char below[PATH_MAX];
        int bytes = snprintf(below, sizeof below, "%.*s/%s", (int)length, path, entry->d_name);
        if (entry->d_name[0] == '.' || is_former(entry->d_name) ||
            (is_one_preferred && strcmp(entry->d_name, preferred) != 0) || bytes < 0 ||
            (size_t)bytes >= sizeof below)
            continue;
        code = look_at(search, below, depth_left, error);
    }
    closedir(folder);
    return code;
}

/* ---- of several files of one run, one ---- */

/* The length of a path's part that all traces share of which only the newest is read, and of the
 * part that each such trace has alone. 0: the trace is read whatever others there are. */
static size_t group_of(const char *path, size_t *out_own)
{
    static const char profile[] = "plugins/profile/", kineto[] = ".pt.trace.json";
    const char *run = strstr(path, profile), *name = strrchr(path, '/');
    const char *end = strstr(name != NULL ? name : path, kineto);
    if (run != NULL) { /* TensorBoard's and JAX' log folder: a folder for each run */
        run += sizeof profile - 1;
        *out_own = strcspn(run, "/");
        return (size_t)(run - path);
    }
    if (end == NULL)
        return 0;
    size_t digits = 0; /* PyTorch's: WORKER.MILLISECONDS.pt.trace.json, one for each cycle */
    while (end - digits > path && end[-1 - (ptrdiff_t)digits] >= '0' &&
           end[-1 - (ptrdiff_t)digits] <= '9')
        digits++;
    size_t before = (size_t)(end - path) - digits;
    *out_own = digits;
    return digits >= 10 && before > 0 && path[before - 1] == '.' ? before : 0;
}

static bool are_of_one_group(const char *a, const char *b, size_t length)
{
    size_t own;
    return group_of(b, &own) == length && memcmp(a, b, length) == 0;
}

/* Is there a newer trace in the group? The part of its own is a time, which copies keep. */
static bool is_replaced(const struct vv_search *search, size_t at)
{
    const struct vv_found *one = &search->found.items[at];
    size_t own, length = group_of(one->path, &own);
    for (size_t i = 0; i < search->found.count && length > 0; i++) {
        const struct vv_found *other = &search->found.items[i];
        size_t other_own;
        if (!are_of_one_group(one->path, other->path, length))
            continue;
        (void)group_of(other->path, &other_own);
        int order = memcmp(other->path + length, one->path + length,
                           other_own < own ? other_own : own);
        if (order > 0 || (order == 0 && other_own > own))
            return true;
    }
    return false;
}

/* XSpace holds all that the JSON beside it does. */
static bool is_said_again(const struct vv_search *search, size_t at)
{
    static const char xspace[] = ".xplane.pb";
    const char *path = search->found.items[at].path, *name = strrchr(path, '/');
    size_t folder = name != NULL ? (size_t)(name - path) + 1 : 0;
    bool is_json = ends_in(path, strlen(path), ".trace.json.gz") ||
                   ends_in(path, strlen(path), ".trace.json") ||
                   strncmp(path + folder, "perfetto_trace", 14) == 0;
    for (size_t i = 0; i < search->found.count && is_json; i++) {
        const char *other = search->found.items[i].path;
        if (strlen(other) > folder && memcmp(path, other, folder) == 0 &&
            strchr(other + folder, '/') == NULL && ends_in(other, strlen(other), xspace))
            return true;
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    return strverscmp(((const struct vv_found *)a)->path, ((const struct vv_found *)b)->path);
}

static enum varve_code choose(struct vv_search *search, struct varve_error *error)
{
    enum { KEPT, OLDER, AGAIN } *fates = calloc(search->found.count + 1, sizeof *fates);
    size_t kept = 0;
    if (fates == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
    for (size_t i = 0; i < search->found.count; i++)
        fates[i] = is_replaced(search, i) ? OLDER : is_said_again(search, i) ? AGAIN : KEPT;
    for (size_t i = 0; i < search->found.count; i++) {
        search->older += fates[i] == OLDER;
        if (fates[i] == KEPT)
            search->found.items[kept++] = search->found.items[i];
        else
            free(search->found.items[i].path);
    }
    search->found.count = kept;
    free(fates);
    return VARVE_OK;
}

enum varve_code vv_search_folder(struct vv_search *search, const char *path,
                                 struct varve_error *error)
{
    VV_TRY(look(search, path, DEPTH_MAX, error));
    if (search->found.count > 1)
        qsort(search->found.items, search->found.count, sizeof *search->found.items, compare);
    return choose(search, error);
}

void vv_search_end(struct vv_search *search)
{
    for (size_t i = 0; i < search->found.count; i++)
        free(search->found.items[i].path);
    free(search->found.items);
    free(search->convertible);
    *search = (struct vv_search){ 0 };
}

/* ---- the newest ---- */

static bool is_log_folder(const char *path)
{
    char below[PATH_MAX];
    struct stat status;
    int length = snprintf(below, sizeof below, "%s/plugins/profile", path);
    bool has_profile = length > 0 && (size_t)length < sizeof below &&
                       stat(below, &status) == 0 && S_ISDIR(status.st_mode);
    return has_profile || has_preferred(path);
}

bool vv_recording_time(const char *path, int64_t *out_time_ns)
{
    struct vv_search search = { 0 };
    struct stat status;
    if (vv_is_recording(path) && stat(path, &status) == 0) {
        *out_time_ns = time_of(path, &status);
        return true;
    }
    *out_time_ns = INT64_MIN;
    if (is_log_folder(path) && vv_search_folder(&search, path, NULL) == VARVE_OK)
        for (size_t i = 0; i < search.found.count; i++)
            if (search.found.items[i].time_ns > *out_time_ns)
                *out_time_ns = search.found.items[i].time_ns;
    vv_search_end(&search);
    return *out_time_ns != INT64_MIN;
}
