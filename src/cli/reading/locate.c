/* SPDX-License-Identifier: Apache-2.0 */
/* locate.c — finds the trace that a reading verb should read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/locate.h"
#include "import/search.h"

/* Names of folders here whose content is looked at; others hold programs and data. */
static bool may_be_trace(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strstr(entry->d_name, ".varve.old") == NULL;
}

/* Did varve export write it? Its last member says so. A recording says more than its export. */
static bool is_export(const char *name, const struct stat *status)
{
    static const char mark[] = "\n\"varve\": {\"version\": ";
    char tail[4096];
    size_t length = strlen(name);
    if (!S_ISREG(status->st_mode) || length < 5 || strcmp(name + length - 5, ".json") != 0)
        return false;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t from = status->st_size > (off_t)sizeof tail ? status->st_size - (off_t)sizeof tail : 0;
    ssize_t bytes = file >= 0 ? pread(file, tail, sizeof tail, from) : 0;
    if (file >= 0)
        close(file);
    return bytes > 0 && memmem(tail, (size_t)bytes, mark, sizeof mark - 1) != NULL;
}

struct newest {
    char *path; /* NULL: none */
    int64_t time_ns;
};

static enum varve_code take_newer(struct newest *newest, const char *name,
                                  const struct stat *status, struct varve_error *error)
{
    int64_t time_ns, changed_ns = vv_time_ns(&status->st_mtim);
    bool is_first = newest->path == NULL;
    /* A folder's own time may be older than that of its newest file. */
    if ((!is_first && !S_ISDIR(status->st_mode) && changed_ns <= newest->time_ns) ||
        !vv_recording_time(name, &time_ns) || (!is_first && time_ns <= newest->time_ns))
        return VARVE_OK;
    free(newest->path);
    *newest = (struct newest){ strdup(name), time_ns };
    if (newest->path == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a trace");
    return VARVE_OK;
}

enum varve_code vv_locate_newest(char **out_path, struct varve_error *error)
{
    struct newest traces = { 0 }, exports = { 0 };
    enum varve_code code = VARVE_OK;
    DIR *here = opendir(".");
    if (here == NULL)
        return vv_fail_errno(error, errno, "cannot look for a trace in this folder");
    for (struct dirent *entry = readdir(here); entry != NULL && code == VARVE_OK;
         entry = readdir(here)) {
        struct stat status;
        if (may_be_trace(entry) && stat(entry->d_name, &status) == 0)
            code = take_newer(is_export(entry->d_name, &status) ? &exports : &traces,
                              entry->d_name, &status, error);
    }
    closedir(here);
    struct newest *best = traces.path != NULL ? &traces : &exports;
    if (code == VARVE_OK && best->path == NULL)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_NOT_FOUND,
                                    "no trace here. Record one:  varve record -- PROGRAM    or "
                                    "name one that lies elsewhere"));
    if (code == VARVE_OK) {
        *out_path = best->path;
        best->path = NULL;
    }
    free(traces.path);
    free(exports.path);
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
