/* SPDX-License-Identifier: Apache-2.0 */
/* write.c — a graph as a file of another program's form. The file appears whole, or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unnamed_file.h"
#include "graph/forms/forms.h"
#include "graph/picture/picture.h"
#include "reader/handles.h"

const char *varve_dag_form_name(size_t index)
{
    size_t count = 0;
    while (vv_form_names[count] != NULL)
        count++;
    return index < count ? vv_form_names[index] : NULL;
}

/* A file that is being written: without a name, or, where that cannot be, under a temporary one. */
struct writing {
    int file;
    bool is_named;
    const char *path, *temporary;
};

static int open_writing(struct writing *writing)
{
    const char *slash = strrchr(writing->path, '/');
    char *folder = slash != NULL ? strndup(writing->path, (size_t)(slash + 1 - writing->path))
                                 : strdup(".");
    writing->file = folder != NULL ? vv_unnamed_open(AT_FDCWD, folder, 0666) : -1;
    free(folder);
    if (writing->file >= 0)
        return 0;
    writing->file = open(writing->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    writing->is_named = writing->file >= 0;
    return writing->is_named ? 0 : errno;
}

/* Writes what the form makes. The stream has a descriptor of its own, so that the file can get its
 * name after the stream was closed without a failure. */
static enum varve_code fill(const struct vv_picture *picture, vv_form_write *write,
                            const struct writing *writing, struct varve_error *error)
{
    int file = fcntl(writing->file, F_DUPFD_CLOEXEC, 0);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream == NULL) {
        int failure = errno;
        if (file >= 0)
            close(file);
        return vv_fail_errno(error, failure, "cannot write '%s'", writing->path);
    }
    enum varve_code code = write(picture->dag, picture, stream, error);
    errno = 0;
    int failure = fflush(stream) != 0 || ferror(stream) ? (errno != 0 ? errno : EIO) : 0;
    if (fclose(stream) != 0 && failure == 0)
        failure = errno;
    if (code == VARVE_OK && failure != 0)
        code = vv_fail_errno(error, failure, "cannot write '%s'", writing->path);
    return code;
}

/* Gives the file its name, over one that is there. Returns 0 or an errno number. */
static int put_in_place(struct writing *writing)
{
    if (!writing->is_named) {
        int failure = vv_unnamed_name(writing->file, AT_FDCWD, writing->path);
        if (failure != EEXIST)
            return failure;
        failure = vv_unnamed_name(writing->file, AT_FDCWD, writing->temporary);
        if (failure != 0)
            return failure;
        writing->is_named = true;
    }
    return rename(writing->temporary, writing->path) == 0 ? 0 : errno;
}

static enum varve_code write_file(const struct vv_picture *picture, vv_form_write *write,
                                  const char *path, const char *temporary,
                                  struct varve_error *error)
{
    struct writing writing = { .path = path, .temporary = temporary };
    int failure = open_writing(&writing);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot write '%s'", path);
    enum varve_code code = fill(picture, write, &writing, error);
    if (code == VARVE_OK && (failure = put_in_place(&writing)) != 0)
        code = vv_fail_errno(error, failure, "cannot write '%s'", path);
    close(writing.file);
    if (code != VARVE_OK && writing.is_named)
        unlink(temporary);
    return code;
}

static enum varve_code write_whole(const struct vv_picture *picture, vv_form_write *write,
                                   const char *path, struct varve_error *error)
{
    static _Atomic unsigned made;
    struct stat status;
    char *temporary;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        VV_FAIL(error, VARVE_EXISTS, "'%s' is there, and is no file", path);
    if (asprintf(&temporary, "%s.%ld.%u", path, (long)getpid(), made++) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a file");
    enum varve_code code = write_file(picture, write, path, temporary, error);
    free(temporary);
    return code;
}

/* "graph_data.json" beside "graph.json". */
static enum varve_code write_further(const struct vv_picture *picture, const struct vv_form *form,
                                     const char *path, struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < form->further_count && code == VARVE_OK; i++) {
        char *beside;
        if (form->further[i].is_due != NULL && !form->further[i].is_due(picture))
            continue;
        VV_TRY(vv_form_further_path(form, i, path, &beside, error));
        code = write_whole(picture, form->further[i].write, beside, error);
        free(beside);
    }
    return code;
}

enum varve_code varve_dag_write(const struct varve_dag *dag, const char *path,
                                const struct varve_drawing *drawing, struct varve_error *error)
{
    struct vv_picture_options options = { .is_alone = true };
    struct vv_picture picture;
    struct varve_drawing ours;
    const struct vv_form *form;
    if (dag == NULL || path == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_dag_write: an argument is NULL");
    VV_TRY(vv_sized_take(drawing, sizeof ours, &ours, sizeof ours, "varve_dag_write", error));
    VV_TRY(vv_form_find(ours.form, path, &form, error));
    VV_TRY(vv_picture_options_read(&options, ours.metric,
                                   ours.colours != NULL ? ours.colours : "log", ours.theme,
                                   error));
    VV_TRY(vv_picture_init(&picture, &dag->dag, &options, error));
    enum varve_code code = write_whole(&picture, form->write, path, error);
    if (code == VARVE_OK)
        code = write_further(&picture, form, path, error);
    vv_picture_deinit(&picture);
    return code;
}
