/* SPDX-License-Identifier: Apache-2.0 */
/* locate.c — finds the trace that a reading verb should read. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/locate.h"
#include "import/search.h"

/* Names of folders here whose content is looked at; others hold programs and data. */
static bool may_be_trace(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strstr(entry->d_name, ".varve.old") == NULL;
}

static bool is_newer(const char *name, int64_t newest_ns, bool has_newest)
{
    struct stat status;
    /* A folder's own time may be older than that of its newest file. */
    return stat(name, &status) == 0 &&
           (!has_newest || S_ISDIR(status.st_mode) ||
            (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec > newest_ns);
}

enum varve_code vv_locate_newest(char **out_path, struct varve_error *error)
{
    int64_t newest_ns = 0, time_ns;
    char *path = NULL;
    enum varve_code code = VARVE_OK;
    DIR *here = opendir(".");
    if (here == NULL)
        return vv_fail_errno(error, errno, "cannot look for a trace in this folder");
    for (struct dirent *entry = readdir(here); entry != NULL && code == VARVE_OK;
         entry = readdir(here)) {
        if (!may_be_trace(entry) || !is_newer(entry->d_name, newest_ns, path != NULL) ||
            !vv_recording_time(entry->d_name, &time_ns) || (path != NULL && time_ns <= newest_ns))
            continue;
        free(path);
        path = strdup(entry->d_name);
        newest_ns = time_ns;
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
