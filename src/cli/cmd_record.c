/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_record.c — varve record: runs a program so that it records itself, and reports the result.
 *
 * The exit code is the program's. 125, 126 and 127 are failures before the program started; in that
 * case no new trace is left, and no existing trace is moved. Nothing is written to the program's
 * own output. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "base/text/shell_word.h"
#include "cli/line/terminal.h"
#include "cli/line/trace_folder.h"
#include "cli/metrics/watch.h"
#include "cli/reading/locate.h"
#include "cli/reading/output.h"
#include "cli/recording/attach.h"
#include "cli/recording/child.h"
#include "cli/recording/executable.h"
#include "cli/recording/lost.h"
#include "cli/recording/manifest.h"
#include "cli/recording/other_profilers.h"
#include "cli/recording/policy.h"
#include "cli/recording/preload.h"
#include "cli/recording/program.h"
#include "cli/recording/say_collectors.h"
#include "ctf/metadata_write.h"
#include "ctf/trim.h"
#include "import/importer.h"
#include "settings/schedule.h"
#include "settings/sources.h"
#include "sheet/number.h"
#include "varve/varve.h"

#define SETTINGS_MAX 18
/* With less room, a process may have been unable to make its folder. */
#define ROOM_LEAST_BYTES (UINT64_C(256) << 10)
#define PYTHON_MODULES_BYTES 512u /* the library in the program keeps at most this               */

struct recording {
    const struct vv_arguments *arguments;
    struct vv_record_policy policy;
    char **command;
    char *name;    /* the trace's name, as the user wrote it                                     */
    struct vv_executable executable;
    struct vv_preload preload;
    char python_depth[24]; /* "" = any depth                                                     */
    struct vv_trace_folder folder;
    struct vv_metric_wishes metrics;
    struct vv_metric_watch watch;
    bool has_metrics; /* of GPUs: the trace has a process that read them                         */
    size_t processes; /* of the program, in the trace                                            */
    struct vv_child_end end;
    struct vv_lost lost; /* records lost by processes without a folder */
};

/* ---- before ---- */

/* Checks --paused and --schedule, which say when to record. */
static enum varve_code check_times(const struct vv_arguments *arguments, struct varve_error *error)
{
    struct vv_schedule schedule;
    if (arguments->duration != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "--duration goes with --pid: to record a part of a new program, --schedule "
                "counts steps");
    if (arguments->schedule == NULL)
        return VARVE_OK;
    if (arguments->paused)
        VV_FAIL(error, VARVE_INVALID,
                "--paused waits for varve start, --schedule for steps: one of the two");
    VV_TRY_NOTE(vv_schedule_parse(arguments->schedule, &schedule, error), error, "--schedule");
    return VARVE_OK;
}

static enum varve_code choose_metrics(struct recording *recording, uint32_t layers,
                                      struct varve_error *error)
{
    const struct vv_arguments *arguments = recording->arguments;
    VV_TRY(vv_metric_wishes_read(arguments->metrics, arguments->metrics_period,
                                 &recording->metrics, error));
    if (recording->metrics.metrics != 0 && (layers & VARVE_LAYER_DEVICE) == 0)
        VV_FAIL(error, VARVE_INVALID,
                "metrics of GPUs belong to layer device, which --layers leaves out");
    return VARVE_OK;
}

static enum varve_code choose_sources(struct recording *recording, struct varve_error *error)
{
    const struct vv_arguments *arguments = recording->arguments;
    uint32_t sources;
    VV_TRY_NOTE(vv_collect_parse(arguments->collect, &sources, error), error, "--collect");
    if ((arguments->python_modules != NULL || arguments->python_depth != 0) &&
        (sources & vv_collect_bit("python")) == 0)
        VV_FAIL(error, VARVE_INVALID,
                "--python-modules and --python-depth choose among Python's calls, which are "
                "recorded with --collect +python only");
    if (arguments->python_modules != NULL &&
        strlen(arguments->python_modules) >= PYTHON_MODULES_BYTES)
        VV_FAIL(error, VARVE_INVALID, "--python-modules: a list of at most %u bytes",
                PYTHON_MODULES_BYTES - 1);
    if (arguments->python_depth > 0)
        snprintf(recording->python_depth, sizeof recording->python_depth, "%lld",
                 (long long)arguments->python_depth);
    return VARVE_OK;
}

