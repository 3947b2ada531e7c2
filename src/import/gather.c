/* SPDX-License-Identifier: Apache-2.0 */
#include "import/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/archive/tar.h"
#include "import/convert.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/search.h"

#define VV_WRITER_WAIT_MS 5000

/* "/tmp/varve.Xy12/0.files/" is "ranks.tgz:" to people. */
struct vv_gather_name { char *held, *shown; };

/* ---- lists ---- */

static enum varve_code fail_memory(struct varve_error *error)
{
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
}

/* Takes over `path`. */
static enum varve_code take_path(struct vv_gathered *gathered, char *path,
                                 struct varve_error *error)
{
    char **paths = path != NULL
                       ? realloc(gathered->paths, (gathered->count + 1) * sizeof *paths)
                       : NULL;
    if (paths == NULL) {
        free(path);
        return fail_memory(error);
    }
    gathered->paths = paths;
    gathered->paths[gathered->count++] = path;
    return VARVE_OK;
}

static enum varve_code add_name(struct vv_gathered *gathered, const char *name,
                                const char *held_end, const char *shown, const char *shown_end,
                                struct varve_error *error)
{
    struct vv_gather_name *names =
        realloc(gathered->names, (gathered->name_count + 1) * sizeof *names);
    if (names == NULL)
        return fail_memory(error);
    struct vv_gather_name *added = &names[gathered->name_count];
    gathered->names = names;
    *added = (struct vv_gather_name){ NULL, NULL };
    if (asprintf(&added->held, "%s/%s%s", gathered->holding.path, name, held_end) < 0)
        added->held = NULL;
    if (asprintf(&added->shown, "%s%s", shown, shown_end) < 0)
        added->shown = NULL;
    gathered->name_count++;
    return added->held != NULL && added->shown != NULL ? VARVE_OK : fail_memory(error);
}

static enum varve_code need_holding(struct vv_gathered *gathered, struct varve_error *error)
{
    if (gathered->holding.path != NULL)
        return VARVE_OK;
    VV_TRY(vv_holding_make(&gathered->holding, error));
    if (gathered->watch != NULL)
        gathered->watch(gathered->holding.path);
    return VARVE_OK;
}

/* ---- folders ---- */

static enum varve_code fail_empty(const char *path, const struct vv_search *search,
                                  struct varve_error *error)
{
    if (search->convertible != NULL)
        return vv_refuse_convertible(search->convertible, "", 0, error);
    VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                 "no trace in '%s': none of %llu file%s there is one. A search takes NAME.varve, "
                 "and what ends in .json, .pb, .pftrace, .sqlite, .rpd, packed by gzip or zstd or "
                 "not; name any other file",
                 path, (unsigned long long)search->files, search->files == 1 ? "" : "s");
}

/* `path`: where it lies; `shown`: what the user named. */
static enum varve_code add_folder(struct vv_gathered *gathered, const char *path,
                                  const char *shown, struct varve_error *error)
{
    struct vv_search search = { 0 };
    enum varve_code code = vv_search_folder(&search, path, error);
    if (code == VARVE_OK && search.found.count == 0)
        code = fail_empty(shown, &search, error);
    for (size_t i = 0; i < search.found.count && code == VARVE_OK; i++) {
        code = take_path(gathered, search.found.items[i].path, error);
        search.found.items[i].path = NULL;
    }
    gathered->older += search.older;
    gathered->searched++;
    vv_search_end(&search);
    return code;
}

/* ---- archives ---- */

static enum varve_code add_archive(struct vv_gathered *gathered, struct vv_source *source,
                                   const char *shown, size_t number, struct varve_error *error)
{
    char name[32], *folder;
    bool is_cut;
    snprintf(name, sizeof name, "%zu.files", number);
    VV_TRY(need_holding(gathered, error));
    VV_TRY(add_name(gathered, name, "/", shown, ":", error));
    VV_TRY(vv_unpack(&gathered->holding, source, shown, name, &is_cut, error));
    gathered->is_cut |= is_cut;
    if (asprintf(&folder, "%s/%s", gathered->holding.path, name) < 0)
        return fail_memory(error);
    enum varve_code code = add_folder(gathered, folder, shown, error);
    free(folder);
    return code;
}

