/* SPDX-License-Identifier: Apache-2.0 */
/* locate.c — finds the trace that a reading verb should read. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/line/trace_folder.h"
#include "cli/reading/locate.h"

#define SUFFIX ".varve"

static bool ends_in_suffix(const char *name)
{
    size_t length = strlen(name);
    return length > strlen(SUFFIX) && name[0] != '.' &&
           strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* Uses the manifest's time, because the manifest is written last; any new file in the folder
 * changes the folder's own time. */
static bool time_of(const char *folder, struct timespec *out_time)
{
    char manifest[4096];
    struct stat status;
    int length = snprintf(manifest, sizeof manifest, "%s/manifest.json", folder);
    bool has_manifest =
        length > 0 && (size_t)length < sizeof manifest && stat(manifest, &status) == 0;
    if (!has_manifest && stat(folder, &status) != 0)
        return false;
    *out_time = status.st_mtim;
    return true;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

enum varve_code vv_locate_newest(char **out_path, struct varve_error *error)
{
    struct timespec newest = { 0, 0 }, time;
    char *path = NULL;
    enum varve_code code = VARVE_OK;
    DIR *here = opendir(".");
    if (here == NULL)
        return vv_fail_errno(error, errno, "cannot look for a trace in this folder");
    for (struct dirent *entry = readdir(here); entry != NULL && code == VARVE_OK;
         entry = readdir(here)) {
        if (!ends_in_suffix(entry->d_name) || !vv_trace_folder_is_trace(entry->d_name) ||
            !time_of(entry->d_name, &time) || (path != NULL && !is_later(&time, &newest)))
            continue;
        free(path);
        path = strdup(entry->d_name);
        newest = time;
        if (path == NULL)
            code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the name of a trace");
    }
    closedir(here);
    if (code == VARVE_OK && path == NULL)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_NOT_FOUND,
                                    "no trace here. Record one:  varve record -- PROGRAM    or "
                                    "name one that lies elsewhere"));
    if (code == VARVE_OK)
        *out_path = path;
    return code;
}

enum varve_code vv_locate_trace(const struct vv_arguments *arguments, char **out_path,
                                struct varve_error *error)
{
    if (arguments->operand_count > 1)
        VV_FAIL(error, VARVE_INVALID, "one trace at a time: after '%s' came '%s'",
                arguments->operands[0], arguments->operands[1]);
    if (arguments->operand_count == 0) {
        VV_TRY(vv_locate_newest(out_path, error));
        if (!arguments->quiet)
            vv_say("reading %s", *out_path);
        return VARVE_OK;
    }
    char *path = strdup(arguments->operands[0]);
    if (path == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a trace");
    *out_path = path;
    return VARVE_OK;
}