static enum varve_code prepare(struct recording *recording, struct varve_error *error)
{
    const struct vv_arguments *arguments = recording->arguments;
    if (arguments->operand_count == 0)
        VV_FAIL(error, VARVE_INVALID,
                "record wants a program to run:  varve record -- PROGRAM ARGS");
    if (arguments->output != NULL && *arguments->output == '\0')
        VV_FAIL(error, VARVE_INVALID,
                "-o wants the trace's name:  varve record -o NAME.varve -- PROGRAM");
    uint32_t layers;
    VV_TRY_NOTE(vv_layers_parse(arguments->layers, &layers, error), error, "--layers");
    VV_TRY(choose_sources(recording, error));
    VV_TRY(check_times(arguments, error));
    VV_TRY(choose_metrics(recording, layers, error));
    VV_TRY(vv_record_policy_read(arguments, &recording->policy, error));
    recording->command = arguments->operands;
    recording->name = arguments->output != NULL ? strdup(arguments->output)
                                                : vv_trace_folder_name(recording->command);
    if (recording->name == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of the trace");
    vv_executable_look(recording->command[0], &recording->executable);
    return vv_preload_make(&recording->executable, &recording->preload, error);
}

/* True by the option, or by the variable that the library reads. */
static bool is_shared(const struct recording *recording)
{
    const char *share = getenv("VARVE_SHARE");
    return recording->arguments->share || (share != NULL && strcmp(share, "1") == 0);
}

/* The driver loads what this variable names when a program initialises CUDA, and no earlier. It has
 * room for one tool: another one keeps it. */
#define CUDA_INJECTION "CUDA_INJECTION64_PATH"

/* NCCL loads what this variable names when a program makes a communicator, and keeps 254 bytes. */
#define NCCL_PLUGIN "NCCL_PROFILER_PLUGIN"
#define NCCL_PATH_BYTES_MAX 254u

/* Does the source need a variable, and has no other tool set it? */
static bool wants_variable(const struct recording *recording, const char *source, const char *name)
{
    const char *other = getenv(name);
    uint32_t sources;
    return recording->preload.library != NULL && (other == NULL || *other == '\0') &&
           vv_collect_parse(recording->arguments->collect, &sources, NULL) == VARVE_OK &&
           (sources & vv_collect_bit(source)) != 0;
}

/* Returns the number of settings. */
static size_t set_environment(const struct recording *recording, const char *folder,
                              struct vv_child_setting out_settings[SETTINGS_MAX])
{
    size_t count = 2;
    out_settings[0] = (struct vv_child_setting){ "VARVE_OUTPUT", folder };
    out_settings[1] = (struct vv_child_setting){ "VARVE_LAYERS", recording->arguments->layers };
    if (recording->preload.list != NULL)
        out_settings[count++] = (struct vv_child_setting){ "LD_PRELOAD", recording->preload.list };
    if (recording->preload.asan_options != NULL)
        out_settings[count++] =
            (struct vv_child_setting){ "ASAN_OPTIONS", recording->preload.asan_options };
    if (wants_variable(recording, "cuda", CUDA_INJECTION))
        out_settings[count++] =
            (struct vv_child_setting){ CUDA_INJECTION, recording->preload.library };
    if (wants_variable(recording, "nccl", NCCL_PLUGIN) &&
        strlen(recording->preload.library) <= NCCL_PATH_BYTES_MAX)
        out_settings[count++] =
            (struct vv_child_setting){ NCCL_PLUGIN, recording->preload.library };
    const bool is_standard = strcmp(recording->arguments->collect, "auto") == 0;
    const struct vv_child_setting more[] = {
        { "VARVE_COLLECT", is_standard ? "" : recording->arguments->collect },
        { "VARVE_PYTHON_MODULES", recording->arguments->python_modules != NULL
                                      ? recording->arguments->python_modules
                                      : "" },
        { "VARVE_PYTHON_DEPTH", recording->python_depth },
        { "VARVE_PAUSED", recording->arguments->paused ? "1" : "" },
        { "VARVE_SCHEDULE",
          recording->arguments->schedule != NULL ? recording->arguments->schedule : "" },
        { "VARVE_MAX_SIZE", recording->policy.max_size },
        { "VARVE_WHEN_FULL", recording->policy.when_full },
        { "VARVE_KEEP", recording->policy.keep_text },
        { "VARVE_DUMP_ON", recording->policy.dump_on },
        { "VARVE_RESERVE", recording->policy.reserve_text },
        { "VARVE_SHARE", is_shared(recording) ? "1" : "" },
        { "VARVE_METRICS", recording->metrics.group },
    };
    /* A varve record around this one may have set these variables. */
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (*more[i].value != '\0' || getenv(more[i].name) != NULL)
            out_settings[count++] = more[i];
    return count;
}

static int dry_run(const struct recording *recording)
{
    struct vv_child_setting settings[SETTINGS_MAX];
    char *here = recording->name[0] != '/' ? getcwd(NULL, 0) : NULL, *folder = NULL;
    if (asprintf(&folder, "%s%s%s", here != NULL ? here : "", here != NULL ? "/" : "",
                 recording->name) < 0)
        folder = NULL;
    size_t count = set_environment(recording, folder != NULL ? folder : recording->name, settings);
    for (size_t i = 0; i < count; i++) {
        printf("%s=", settings[i].name);
        vv_shell_word_put(stdout, settings[i].value);
        putchar('\n');
    }
    for (char *const *word = recording->command; *word != NULL; word++) {
        fputs(word > recording->command ? " " : "", stdout);
        vv_shell_word_put(stdout, *word);
    }
    putchar('\n');
    free(here);
    free(folder);
    return vv_cli_flush(VV_EXIT_DONE);
}

/* ---- after ---- */

static const char *why_silent(const struct recording *recording)
{
    return recording->executable.loading != VV_LOADS ? recording->executable.why
                                                     : "marks nothing that varve can hear";
}

/* Prints words so that they can be typed again. */
static void say_command(const char *head, char *const *words)
{
    FILE *line = vv_say_begin(head);
    for (; line != NULL && *words != NULL; words++) {
        putc(' ', line);
        vv_shell_word_put(line, *words);
    }
    if (line != NULL)
        vv_say_end(line);
}

/* Says what to do about the result, and what can be done with it. */
static void say_ways_on(const struct recording *recording)
{
    char *const path[] = { recording->folder.path, NULL };
    if (recording->executable.next != NULL) {
        vv_say_more("Two ways on:");
        vv_say_more("  %s", recording->executable.next);
    } else if (vv_program_is_python(recording->command[0])) {
        vv_say_more("Three ways on:");
        say_command("    record the calls of its functions     varve record --collect +python --",
                    recording->command);
        vv_say_more("  mark its parts with the Python module varve: record_function, step");
    } else {
        vv_say_more("Two ways on:");
        vv_say_more("  mark its operators with <varve/varve.h> and link it with -lvarve");
    }
    say_command("    or see what ran and for how long      varve info", path);
}

static void say_silent(const struct recording *recording)
{
    char duration[VV_NUMBER_BYTES];
    vv_number_duration(recording->end.duration_ns, duration, sizeof duration);
    vv_say("recorded 0 operators in %s. '%s' %s", duration, recording->command[0],
           why_silent(recording));
    if (recording->end.signal != 0)
        vv_say_more("it was ended by signal %d (%s)", recording->end.signal,
                    strsignal(recording->end.signal));
    else
        vv_say_more("it ended with exit code %d", recording->end.exit_code);
    if (vv_record_policy_say_room(recording->folder.absolute, ROOM_LEAST_BYTES))
        return;
    if (recording->has_metrics)
        vv_say("metrics of GPUs are recorded:  varve info --table counters");
    if (recording->watch.missing[0] != '\0')
        vv_say("metrics of GPUs: %s", recording->watch.missing);
    say_ways_on(recording);
    vv_surroundings_say();
}

static bool is_newest_here(const char *path)
{
    char *newest = NULL;
    bool is_newest = strchr(path, '/') == NULL && vv_locate_newest(&newest, NULL) == VARVE_OK &&
                     strcmp(newest, path) == 0;
    free(newest);
    return is_newest;
}

/* Says how to read the trace; and, only if a flight recorder has dropped the beginning, that the
 * trace is only the end. */
static void say_next(const struct recording *recording, const struct vv_model *model)
{
    char amount[VV_KEEP_TEXT_BYTES], head[VV_KEEP_TEXT_BYTES + 100] = "varve: next: varve report";
    char *const path[] = { is_newest_here(recording->folder.path) ? NULL : recording->folder.path,
                           NULL };
    vv_keep_text(&recording->policy.keep, amount);
    if (amount[0] != '\0' && vv_record_policy_forgot(model))
        snprintf(head, sizeof head,
                 "varve: only the last %s of each process were kept; next: varve report", amount);
    say_command(head, path);
}

static void say_recorded(const struct recording *recording, const struct vv_model *model)
{
    bool is_red =
        model->run.lost > 0 && vv_terminal_has_color(STDERR_FILENO, recording->arguments->color);
    char size[VV_NUMBER_BYTES], events[VV_NUMBER_BYTES], lost[VV_NUMBER_BYTES] = "none",
                                                         duration[VV_NUMBER_BYTES];
    char before[PATH_MAX + 100], marked[VV_NUMBER_BYTES + 8], after[VV_NUMBER_BYTES + 100];
    vv_number_bytes(vv_trace_folder_size(recording->folder.absolute), size, sizeof size);
    vv_number_count((int64_t)model->run.events, events, sizeof events);
    if (model->run.lost > 0)
        vv_number_count((int64_t)model->run.lost, lost, sizeof lost);
    vv_number_duration(recording->end.duration_ns, duration, sizeof duration);
    snprintf(before, sizeof before, "%s  %s  %s events  ", recording->folder.path, size, events);
    snprintf(marked, sizeof marked, "%s lost", lost);
    if (recording->end.signal != 0)
        snprintf(after, sizeof after, "  %s  ended by signal %d (%s)", duration,
                 recording->end.signal, strsignal(recording->end.signal));
    else
        snprintf(after, sizeof after, "  %s  exit %d", duration, recording->end.exit_code);
    vv_say_marked(before, marked, after, is_red);
    vv_record_policy_say_grown(&recording->policy, recording->folder.absolute);
    if (model->run.lost > 0)
        vv_record_policy_say_lost(&recording->policy, recording->folder.absolute, model);
    vv_record_lost_say(&recording->lost);
    if (recording->executable.loading != VV_LOADS)
        vv_say("'%s' itself %s: recorded is what it started", recording->command[0],
                recording->executable.why);
    vv_surroundings_say();
    vv_record_collectors_say(model, model->processes.table.count - recording->has_metrics);
    if (recording->watch.missing[0] != '\0')
        vv_say("metrics of GPUs: %s", recording->watch.missing);
    vv_record_unseen_say(recording->folder.path);
    say_next(recording, model);
}

static void say_result(const struct recording *recording)
{
    struct varve_error error;
    struct vv_model *model = NULL;
    if (recording->arguments->quiet)
        return;
    if (recording->processes == 0 && recording->lost.records == 0)
        say_silent(recording);
    else if (vv_import_counts(recording->folder.path, &model, &error) != VARVE_OK)
        vv_say("recorded %s, but it cannot be read: %s", recording->folder.path,
                error.message);
    else if (model->tracks.table.count > 0 || model->run.lost > 0)
        say_recorded(recording, model);
    else {
        say_silent(recording);
        vv_record_unseen_say(recording->folder.path);
    }
    vv_model_destroy(model);
}

/* A program, or whoever else may, has removed the folder: nothing can be said of what was in it. */
static void say_removed(const struct recording *recording)
{
    vv_say("'%s' was removed while the program ran, and with it all that was recorded",
           recording->folder.path);
    vv_say_more("record where nothing cleans up:  varve record -o NAME.varve -- PROGRAM ARGS");
}

/* The program has run: from now on nothing changes its exit code, and failures only give
 * messages. */
static void finish(struct recording *recording)
{
    struct varve_error error;
    char why_lost[160];
    recording->has_metrics =
        vv_metric_watch_end(&recording->watch, recording->folder.absolute);
    if (!vv_trace_folder_follow(&recording->folder)) {
        say_removed(recording);
        (void)vv_trace_folder_keep(&recording->folder, NULL);
        vv_child_release();
        return;
    }
    recording->processes =
        vv_trace_folder_processes(recording->folder.absolute) - recording->has_metrics;
    bool attached = recording->processes > 0;
    vv_lost_page_drop(recording->folder.folder);
    vv_lost_page_read(recording->folder.absolute, &recording->lost);
    vv_record_lost_why(&recording->lost, why_lost, sizeof why_lost);
    const struct vv_manifest manifest = {
        .command = recording->command,
        .is_shared = is_shared(recording),
        .begin_realtime_ns = recording->end.begin_realtime_ns,
        .end = &recording->end,
        .attached = attached,
        .why = attached ? NULL : why_lost[0] != '\0' ? why_lost : why_silent(recording),
        .lost = &recording->lost,
        .metrics = recording->metrics.metrics != 0 ? recording->watch.missing : NULL,
    };
    if (vv_manifest_write(recording->folder.folder, recording->folder.absolute, &manifest,
                          &error) != VARVE_OK)
        vv_print_error(&error);
    if (vv_trim_trace(recording->folder.folder, recording->folder.absolute, &error) != VARVE_OK)
        vv_print_error(&error);
    if (vv_trace_folder_keep(&recording->folder, &error) != VARVE_OK)
        vv_print_error(&error);
    vv_child_release(); /* reading a long trace may be interrupted */
    say_result(recording);
}

static void say_setting(const struct recording *recording)
{
    vv_say("trace %s", recording->folder.absolute);
    if (recording->preload.list != NULL)
        vv_say("LD_PRELOAD=%s", recording->preload.list);
    if (recording->folder.former != NULL)
        vv_say("the former trace is now %s", recording->folder.former);
}

/* Names options that the program would obey without this command. */
static void say_unused_options(void)
{
    static const char *const names[] = { "VARVE_OPTIONS", "PROFILING_MODE", "GE_PROFILING_MODE" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL)
            vv_say("%s is set, and not used: what varve record is told goes before it",
                    names[i]);
}

static int run(struct recording *recording)
{
    struct varve_error error;
    struct vv_child_setting settings[SETTINGS_MAX];
    if (vv_trace_folder_make(&recording->folder, recording->name, is_shared(recording), &error) !=
        VARVE_OK) {
        vv_print_error(&error);
        if (vv_error_next(&error) != VV_NEXT_IS_SAID)
            vv_say_more(error.os_errno == EMFILE
                            ? "the shell grants too few files: raise it:  ulimit -n 64"
                            : "name another place:  varve record -o NAME.varve -- PROGRAM ARGS");
        return VV_EXIT_RECORD;
    }
    const char *folder = recording->folder.absolute;
    vv_record_policy_begin(&recording->policy, folder);
    size_t setting_count = set_environment(recording, folder, settings);
    if (recording->arguments->verbose)
        say_setting(recording);
    if (!recording->arguments->quiet)
        say_unused_options();
    const struct vv_manifest manifest = { .command = recording->command,
                                          .is_shared = is_shared(recording),
                                          .begin_realtime_ns = vv_child_now_ns() };
    int status = VV_EXIT_RECORD;
    enum varve_code code = vv_manifest_write(recording->folder.folder, folder, &manifest, &error);
    int failure = code != VARVE_OK
                      ? 0
                      : vv_lost_page_make(recording->folder.folder,
                                          manifest.is_shared ? VV_FILE_SHARED : VV_FILE_PRIVATE);
    if (failure != 0)
        code = vv_fail_errno(&error, failure, "cannot make '%s/" VV_LOST_FILE "'", folder);
    recording->metrics.program = recording->command[0];
    if (code == VARVE_OK && recording->metrics.metrics != 0)
        code = vv_metric_watch_begin(&recording->metrics, settings, setting_count,
                                     &recording->watch, &error);
    if (code == VARVE_OK)
        code = vv_child_run(recording->command, settings, setting_count, &recording->end, &error);
    if (code != VARVE_OK)
        vv_print_error(&error);
    else if (recording->end.exec_errno != 0)
        status = vv_program_complain(recording->command[0], recording->end.exec_errno);
    else {
        finish(recording);
        status = recording->end.exit_code;
        vv_trace_folder_deinit(&recording->folder);
        return status;
    }
    vv_metric_watch_end(&recording->watch, recording->folder.absolute);
    vv_trace_folder_undo(&recording->folder);
    vv_child_release();
    return status;
}

vv_run_verb vv_cmd_record;

int vv_cmd_record(const struct vv_arguments *arguments)
{
    struct recording recording = { .arguments = arguments };
    struct varve_error error;
    int status = VV_EXIT_RECORD;
    if (arguments->pid != NULL)
        return vv_record_attach(arguments);
    if (prepare(&recording, &error) != VARVE_OK)
        vv_print_error(&error);
    else
        status = arguments->dry_run ? dry_run(&recording) : run(&recording);
    free(recording.name);
    vv_metric_wishes_deinit(&recording.metrics);
    vv_preload_deinit(&recording.preload);
    vv_child_follow(&recording.end);
    return status;
}