/* Adds a file, or what is in it if it is an archive. Takes over `path`. What cannot be opened says
 * so when it is read. */
static enum varve_code add_file(struct vv_gathered *gathered, char *path, const char *shown,
                                size_t number, struct varve_error *error)
{
    struct vv_source *source = NULL;
    struct varve_error ignored;
    enum varve_code code = VARVE_OK;
    size_t head_bytes = 0;
    bool is_archive = false;
    if (path != NULL && vv_source_open(path, &source, &ignored) == VARVE_OK) {
        const char *head = vv_source_head(source, &head_bytes);
        is_archive = vv_tar_begins(head, head_bytes);
        gathered->named_bytes += vv_source_disk_bytes(source);
    }
    if (is_archive)
        code = add_archive(gathered, source, shown, number, error);
    vv_source_close(source);
    if (!is_archive)
        return take_path(gathered, path, error);
    free(path);
    return code;
}

/* ---- streams ---- */

static enum varve_code hold(struct vv_gathered *gathered, int descriptor, const char *shown,
                            size_t number, struct varve_error *error)
{
    char name[32], *path;
    snprintf(name, sizeof name, "%zu", number);
    VV_TRY(need_holding(gathered, error));
    VV_TRY(add_name(gathered, name, "", shown, "", error));
    VV_TRY(vv_hold_stream(&gathered->holding, descriptor, shown, name, error));
    if (asprintf(&path, "%s/%s", gathered->holding.path, name) < 0)
        path = NULL;
    return add_file(gathered, path, shown, number, error);
}

static enum varve_code add_standard_input(struct vv_gathered *gathered, size_t number,
                                          struct varve_error *error)
{
    if (isatty(STDIN_FILENO))
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "'-' is standard input, which is a terminal: let a program write a trace to "
                     "it:  PROGRAM | varve report -");
    return hold(gathered, STDIN_FILENO, "-", number, error);
}

/* Does a program write to the pipe, or did one? Waits VV_WRITER_WAIT_MS for one that comes. After
 * this time a writer may be there that has written nothing yet: tee says so, and takes nothing. */
static bool has_writer(int pipe)
{
    struct pollfd event = { .fd = pipe, .events = POLLIN };
    int copy[2], count;
    do
        count = poll(&event, 1, VV_WRITER_WAIT_MS);
    while (count < 0 && errno == EINTR);
    if (count != 0 || pipe2(copy, O_CLOEXEC) != 0)
        return true;
    bool is_written = tee(pipe, copy[1], 1, SPLICE_F_NONBLOCK) != 0;
    close(copy[0]);
    close(copy[1]);
    return is_written;
}

static enum varve_code add_pipe(struct vv_gathered *gathered, const char *name, size_t number,
                                struct varve_error *error)
{
    /* O_NONBLOCK: open must not wait for a writer that never comes. */
    int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", name);
    enum varve_code code = VARVE_OK;
    if (!has_writer(descriptor))
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_NOT_FOUND,
                                    "'%s' is a pipe, and no program writes to it: start the one "
                                    "that writes the trace first", name));
    else if (fcntl(descriptor, F_SETFL, 0) != 0)
        code = vv_fail_errno(error, errno, "cannot read '%s'", name);
    if (code == VARVE_OK)
        code = hold(gathered, descriptor, name, number, error);
    close(descriptor);
    return code;
}

/* ---- what the user names ---- */

static enum varve_code add(struct vv_gathered *gathered, const char *name, size_t number,
                           struct varve_error *error)
{
    struct stat status;
    if (strcmp(name, "-") == 0)
        return add_standard_input(gathered, number, error);
    if (stat(name, &status) != 0)
        return take_path(gathered, strdup(name), error);
    if (S_ISFIFO(status.st_mode))
        return add_pipe(gathered, name, number, error);
    if (S_ISREG(status.st_mode))
        return add_file(gathered, strdup(name), name, number, error);
    if (S_ISDIR(status.st_mode) && vv_importer_of(name, true, "", 0) == NULL)
        return add_folder(gathered, name, name, error);
    return take_path(gathered, strdup(name), error);
}

