/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_record.c — varve record: runs a program so that it records itself, and says what came of it.
 *
 * The program's exit code is ours; 125, 126 and 127 are failures before it started, and then neither a
 * new trace is left nor a former one moved. Nothing is written to the program's own output. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/collect_list.h"
#include "base/number.h"
#include "cli/arguments.h"
#include "cli/child.h"
#include "cli/locate.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/record_attach.h"
#include "cli/record_collectors.h"
#include "cli/record_policy.h"
#include "cli/shell_word.h"
#include "cli/surroundings.h"
#include "cli/terminal.h"
#include "cli/trace_folder.h"
#include "ctf/metadata_write.h"
#include "ctf/schedule.h"
#include "ctf/trim.h"
#include "import/importer.h"

#define SETTINGS_MAX 12
#define ROOM_LEAST_BYTES (UINT64_C(256) << 10) /* with less a process may have had none for its folder */
#define PYTHON_MODULES_BYTES 512u /* that the library in the program keeps                       */

struct recording {
    const struct vv_arguments *arguments;
    struct vv_record_policy policy;
    char **command;
    char *name;    /* of the trace, as the user knows it                                         */
    char *preload; /* LD_PRELOAD of the program                                                  */
    char python_depth[24]; /* "" = any                                                           */
    struct vv_trace_folder folder;
    struct vv_child_end end;
};

/* ---- before ---- */

static enum varve_code set_preload(struct recording *recording, struct varve_error *error)
{
    const char *former = getenv("LD_PRELOAD");
    char *library = vv_program_library();
    bool has_former = former != NULL && *former != '\0';
    if (library == NULL)
        VV_FAIL(error, VARVE_NOT_FOUND, "libvarve.so is neither beside varve nor installed: say where "
                                        "it is with VARVE_LIBRARY=/path/libvarve.so");
    enum varve_code code = VARVE_OK;
    if (strpbrk(library, ": ") != NULL)
        code = vv_fail(error, VARVE_UNSUPPORTED,
                       "the dynamic linker cannot load '%s': move it where no blank or colon is in the "
                       "path", library);
    else if (asprintf(&recording->preload, "%s%s%s", library, has_former ? ":" : "",
                      has_former ? former : "") < 0) {
        recording->preload = NULL;
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the program's environment");
    }
    free(library);
    return code;
}

/* What is recorded when: --paused, --schedule. */
static enum varve_code check_times(const struct vv_arguments *arguments, struct varve_error *error)
{
    struct vv_schedule schedule;
    if (arguments->duration != NULL)
        VV_FAIL(error, VARVE_INVALID, "--duration goes with --pid: to record a part of a new program, --schedule "
                                      "counts steps");
    if (arguments->schedule == NULL)
        return VARVE_OK;
    if (arguments->paused)
        VV_FAIL(error, VARVE_INVALID, "--paused waits for varve start, --schedule for steps: one of the two");
    VV_TRY_NOTE(vv_schedule_parse(arguments->schedule, &schedule, error), error, "--schedule");
    return VARVE_OK;
}

static enum varve_code choose_sources(struct recording *recording, struct varve_error *error)
{
    const struct vv_arguments *arguments = recording->arguments;
    uint32_t sources;
    VV_TRY_NOTE(vv_collect_parse(arguments->collect, &sources, error), error, "--collect");
    if ((arguments->python_modules != NULL || arguments->python_depth != 0) &&
        (sources & vv_collect_bit("python")) == 0)
        VV_FAIL(error, VARVE_INVALID, "--python-modules and --python-depth choose among Python's calls, which are "
                                      "recorded with --collect +python only");
    if (arguments->python_modules != NULL && strlen(arguments->python_modules) >= PYTHON_MODULES_BYTES)
        VV_FAIL(error, VARVE_INVALID, "--python-modules: a list of at most %u bytes", PYTHON_MODULES_BYTES - 1);
    if (arguments->python_depth > 0)
        snprintf(recording->python_depth, sizeof recording->python_depth, "%lld", (long long)arguments->python_depth);
    return VARVE_OK;
}

