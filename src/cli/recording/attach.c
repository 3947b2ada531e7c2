/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c — switches the target through its control page, like `varve start` and `varve stop`. The
 * only change in the target is that it sees a changed word. The page is not locked while this
 * process waits. doc/control.md */
#include "cli/recording/attach.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/text/duration.h"
#include "cli/line/say.h"
#include "base/text/shell_word.h"
#include "cli/recording/dump.h"
#include "cli/recording/process_facts.h"
#include "cli/recording/recorded_processes.h"
#include "ctf/count_records.h"
#include "ctf/metadata_write.h"
#include "sheet/number.h"

struct attachment {
    const struct vv_arguments *arguments;
    uint64_t duration_ns;        /* 0 = until a signal                                           */
    struct vv_recorded_list list;
    struct vv_recorded *target;  /* item of the list                                             */
    int process, signals;        /* descriptors; -1 = none                                       */
    uint32_t former, layers;     /* the mask before, and the mask from now on                    */
    uint64_t events, lost;       /* in its folder, before the start                              */
    uint64_t begin_ns, end_ns;   /* monotonic                                                    */
    bool has_ended, was_switched; /* the target has ended; somebody else switched it             */
};

/* ---- before ---- */

static enum varve_code check_options(struct attachment *attachment, struct varve_error *error)
{
    const struct vv_arguments *arguments = attachment->arguments;
    const struct vv_verb with_pid = {
        .takes = VV_TAKES(VV_TAKES_ALWAYS, VV_OPTION_VERBOSE, VV_OPTION_PID, VV_OPTION_DURATION,
                          VV_OPTION_LAYERS,
                          VV_OPTION_OUTPUT)
    };
    for (int row = 0; row < VV_OPTION_COUNT; row++)
        if (arguments->said[row] && !vv_verb_takes(&with_pid, row))
            VV_FAIL(error, VARVE_INVALID,
                    "--%s is for a program that varve record begins: it does not go with --pid",
                    vv_options[row].name);
    if (arguments->operand_count > 0)
        VV_FAIL(error, VARVE_INVALID,
                "--pid records a process that runs already: '%.60s' is one word too many",
                arguments->operands[0]);
    if (arguments->pid[0] == '\0' || arguments->pid[strspn(arguments->pid, "0123456789")] != '\0')
        VV_FAIL(error, VARVE_INVALID,
                "--pid '%.60s' is no process number. Those being recorded:  varve status",
                arguments->pid);
    if (arguments->output != NULL &&
        (*arguments->output == '\0' || strcmp(arguments->output, "-") == 0))
        VV_FAIL(error, VARVE_INVALID,
                "-o wants the trace's name:  varve record --pid %s -o NAME.varve", arguments->pid);
    VV_TRY_NOTE(vv_layers_parse(arguments->layers, &attachment->layers, error), error,
                "--layers");
    return VARVE_OK;
}

static enum varve_code prepare(struct attachment *attachment, struct varve_error *error)
{
    const struct vv_arguments *arguments = attachment->arguments;
    VV_TRY(check_options(attachment, error));
    if (arguments->duration != NULL)
        VV_TRY_NOTE(vv_duration_parse(arguments->duration, &attachment->duration_ns, error), error,
                    "--duration");
    if (arguments->duration != NULL && attachment->duration_ns == 0)
        VV_FAIL(error, VARVE_INVALID, "--duration 0 records nothing: write a time such as 5s");
    /* Open the process first: everything found afterwards is about this process, or about none. */
    long pid = strtol(arguments->pid, NULL, 10);
    attachment->process =
        pid > 0 && pid <= INT_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
    int failure = attachment->process < 0 ? errno : 0;
    VV_TRY(vv_recorded_find(arguments->pid, &attachment->list, error));
    attachment->target = &attachment->list.items[0];
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot wait for the end of process %s",
                             arguments->pid);
    return VARVE_OK;
}

/* From here on, the signals that would end this process go to a descriptor instead. An ignored
 * signal stays ignored, as under nohup. */