static enum varve_code add_all(struct vv_gathered *gathered, const char *const *names,
                               size_t count, struct varve_error *error)
{
    bool has_input = false;
    for (size_t i = 0; i < count; i++) {
        bool is_input = strcmp(names[i], "-") == 0;
        if (is_input && has_input)
            VV_FAIL(error, VARVE_INVALID, "'-' is named twice");
        has_input |= is_input;
        VV_TRY(add(gathered, names[i], i, error));
    }
    return vv_paths_differ((const char *const *)gathered->paths, gathered->count, error);
}

enum varve_code vv_gather(const char *const *names, size_t count, vv_gather_watch *watch,
                          struct vv_gathered *out_gathered, struct varve_error *error)
{
    struct vv_gathered gathered = { .watch = watch, .holding = { NULL, -1 } };
    enum varve_code code = add_all(&gathered, names, count, error);
    if (!vv_gather_is_held(&gathered))
        gathered.named_bytes = 0;
    if (code == VARVE_OK) {
        *out_gathered = gathered;
        return code;
    }
    code = vv_gather_name_error(&gathered, code, error);
    vv_gather_end(&gathered);
    return code;
}

void vv_gather_end(struct vv_gathered *gathered)
{
    vv_gather_watch *watch = gathered->holding.path != NULL ? gathered->watch : NULL;
    for (size_t i = 0; i < gathered->count; i++)
        free(gathered->paths[i]);
    for (size_t i = 0; i < gathered->name_count; i++) {
        free(gathered->names[i].held);
        free(gathered->names[i].shown);
    }
    free(gathered->paths);
    free(gathered->names);
    vv_holding_remove(&gathered->holding);
    if (watch != NULL)
        watch(NULL);
    *gathered = (struct vv_gathered){ .holding = { NULL, -1 } };
}

/* ---- names for people ---- */

bool vv_gather_is_held(const struct vv_gathered *gathered)
{
    return gathered->holding.path != NULL;
}

/* Writes `text` with the names that people know. The longest name wins: "…/1" is not "…/10". */
static void put_named(const struct vv_gathered *gathered, const char *text, FILE *stream)
{
    while (*text != '\0') {
        const struct vv_gather_name *best = NULL;
        for (size_t i = 0; i < gathered->name_count; i++)
            if (strncmp(text, gathered->names[i].held, strlen(gathered->names[i].held)) == 0 &&
                (best == NULL || strlen(gathered->names[i].held) > strlen(best->held)))
                best = &gathered->names[i];
        if (best != NULL) {
            fputs(best->shown, stream);
            text += strlen(best->held);
        } else {
            putc(*text++, stream);
        }
    }
}

char *vv_gather_shown(const struct vv_gathered *gathered, const char *text)
{
    char *result = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&result, &bytes);
    if (stream == NULL)
        return NULL;
    put_named(gathered, text, stream);
    if (fclose(stream) == 0)
        return result;
    free(result);
    return NULL;
}

enum varve_code vv_gather_name_error(const struct vv_gathered *gathered, enum varve_code code,
                                     struct varve_error *error)
{
    if (code == VARVE_OK || error == NULL || !vv_gather_is_held(gathered))
        return code;
    char *message = vv_gather_shown(gathered, error->message);
    if (message == NULL)
        return code;
    snprintf(error->message, VV_ERROR_TEXT_BYTES, "%s", message);
    vv_error_tidy(error);
    free(message);
    return code;
}

enum varve_code vv_gather_name_inputs(const struct vv_gathered *gathered, struct vv_model *model,
                                      struct varve_error *error)
{
    if (gathered->is_cut && model->health.truncated_files == 0)
        model->health.truncated_files = 1;
    for (uint64_t row = 0; row < model->inputs.table.count && vv_gather_is_held(gathered); row++) {
        const char *path = vv_intern_text(&model->strings, model->inputs.path[row]);
        char *text = vv_gather_shown(gathered, path);
        enum varve_code code =
            text != NULL ? vv_model_text(model, text, &model->inputs.path[row], error)
                         : fail_memory(error);
        free(text);
        VV_TRY(code);
    }
    return VARVE_OK;
}