static enum varve_code prepare(struct recording *recording, struct varve_error *error)
{
    const struct vv_arguments *arguments = recording->arguments;
    if (arguments->operand_count == 0)
        VV_FAIL(error, VARVE_INVALID, "record wants a program to run:  varve record -- PROGRAM ARGS");
    if (arguments->output != NULL && *arguments->output == '\0')
        VV_FAIL(error, VARVE_INVALID, "-o wants the trace's name:  varve record -o NAME.varve -- PROGRAM");
    if (vv_layers_parse(arguments->layers) == 0)
        VV_FAIL(error, VARVE_INVALID, "--layers '%.100s': no such layer. Write all, or some of API, HOST, "
                                      "OP, RUNTIME, RUNTIME_L1, DEVICE, COMM, MEMORY, STEP, PYTHON, METRIC "
                                      "with commas between", arguments->layers);
    VV_TRY(choose_sources(recording, error));
    VV_TRY(check_times(arguments, error));
    VV_TRY(vv_record_policy_read(arguments, &recording->policy, error));
    recording->command = arguments->operands;
    recording->name = arguments->output != NULL ? strdup(arguments->output)
                                                : vv_trace_folder_name(recording->command);
    if (recording->name == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of the trace");
    return set_preload(recording, error);
}

/* Returns how many there are. */
static size_t set_environment(const struct recording *recording, const char *folder,
                              struct vv_child_setting out_settings[SETTINGS_MAX])
{
    size_t count = 3;
    out_settings[0] = (struct vv_child_setting){ "VARVE_OUTPUT", folder };
    out_settings[1] = (struct vv_child_setting){ "VARVE_LAYERS", recording->arguments->layers };
    out_settings[2] = (struct vv_child_setting){ "LD_PRELOAD", recording->preload };
    const bool is_standard = strcmp(recording->arguments->collect, "auto") == 0;
    const struct vv_child_setting more[] = {
        { "VARVE_COLLECT", is_standard ? "" : recording->arguments->collect },
        { "VARVE_PYTHON_MODULES", recording->arguments->python_modules != NULL ? recording->arguments->python_modules : "" },
        { "VARVE_PYTHON_DEPTH", recording->python_depth },
        { "VARVE_PAUSED", recording->arguments->paused ? "1" : "" },
        { "VARVE_SCHEDULE", recording->arguments->schedule != NULL ? recording->arguments->schedule : "" },
        { "VARVE_MAX_SIZE", recording->policy.max_size },
        { "VARVE_WHEN_FULL", recording->policy.when_full },
        { "VARVE_KEEP", recording->policy.keep_text },
        { "VARVE_DUMP_ON", recording->policy.dump_on },
    };
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) /* a varve record around us may have set them */
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

static void say_silent(const struct recording *recording)
{
    char duration[VV_NUMBER_BYTES];
    vv_number_duration(recording->end.duration_ns, duration, sizeof duration);
    fprintf(stderr, "varve: recorded 0 operators in %s. '%s' %s\n", duration, recording->command[0],
            vv_program_why_silent(recording->command[0]));
    if (recording->end.signal != 0)
        fprintf(stderr, "  it was ended by signal %d (%s)\n", recording->end.signal,
                strsignal(recording->end.signal));
    else
        fprintf(stderr, "  it ended with exit code %d\n", recording->end.exit_code);
    if (vv_record_policy_say_room(recording->folder.absolute, ROOM_LEAST_BYTES))
        return;
    if (vv_program_is_python(recording->command[0])) {
        fputs("  Three ways on:\n"
              "    record the calls of its functions     varve record --collect +python --", stderr);
        for (char *const *word = recording->command; *word != NULL; word++) {
            putc(' ', stderr);
            vv_shell_word_put(stderr, *word);
        }
        fputs("\n    mark its parts with the Python module varve: record_function, step\n", stderr);
    } else
        fputs("  Two ways on:\n    mark its operators with <varve/varve.h> and link it with -lvarve\n", stderr);
    fputs("    or see what ran and for how long      varve info ", stderr);
    vv_shell_word_put(stderr, recording->folder.path);
    putc('\n', stderr);
    vv_surroundings_say(recording->preload);
}

static bool is_newest_here(const char *path)
{
    char *newest = NULL;
    bool is_newest = strchr(path, '/') == NULL && vv_locate_newest(&newest, NULL) == VARVE_OK &&
                     strcmp(newest, path) == 0;
    free(newest);
    return is_newest;
}

/* How to see it, and that it is the end only where a flight recorder has left out what came before. */
static void say_next(const struct recording *recording, const struct vv_model *model)
{
    char amount[VV_KEEP_TEXT_BYTES];
    vv_keep_text(&recording->policy.keep, amount);
    if (amount[0] != '\0' && vv_record_policy_forgot(model))
        fprintf(stderr, "varve: only the last %s of each process were kept; next: varve report", amount);
    else
        fputs("varve: next: varve report", stderr);
    if (!is_newest_here(recording->folder.path)) {
        putc(' ', stderr);
        vv_shell_word_put(stderr, recording->folder.path);
    }
    putc('\n', stderr);
}

static void say_recorded(const struct recording *recording, const struct vv_model *model)
{
    bool is_red = model->run.lost > 0 && vv_terminal_has_color(STDERR_FILENO, recording->arguments->color);
    char size[VV_NUMBER_BYTES], events[VV_NUMBER_BYTES], lost[VV_NUMBER_BYTES] = "none",
                                                         duration[VV_NUMBER_BYTES];
    vv_number_bytes(vv_trace_folder_size(recording->folder.absolute), size, sizeof size);
    vv_number_count((int64_t)model->run.events, events, sizeof events);
    if (model->run.lost > 0)
        vv_number_count((int64_t)model->run.lost, lost, sizeof lost);
    vv_number_duration(recording->end.duration_ns, duration, sizeof duration);
    fprintf(stderr, "varve: %s  %s  %s events  %s%s lost%s  %s  ", recording->folder.path, size, events,
            is_red ? "\033[31m" : "", lost, is_red ? "\033[0m" : "", duration);
    if (recording->end.signal != 0)
        fprintf(stderr, "ended by signal %d (%s)\n", recording->end.signal,
                strsignal(recording->end.signal));
    else
        fprintf(stderr, "exit %d\n", recording->end.exit_code);
    vv_record_policy_say_grown(&recording->policy, recording->folder.absolute);
    if (model->run.lost > 0)
        vv_record_policy_say_lost(&recording->policy, recording->folder.absolute);
    vv_surroundings_say(recording->preload);
    vv_record_collectors_say(model);
    say_next(recording, model);
}

static void say_result(const struct recording *recording)
{
    struct varve_error error;
    struct vv_model *model = NULL;
    if (recording->arguments->quiet)
        return;
    if (vv_trace_folder_processes(recording->folder.absolute) == 0)
        say_silent(recording);
    else if (vv_import_counts(recording->folder.path, &model, &error) != VARVE_OK)
        fprintf(stderr, "varve: recorded %s, but it cannot be read: %s\n", recording->folder.path,
                error.message);
    else if (model->run.events > 0 || model->run.lost > 0)
        say_recorded(recording, model);
    else
        say_silent(recording);
    vv_model_destroy(model);
}

/* The program has run: from here on nothing changes its exit code, and failures are only said. */
static void finish(struct recording *recording)
{
    struct varve_error error;
    bool attached = vv_trace_folder_processes(recording->folder.absolute) > 0;
    const struct vv_manifest manifest = {
        .command = recording->command,
        .begin_realtime_ns = recording->end.begin_realtime_ns,
        .end = &recording->end,
        .attached = attached,
        .why = attached ? NULL : vv_program_why_silent(recording->command[0]),
    };
    if (vv_manifest_write(recording->folder.absolute, &manifest, &error) != VARVE_OK)
        vv_complain(&error);
    if (vv_trim_trace(recording->folder.absolute, &error) != VARVE_OK)
        vv_complain(&error);
    if (vv_trace_folder_keep(&recording->folder, &error) != VARVE_OK)
        vv_complain(&error);
    vv_child_release(); /* reading a long trace may be interrupted */
    say_result(recording);
}

static void say_setting(const struct recording *recording)
{
    fprintf(stderr, "varve: trace %s\nvarve: LD_PRELOAD=%s\n", recording->folder.absolute,
            recording->preload);
    if (recording->folder.former != NULL)
        fprintf(stderr, "varve: the former trace is now %s\n", recording->folder.former);
}

/* What the program would obey without us. */
static void say_unused_options(void)
{
    static const char *const names[] = { "VARVE_OPTIONS", "PROFILING_MODE", "GE_PROFILING_MODE" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL)
            fprintf(stderr, "varve: %s is set, and not used: what varve record is told goes before it\n",
                    names[i]);
}

static int run(struct recording *recording)
{
    struct varve_error error;
    struct vv_child_setting settings[SETTINGS_MAX];
    if (vv_trace_folder_make(&recording->folder, recording->name, &error) != VARVE_OK) {
        vv_complain(&error);
        if (strstr(error.message, "-o NAME") == NULL)
            fputs("  name another place:  varve record -o NAME.varve -- PROGRAM ARGS\n", stderr);
        return VV_EXIT_RECORD;
    }
    const char *folder = recording->folder.absolute;
    size_t setting_count = set_environment(recording, folder, settings);
    if (recording->arguments->verbose)
        say_setting(recording);
    if (!recording->arguments->quiet)
        say_unused_options();
    const struct vv_manifest manifest = { .command = recording->command,
                                          .begin_realtime_ns = vv_child_now_ns() };
    int status = VV_EXIT_RECORD;
    enum varve_code code = vv_manifest_write(folder, &manifest, &error);
    if (code == VARVE_OK)
        code = vv_child_run(recording->command, settings, setting_count, &recording->end, &error);
    if (code != VARVE_OK)
        vv_complain(&error);
    else if (recording->end.exec_errno != 0)
        status = vv_program_complain(recording->command[0], recording->end.exec_errno);
    else {
        finish(recording);
        status = recording->end.exit_code;
        vv_trace_folder_deinit(&recording->folder);
        return status;
    }
    vv_trace_folder_undo(&recording->folder);
    vv_child_release();
    return status;
}

int vv_cmd_record(const struct vv_arguments *arguments)
{
    struct recording recording = { .arguments = arguments };
    struct varve_error error;
    int status = VV_EXIT_RECORD;
    if (arguments->pid != NULL)
        return vv_record_attach(arguments);
    if (prepare(&recording, &error) != VARVE_OK)
        vv_complain(&error);
    else
        status = arguments->dry_run ? dry_run(&recording) : run(&recording);
    free(recording.name);
    free(recording.preload);
    vv_child_follow(&recording.end);
    return status;
}
