/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/os.h"

static enum varve_code default_output(struct vv_session_output *out, struct varve_error *error)
{
    char *program = out->path;
    if (vv_os_program(program, sizeof out->path) != 0)
        VV_FAIL(error, VARVE_IO, "cannot find a name for the trace: set options->output");
    const char *slash = strrchr(program, '/');
    int length = snprintf(out->wanted, sizeof out->wanted, "%s.varve",
                          slash != NULL ? slash + 1 : program);
    if (length < 0 || (size_t)length >= sizeof out->wanted)
        VV_FAIL(error, VARVE_LIMIT, "the path of this program is too long for a trace's name");
    return VARVE_OK;
}

/* Returns the name at the end of the path. Cuts off the slashes behind the name, because they would
 * make the system follow a symbolic link. */
static char *cut_name(char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return path;
    return slash[1] != '\0' ? slash + 1 : slash;
}

/* Makes the path absolute, because the program may change its current folder. Symbolic links that
 * lead to the folder are resolved. The folder itself must not be a link, so the last name is
 * kept. */
static int resolve(char *wanted, char out_path[PATH_MAX])
{
    char *name = cut_name(wanted);
    bool is_folder_itself =
        strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(wanted, "/") == 0;
    if (is_folder_itself)
        return realpath(wanted, out_path) != NULL ? 0 : errno;
    char first = *name;
    *name = '\0';
    const char *found = realpath(name == wanted ? "." : wanted, out_path);
    int failure = found != NULL ? 0 : errno;
    *name = first;
    if (failure != 0)
        return failure;
    size_t length = strlen(out_path);
    int added = snprintf(out_path + length, PATH_MAX - length, "%s%s", length > 1 ? "/" : "", name);
    return added < 0 || (size_t)added >= PATH_MAX - length ? ENAMETOOLONG : 0;
}

static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static enum varve_code make(struct vv_session_output *out, bool is_shared,
                            struct varve_error *error)
{
    char *wanted = out->wanted, *path = out->path;
    const char *objection = NULL;
    int failure = resolve(wanted, path);
    if (failure == 0)
        failure = vv_own_folder_make_at(path, is_shared);
    if (failure != 0 && failure != EEXIST)
        return vv_fail_errno(error, failure, "cannot make the trace folder '%s'", wanted);
    failure = vv_own_folder_know(path, is_shared, &out->folder, &objection);
    if (objection != NULL)
        VV_FAIL(error, VARVE_PERMISSION,
                "the trace folder '%s' is not used: %s; name another one, or take their "
                "rights to it away",
                path, objection);
    if (failure != 0 && is_link(path))
        VV_FAIL(error, VARVE_INVALID, "'%s' is a symbolic link: name the trace folder itself",
                path);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot use the trace folder '%s'", path);
    return VARVE_OK;
}

enum varve_code vv_output_make(const char *wanted, bool is_shared, struct vv_session_output *out,
                               struct varve_error *error)
{
    if (wanted == NULL)
        VV_TRY(default_output(out, error));
    else if (strlen(wanted) >= sizeof out->wanted)
        VV_FAIL(error, VARVE_LIMIT, "the trace's path is longer than %d bytes", PATH_MAX - 1);
    else
        memcpy(out->wanted, wanted, strlen(wanted) + 1);
    return make(out, is_shared, error);
}