static enum varve_code catch_signals(struct attachment *attachment, struct varve_error *error)
{
    static const int enders[] = { SIGINT, SIGTERM, SIGHUP };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof enders / sizeof enders[0]; i++) {
        struct sigaction action;
        if (sigaction(enders[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, enders[i]);
    }
    attachment->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (attachment->signals < 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return vv_fail_errno(error, errno, "cannot wait for signals");
    return VARVE_OK;
}

/* ---- the switch ---- */

static enum varve_code switch_on(struct attachment *attachment, struct varve_error *error)
{
    struct vv_control_access access;
    const struct vv_recorded *target = attachment->target;
    VV_TRY(vv_tally_process(target->folder, &attachment->events, &attachment->lost, error));
    /* locked only for a short time, because others wait for it */
    VV_TRY(vv_control_access_open(target, true, &access, error));
    bool counts_steps =
        (__atomic_load_n(&access.page->steps, __ATOMIC_RELAXED) & VV_STEPS_COUNTED) != 0;
    if (!attachment->arguments->said[VV_OPTION_LAYERS])
        attachment->layers = access.page->wanted & VARVE_LAYER_ALL;
    enum varve_code code = VARVE_OK;
    if (counts_steps)
        code = vv_fail(error, VARVE_UNSUPPORTED,
                       "process %d (%s) counts steps by a schedule, which this would end: to "
                       "end it,  varve stop %d",
                       (int)target->pid, target->program, (int)target->pid);
    else {
        attachment->begin_ns = vv_clock_monotonic_ns();
        attachment->former = vv_control_page_switch(access.page, access.file, attachment->layers);
    }
    vv_control_access_close(&access);
    return code;
}

/* Does nothing if somebody else has switched the target meanwhile, or if it has ended and its page
 * is gone. */
static void switch_back(struct attachment *attachment)
{
    struct vv_control_access access;
    struct varve_error why;
    attachment->end_ns = vv_clock_monotonic_ns();
    if (attachment->has_ended)
        return;
    enum varve_code code = vv_control_access_open(attachment->target, true, &access, &why);
    if (code != VARVE_OK && code != VARVE_NOT_FOUND)
        vv_print_error(&why);
    if (code != VARVE_OK)
        return;
    attachment->was_switched =
        __atomic_load_n(&access.page->layers, __ATOMIC_RELAXED) != attachment->layers ||
        (__atomic_load_n(&access.page->steps, __ATOMIC_RELAXED) & VV_STEPS_COUNTED) != 0;
    if (!attachment->was_switched)
        vv_control_page_switch(access.page, access.file, attachment->former);
    vv_control_access_close(&access);
}

/* ---- while it runs ---- */

static void wait_for_end(struct attachment *attachment)
{
    struct pollfd files[] = { { attachment->process, POLLIN, 0 },
                              { attachment->signals, POLLIN, 0 } };
    uint64_t end_ns = attachment->begin_ns + attachment->duration_ns;
    for (;;) {
        uint64_t now_ns = vv_clock_monotonic_ns(), left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
        struct timespec left = { (time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000) };
        int ready = ppoll(files, 2, attachment->duration_ns != 0 ? &left : NULL, NULL);
        attachment->has_ended = ready > 0 && files[0].revents != 0;
        if (ready > 0 || (ready == 0 && left_ns == 0) || (ready < 0 && errno != EINTR))
            return;
    }
}

/* ---- after ---- */

/* "train.varve", or its full path if it is not in the current folder. */
static char *trace_of(const struct vv_recorded *target)
{
    char *here = getcwd(NULL, 0);
    const char *slash = strrchr(target->folder, '/');
    char *trace = strndup(target->folder, (size_t)(slash - target->folder));
    size_t length = here != NULL ? strlen(here) : 0;
    if (trace != NULL && here != NULL && strncmp(trace, here, length) == 0 &&
        trace[length] == '/' && strchr(trace + length + 1, '/') == NULL)
        memmove(trace, trace + length + 1, strlen(trace + length + 1) + 1);
    free(here);
    return trace;
}

static void say_recorded(const struct attachment *attachment)
{
    char duration[VV_NUMBER_BYTES], events[VV_NUMBER_BYTES], lost[VV_NUMBER_BYTES] = "none";
    char keep[VV_KEEP_TEXT_BYTES];
    const struct vv_recorded *target = attachment->target;
    struct vv_process_facts facts;
    struct varve_error why;
    uint64_t now_events, now_lost;
    int pid = (int)target->pid;
    if (vv_tally_process(target->folder, &now_events, &now_lost, &why) != VARVE_OK) {
        vv_print_error(&why);
        return;
    }
    vv_process_facts_read(target->folder, &facts);
    vv_keep_text(&facts.keep, keep);
    uint64_t new_lost = now_lost > attachment->lost ? now_lost - attachment->lost : 0;
    uint64_t new_events = now_events > attachment->events ? now_events - attachment->events : 0;
    vv_number_duration((int64_t)(attachment->end_ns - attachment->begin_ns), duration,
                       sizeof duration);
    vv_number_count((int64_t)new_events, events, sizeof events);
    if (new_lost > 0)
        vv_number_count((int64_t)new_lost, lost, sizeof lost);
    bool is_kept = keep[0] != '\0'; /* then not all new records are still there */
    vv_say("recorded %d (%s) for %s%s: %s%s%s, %s lost", pid, target->program, duration,
           attachment->has_ended ? ", to its end" : "", is_kept ? "the last " : "",
           is_kept ? keep : events, is_kept ? " are kept" : " events", lost);
    if (attachment->was_switched)
        vv_say("somebody else switched %d meanwhile: it is left as it is", pid);
}

/* Copies what is recorded of the target now into a trace of its own, also if the target has
 * ended. */
static enum varve_code copy_out(const struct attachment *attachment, struct varve_error *error)
{
    const char *slash = strrchr(attachment->target->folder, '/');
    const char *const processes[] = { slash + 1, NULL };
    char *trace = strndup(attachment->target->folder, (size_t)(slash - attachment->target->folder));
    if (trace == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of the trace");
    const struct vv_snapshot_job job = { trace, processes, NULL };
    vv_recorded_hand_over(attachment->target, attachment->has_ended ? 0 : 1);
    enum varve_code code = vv_dump_write(&job, attachment->arguments->output, error);
    free(trace);
    return code;
}

/* The target has been recorded, even if the copy fails. */
static int finish(const struct attachment *attachment)
{
    const struct vv_arguments *arguments = attachment->arguments;
    struct varve_error error;
    char *trace = trace_of(attachment->target);
    int status = VV_EXIT_DONE;
    if (!arguments->quiet)
        say_recorded(attachment);
    const char *next = arguments->output != NULL ? arguments->output
                       : trace != NULL           ? trace
                                                 : attachment->target->folder;
    if (arguments->output != NULL && copy_out(attachment, &error) != VARVE_OK) {
        status = vv_complain_writing(&error);
        next = trace;
    }
    FILE *line =
        !arguments->quiet && next != NULL ? vv_say_begin("varve: next: varve report ") : NULL;
    if (line != NULL) {
        vv_shell_word_put(line, next);
        vv_say_end(line);
    }
    free(trace);
    return status;
}

static void attachment_deinit(struct attachment *attachment)
{
    if (attachment->process >= 0)
        close(attachment->process);
    if (attachment->signals >= 0)
        close(attachment->signals);
    vv_recorded_deinit(&attachment->list);
}

int vv_record_attach(const struct vv_arguments *arguments)
{
    struct attachment attachment = { .arguments = arguments, .process = -1, .signals = -1 };
    struct varve_error error;
    int status = VV_EXIT_DONE;
    enum varve_code code = prepare(&attachment, &error);
    if (code == VARVE_OK)
        code = catch_signals(&attachment, &error);
    if (code == VARVE_OK)
        code = switch_on(&attachment, &error);
    if (code != VARVE_OK)
        status = vv_print_error(&error);
    else {
        wait_for_end(&attachment);
        switch_back(&attachment);
        status = finish(&attachment);
    }
    attachment_deinit(&attachment);
    return status;
}
