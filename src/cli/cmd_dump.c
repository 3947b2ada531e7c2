/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dump.c — varve dump: copies what a running process has recorded so far into a trace of its
 * own.
 *
 * It reads files, so the process need not answer. A process that holds work of devices is asked to
 * hand it over first, and waited for a moment. doc/control.md */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/line/arguments.h"
#include "cli/line/cleanup_on_signal.h"
#include "cli/line/say.h"
#include "cli/line/trace_folder.h"
#include "cli/reading/trace_span.h"
#include "cli/recording/dump.h"
#include "cli/recording/recorded_processes.h"
#include "import/importer.h"
#include "sheet/number.h"

struct dumping {
    const struct vv_arguments *arguments;
    struct vv_recorded_list list; /* with `whole`: the processes of that trace that run */
    char *whole;                  /* a trace, with all its processes; NULL = the list's alone */
};

/* ---- the processes that the user means ---- */

static bool is_number(const char *word)
{
    return *word != '\0' && word[strspn(word, "0123456789")] == '\0';
}

static enum varve_code find(struct dumping *dumping, struct varve_error *error)
{
    const struct vv_arguments *arguments = dumping->arguments;
    if (arguments->operand_count == 0)
        VV_FAIL(error, VARVE_INVALID,
                "dump wants a process or a trace: varve dump PID, or NAME.varve. Those being "
                "recorded:  varve status");
    if (arguments->operand_count > 1)
        VV_FAIL(error, VARVE_INVALID, "one at a time: after '%.60s' came '%.60s'",
                arguments->operands[0], arguments->operands[1]);
    if (arguments->output != NULL &&
        (*arguments->output == '\0' || strcmp(arguments->output, "-") == 0))
        VV_FAIL(error, VARVE_INVALID, "a trace is a folder: -o OUT.varve");
    const char *word = arguments->operands[0];
    if (is_number(word) || !vv_trace_folder_is_trace(word))
        return vv_recorded_find(word, &dumping->list, error);
    (void)vv_recorded_find(word, &dumping->list, NULL); /* those that run are asked */
    dumping->whole = realpath(word, NULL);
    return dumping->whole != NULL ? VARVE_OK
                                  : vv_fail_errno(error, errno, "cannot read '%s'", word);
}

static size_t trace_length(const struct vv_recorded *recorded)
{
    return (size_t)(strrchr(recorded->folder, '/') - recorded->folder);
}

static bool is_same_trace(const struct vv_recorded *a, const struct vv_recorded *b)
{
    size_t length = trace_length(a);
    return length == trace_length(b) && memcmp(a->folder, b->folder, length) == 0;
}

/* ---- one trace ---- */

static void say(const char *path, const struct vv_arguments *arguments)
{
    struct vv_model *model = NULL;
    struct varve_error error;
    char here[PATH_MAX], events[VV_NUMBER_BYTES], lost[VV_NUMBER_BYTES] = "none",
                                                  duration[VV_NUMBER_BYTES];
    size_t length = getcwd(here, sizeof here) != NULL ? strlen(here) : 0;
    const char *name = arguments->output != NULL ? arguments->output : path;
    if (name == path && length > 1 && strncmp(path, here, length) == 0 && path[length] == '/')
        name += length + 1;
    if (vv_import_counts(path, &model, &error) != VARVE_OK) {
        vv_say("%s cannot be read: %s", name, error.message);
        return;
    }
    uint64_t processes = model->processes.table.count;
    int64_t begin_ns = 0, end_ns = 0;
    vv_coverage(path, &begin_ns, &end_ns);
    vv_number_count((int64_t)model->run.events, events, sizeof events);
    if (model->run.lost > 0)
        vv_number_count((int64_t)model->run.lost, lost, sizeof lost);
    vv_number_duration(end_ns - begin_ns, duration, sizeof duration);
    vv_say("%s  %llu process%s  %s events  %s lost  covers %s", name,
            (unsigned long long)processes, processes == 1 ? "" : "es", events, lost, duration);
    vv_model_destroy(model);
}

static enum varve_code dump_one(const struct dumping *dumping, const struct vv_snapshot_job *job,
                                struct varve_error *error)
{
    const struct vv_arguments *arguments = dumping->arguments;
    char path[PATH_MAX + 64] = "";
    if (arguments->output != NULL) {
        VV_TRY(vv_dump_write(job, arguments->output, error));
    } else {
        int failure = vv_snapshot_next(job, path, sizeof path);
        if (failure != 0)
            return vv_dump_fail(failure, job->trace, path, error);
    }
    if (!arguments->quiet)
        say(*path != '\0' ? path : arguments->output, arguments);
    return VARVE_OK;
}

/* Dumps the processes of the list, from `first` on, that are in the same trace. */
static enum varve_code dump_group(const struct dumping *dumping, size_t first,
                                  struct varve_error *error)
{
    const struct vv_recorded *items = dumping->list.items;
    const char **processes = calloc(dumping->list.count + 1, sizeof *processes);
    char *trace = strndup(items[first].folder, trace_length(&items[first]));
    enum varve_code code = VARVE_OK;
    if (processes == NULL || trace == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the names of processes");
    for (size_t i = first, count = 0; code == VARVE_OK && i < dumping->list.count; i++)
        if (is_same_trace(&items[first], &items[i]))
            processes[count++] = strrchr(items[i].folder, '/') + 1;
    const struct vv_snapshot_job job = { trace, processes, &vv_cleanup_signal };
    if (code == VARVE_OK)
        code = dump_one(dumping, &job, error);
    free(processes);
    free(trace);
    return code;
}

static bool is_first_of_its_trace(const struct vv_recorded_list *list, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_same_trace(&list->items[i], &list->items[at]))
            return false;
    return true;
}

static enum varve_code dump_all(const struct dumping *dumping, struct varve_error *error)
{
    const struct vv_recorded_list *list = &dumping->list;
    size_t traces = 0;
    vv_recorded_hand_over(list->items, list->count);
    if (dumping->whole != NULL) {
        const struct vv_snapshot_job job = { dumping->whole, NULL, &vv_cleanup_signal };
        return dump_one(dumping, &job, error);
    }
    for (size_t i = 0; i < list->count; i++)
        traces += is_first_of_its_trace(list, i);
    if (traces > 1 && dumping->arguments->output != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "'%s' means processes of %zu traces, and -o names one: give a PID or a trace. "
                "Those being recorded:  varve status",
                dumping->arguments->operands[0], traces);
    for (size_t i = 0; i < list->count; i++)
        if (is_first_of_its_trace(list, i))
            VV_TRY(dump_group(dumping, i, error));
    return VARVE_OK;
}

vv_run_verb vv_cmd_dump;

int vv_cmd_dump(const struct vv_arguments *arguments)
{
    struct dumping dumping = { .arguments = arguments };
    struct varve_error error;
    vv_cleanup_by_verb();
    enum varve_code code = find(&dumping, &error);
    if (code == VARVE_OK)
        code = dump_all(&dumping, &error);
    vv_recorded_deinit(&dumping.list);
    free(dumping.whole);
    if (code == VARVE_OK)
        return VV_EXIT_DONE;
    int status = vv_complain_writing(&error);
    if (code == VARVE_STATE && vv_cleanup_signal != 0)
        raise(vv_cleanup_signal);
    return status;
}
