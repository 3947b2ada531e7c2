/* SPDX-License-Identifier: Apache-2.0 */
/* write.c — a graph as a file of another program's form. The file appears whole, or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Writes what the form makes to a new file, which then gets its name. */
static enum varve_code write_file(const struct vv_picture *picture, vv_form_write *write,
                                  const char *path, const char *temporary,
                                  struct varve_error *error)
{
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream == NULL) {
        int failure = errno;
        if (file >= 0) {
            close(file);
            unlink(temporary);
        }
        return vv_fail_errno(error, failure, "cannot write '%s'", path);
    }
    enum varve_code code = write(picture->dag, picture, stream, error);
    errno = 0;
    bool has_failed = fflush(stream) != 0 || ferror(stream);
    int failure = errno;
    if (fclose(stream) != 0 && !has_failed) {
        has_failed = true;
        failure = errno;
    }
    if (code == VARVE_OK && !has_failed && rename(temporary, path) == 0)
        return VARVE_OK;
    if (code == VARVE_OK)
        code = vv_fail_errno(error, has_failed ? (failure != 0 ? failure : EIO) : errno,
                             "cannot write '%s'", path);
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
