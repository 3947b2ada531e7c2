/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "cli/metrics/gpus.h"
#include "cli/metrics/sampling.h"
#include "cli/recording/program.h"
#include "varve/device.h"

#define END_WAIT_MS 2000    /* it may be in the driver                                           */
#define NS_PER_MS 1000000
#define SAMPLES_READ_NS UINT64_C(20000000) /* the device's buffer holds more                      */

/* What the process says when it has begun, or why it has not. */
struct report {
    enum varve_code code;
    char text[VV_WATCH_MISSING_BYTES];
};

struct job {
    const struct vv_metric_wishes *wishes;
    const struct vv_child_setting *settings;
    size_t setting_count;
    int lifeline, answer; /* its ends of two pipes                                               */
};

/* ---- in the process: the library ---- */

struct recorder {
    enum varve_code (*track_add)(const struct varve_track_info *, uint32_t *, struct varve_error *);
    void (*device_counter)(const struct varve_device_counter_info *);
    void (*process_name)(const char *);
    void (*describe)(const struct varve_device_info *);
    const struct varve_control *page;
};

static bool find(void *library, const char *name, void *out_function)
{
    void *found = dlsym(library, name);
    memcpy(out_function, &found, sizeof found);
    return found != NULL;
}

/* As in the program, but the library counts no steps here, and answers no signal. */
static bool set_environment(const struct job *job)
{
    static const struct vv_child_setting own[] = {
        { "VARVE_LAYERS", "device" }, { "VARVE_COLLECT", "none" }, { "VARVE_METRICS", "" },
        { "VARVE_SCHEDULE", "" }, { "VARVE_DUMP_ON", "" },
    };
    bool is_set = true;
    for (size_t i = 0; i < job->setting_count; i++)
        is_set &= setenv(job->settings[i].name, job->settings[i].value, 1) == 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is_set &= setenv(own[i].name, own[i].value, 1) == 0;
    return is_set;
}

static enum varve_code load_recorder(const struct job *job, struct recorder *out,
                                     struct varve_error *error)
{
    if (!set_environment(job))
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the environment");
    char *path = vv_program_library();
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    bool is_whole = library != NULL && find(library, "varve_track_add", &out->track_add) &&
                    find(library, "varve_emit_device_counter", &out->device_counter) &&
                    find(library, "varve_process_name", &out->process_name) &&
                    find(library, "varve_device_describe", &out->describe) &&
                    find(library, "varve_control_page", &out->page);
    free(path);
    if (!is_whole)
        VV_FAIL(error, VARVE_UNSUPPORTED, "libvarve.so cannot be loaded to record metrics of GPUs");
    return VARVE_OK;
}

/* ---- in the process: the loop ---- */

struct watching {
    struct vv_nvml nvml;
    struct vv_gpus gpus;
    struct recorder recorder;
    uint32_t whole[VV_GPUS_MAX], part[VV_GPUS_MAX]; /* tracks of each GPU                        */
    struct vv_sampling *sampling;                   /* of hardware counters; NULL = none         */
    uint32_t sampled[VV_SAMPLED_DEVICES];           /* tracks                                    */
    uint64_t next_ns, next_samples_ns;              /* when values are read again                */
};

static uint32_t add_track(const struct recorder *recorder, uint32_t device, const char *name)
{
    uint32_t track = 0;
    const struct varve_track_info info = {
        sizeof info, VARVE_CLOCK_MONOTONIC, name, VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device), 0,
        -1, -1
    };
    return recorder->track_add(&info, &track, NULL) == VARVE_OK ? track : 0;
}

/* What each device is, so that a reader finds it under the numbers of the program. */
static void describe(const struct recorder *recorder, uint32_t device, const char *uuid,
                     const char *name)
{
    const struct varve_device_info info = {
        .struct_size = sizeof info, .device = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device),
        .uuid = uuid, .name = name
    };
    recorder->describe(&info);
}

/* Of a device that is sampled and whose driver is not asked, or does not know it. */
static uint32_t add_sampled(const struct watching *watching, uint32_t device)
{
    const struct vv_cuda_numbers *numbers = vv_sampling_numbers(watching->sampling);
    char identity[VV_CUDA_IDENTITY_BYTES], name[VV_GPU_TEXT_BYTES];
    vv_cuda_identity(numbers, device, identity);
    vv_cuda_name(numbers, device, name, sizeof name);
    describe(&watching->recorder, device, identity, name);
    return add_track(&watching->recorder, device, "device");
}

static void add_tracks(struct watching *watching)
{
    uint32_t sampled = watching->sampling != NULL ? vv_sampling_devices(watching->sampling) : 0;
    for (size_t i = 0; i < watching->gpus.count; i++) {
        const struct vv_gpu *gpu = &watching->gpus.items[i];
        char identity[VV_GPU_TEXT_BYTES], name[VV_GPU_TEXT_BYTES];
        vv_gpu_identity(&watching->gpus, i, identity);
        vv_gpu_name(&watching->gpus, i, name);
        describe(&watching->recorder, gpu->number, identity, name);
        watching->whole[i] = add_track(&watching->recorder, gpu->number,
                                       gpu->is_part ? "whole GPU of the instance" : "device");
        if (gpu->is_part)
            watching->part[i] = add_track(&watching->recorder, gpu->number, "MIG instance");
        else if (gpu->number < sampled)
            watching->sampled[gpu->number] = watching->whole[i];
    }
    for (uint32_t i = 0; i < sampled; i++)
        if (watching->sampled[i] == 0)
            watching->sampled[i] = add_sampled(watching, i);
}

static bool is_wanted(const struct recorder *recorder)
{
    return (__atomic_load_n(&recorder->page->layers, __ATOMIC_RELAXED) & VARVE_LAYER_DEVICE) != 0;
}

static void tell_sample(void *user, unsigned device, const char *name, int64_t time_ns,
                        double value)
{
    const struct watching *watching = user;
    if (is_wanted(&watching->recorder))
        watching->recorder.device_counter(&(struct varve_device_counter_info){
            sizeof(struct varve_device_counter_info), watching->sampled[device], name, time_ns,
            value });
}

/* Reads all values, and tells those to the trace that it wants now. */
static void record(struct watching *watching, uint32_t metrics)
{
    const struct recorder *recorder = &watching->recorder;
    struct vv_gpu_value values[VV_GPU_METRICS_MAX];
    for (size_t i = 0; i < watching->gpus.count; i++) {
        size_t count = vv_gpu_read(&watching->gpus, i, metrics, values);
        if (!is_wanted(recorder))
            continue;
        for (size_t v = 0; v < count; v++)
            recorder->device_counter(&(struct varve_device_counter_info){
                sizeof(struct varve_device_counter_info),
                values[v].is_of_part ? watching->part[i] : watching->whole[i], values[v].name,
                values[v].time_ns, values[v].value });
    }
}

/* True: `*next_ns` has come, and is put off by the period. A reading that takes longer than the
 * period puts the next one off. */
static bool is_due(uint64_t *next_ns, uint64_t period_ns)
{
    uint64_t now_ns = vv_clock_monotonic_ns();
    if (now_ns < *next_ns)
        return false;
    *next_ns += period_ns;
    *next_ns = *next_ns < now_ns ? now_ns : *next_ns;
    return true;
}

/* Until the lifeline is cut. */
static void watch(struct watching *watching, const struct job *job)
{
    struct pollfd end = { job->lifeline, POLLIN, 0 };
    for (;;) {
        uint64_t now_ns = vv_clock_monotonic_ns(), next_ns = watching->next_ns;
        if (watching->sampling != NULL && watching->next_samples_ns < next_ns)
            next_ns = watching->next_samples_ns;
        uint64_t left_ns = next_ns > now_ns ? next_ns - now_ns : 0;
        struct timespec left = { (time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000) };
        if (ppoll(&end, 1, &left, NULL) > 0)
            return;
        if (is_due(&watching->next_ns, job->wishes->period_ns))
            record(watching, job->wishes->metrics);
        if (watching->sampling != NULL && is_due(&watching->next_samples_ns, SAMPLES_READ_NS))
            vv_sampling_read(watching->sampling, tell_sample, watching);
    }
}

/* ---- in the process: its beginning and its end ---- */

static void say_missing_counters(const struct vv_sampling *sampling, bool is_more, FILE *out)
{
    char lacks[120];
    for (unsigned i = 0; sampling != NULL && i < vv_sampling_devices(sampling); i++)
        if (vv_sampling_lacks(sampling, i, lacks, sizeof lacks)) {
            fprintf(out, "%scuda:%u does not count %s", is_more ? "; " : "", i, lacks);
            is_more = true;
        }
}

/* "cuda:0, cuda:1 do not tell NVLink, PCIe"; GPUs that lack the same are named together. */
static void say_missing(const struct watching *watching, char text[VV_WATCH_MISSING_BYTES])
{
    const struct vv_gpus *gpus = &watching->gpus;
    uint64_t said[VV_GPUS_MAX];
    size_t said_count = 0;
    FILE *out = fmemopen(text, VV_WATCH_MISSING_BYTES, "w");
    for (size_t i = 0; i < gpus->count && out != NULL; i++) {
        uint64_t lacks = gpus->items[i].left_out;
        size_t s = 0;
        while (s < said_count && said[s] != lacks)
            s++;
        if (lacks == 0 || s < said_count)
            continue;
        said[said_count++] = lacks;
        fputs(said_count > 1 ? "; " : "", out);
        size_t alike = 0;
        for (size_t other = i; other < gpus->count; other++)
            if (gpus->items[other].left_out == lacks)
                fprintf(out, "%scuda:%u", alike++ == 0 ? "" : ", ", gpus->items[other].number);
        fputs(alike == 1 ? " does not tell" : " do not tell", out);
        for (size_t g = 0, first = 1; vv_gpu_group_name(g) != NULL; g++)
            if ((lacks >> g & 1) != 0) {
                fprintf(out, "%s%s", first ? " " : ", ", vv_gpu_group_name(g));
                first = 0;
            }
    }
    if (out != NULL)
        say_missing_counters(watching->sampling, said_count > 0, out);
    if (out != NULL)
        fclose(out);
    text[VV_WATCH_MISSING_BYTES - 1] = '\0';
}

/* What a terminal or a supervisor sends is for the program; nobody waits for our output. */
static void become_quiet(void)
{
    static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP };
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int file = 0; file <= 2 && nothing >= 0; file++)
        dup2(nothing, file);
}

/* Numbers GPUs as the program's CUDA does. Where CUDA cannot be asked, they keep the driver's. */
static void number_gpus(struct watching *watching)
{
    struct vv_cuda_numbers numbers;
    struct varve_error ignored;
    if (watching->gpus.count == 0)
        return;
    if (watching->sampling != NULL)
        vv_gpus_number(&watching->gpus, vv_sampling_numbers(watching->sampling));
    else if (vv_gpus_are_mixed(&watching->gpus, getenv("CUDA_VISIBLE_DEVICES")) &&
             vv_cuda_numbers_init(&numbers, &ignored) == VARVE_OK)
        vv_gpus_number(&watching->gpus, &numbers);
}

static enum varve_code begin(const struct job *job, struct watching *watching,
                             struct varve_error *error)
{
    if ((job->wishes->metrics & VV_METRICS_OF_DRIVER) != 0) {
        VV_TRY(vv_nvml_open(&watching->nvml, error));
        VV_TRY(vv_gpus_find(&watching->gpus, &watching->nvml, getenv("CUDA_VISIBLE_DEVICES"),
                            error));
    }
    if ((job->wishes->metrics & VV_METRICS_OF_HARDWARE) != 0)
        VV_TRY(vv_sampling_begin(job->wishes, &watching->sampling, error));
    VV_TRY(load_recorder(job, &watching->recorder, error));
    watching->recorder.process_name("metrics of GPUs");
    number_gpus(watching);
    add_tracks(watching);
    watching->next_samples_ns = vv_clock_monotonic_ns();
    watching->next_ns = watching->next_samples_ns + job->wishes->period_ns;
    record(watching, job->wishes->metrics);
    return VARVE_OK;
}

static _Noreturn void run(const struct job *job)
{
    static struct watching watching; /* static: it is large */
    struct varve_error error;
    struct report report = { VARVE_OK, "" };
    become_quiet();
    report.code = begin(job, &watching, &error);
    if (report.code == VARVE_OK)
        say_missing(&watching, report.text);
    else
        snprintf(report.text, sizeof report.text, "%.*s", (int)sizeof report.text - 1,
                 error.message);
    if (write(job->answer, &report, sizeof report) != sizeof report || report.code != VARVE_OK)
        _exit(1);
    close(job->answer);
    watch(&watching, job);
    if (watching.sampling != NULL)
        vv_sampling_end(watching.sampling, tell_sample, &watching);
    if (watching.nvml.shut_down != NULL)
        watching.nvml.shut_down();
    exit(0); /* the library ends its streams                                                     */
}

/* ---- in the command ---- */

/* Returns whether it has ended without us; *out_status says how. */
static bool reap(pid_t pid, int wait_ms, int *out_status)
{
    const struct timespec pause = { 0, NS_PER_MS };
    for (int i = 0; i < wait_ms; i++) {
        pid_t ended = waitpid(pid, out_status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, out_status, 0) < 0 && errno == EINTR)
        continue;
    return false;
}

static void add_missing(struct vv_metric_watch *watch, const char *says)
{
    size_t length = strlen(watch->missing);
    snprintf(watch->missing + length, sizeof watch->missing - length, "%s%s",
             length > 0 ? "; " : "", says);
}

static enum varve_code hear(int answer, unsigned wait_ms, struct report *out,
                            struct varve_error *error)
{
    struct pollfd file = { answer, POLLIN, 0 };
    int ready;
    do
        ready = poll(&file, 1, (int)wait_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        VV_FAIL(error, VARVE_IO,
                "NVIDIA's driver has not answered for %g s: leave metrics of GPUs out of "
                "--metrics, and see whether nvidia-smi gets an answer",
                wait_ms / 1e3);
    if (ready < 0 || read(answer, out, sizeof *out) != sizeof *out)
        VV_FAIL(error, VARVE_IO,
                "the process that asks NVIDIA's driver for metrics has ended in the driver: leave "
                "metrics of GPUs out of --metrics, and see whether nvidia-smi gets an answer");
    if (out->code != VARVE_OK)
        VV_FAIL(error, out->code, "%.*s", (int)sizeof out->text - 1, out->text);
    return VARVE_OK;
}

/* Makes the process, and closes its ends of the pipes here. */
static enum varve_code start(struct job *job, int lifeline, int answer, pid_t *out_pid,
                             struct varve_error *error)
{
    fflush(NULL);
    *out_pid = fork();
    int failure = errno;
    if (*out_pid == 0) {
        close(lifeline);
        close(answer);
        run(job);
    }
    close(job->lifeline);
    close(job->answer);
    return *out_pid < 0
               ? vv_fail_errno(error, failure, "cannot start a process that reads metrics")
               : VARVE_OK;
}

enum varve_code vv_metric_watch_begin(const struct vv_metric_wishes *wishes,
                                      const struct vv_child_setting *settings,
                                      size_t setting_count, struct vv_metric_watch *out_watch,
                                      struct varve_error *error)
{
    int lifeline[2], answer[2];
    struct report report;
    pid_t pid = 0;
    int status;
    *out_watch = (struct vv_metric_watch){ .lifeline = -1 };
    if (dlsym(RTLD_DEFAULT, "varve_emit_device_counter") != NULL)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "another varve record records this one: ask that one for metrics of GPUs");
    if (pipe2(lifeline, O_CLOEXEC) != 0)
        return vv_fail_errno(error, errno, "cannot make a pipe");
    if (pipe2(answer, O_CLOEXEC) != 0) {
        int failure = errno;
        close(lifeline[0]);
        close(lifeline[1]);
        return vv_fail_errno(error, failure, "cannot make a pipe");
    }
    struct job job = { wishes, settings, setting_count, lifeline[0], answer[1] };
    enum varve_code code = start(&job, lifeline[1], answer[0], &pid, error);
    if (code == VARVE_OK)
        code = hear(answer[0], wishes->begin_wait_ms, &report, error);
    close(answer[0]);
    if (code == VARVE_OK) {
        *out_watch = (struct vv_metric_watch){ .pid = pid, .lifeline = lifeline[1] };
        memcpy(out_watch->missing, report.text, sizeof out_watch->missing);
        out_watch->missing[sizeof out_watch->missing - 1] = '\0';
        return VARVE_OK;
    }
    close(lifeline[1]);
    if (pid > 0)
        (void)reap(pid, 0, &status);
    return code;
}

bool vv_metric_watch_end(struct vv_metric_watch *watch, const char *trace)
{
    struct stat status;
    char *folder;
    int ended = 0;
    bool has_recorded = false;
    if (watch->pid == 0)
        return false;
    bool is_early = waitpid(watch->pid, &ended, WNOHANG) == watch->pid;
    close(watch->lifeline);
    bool is_alone = is_early || reap(watch->pid, END_WAIT_MS, &ended);
    if (is_early || (is_alone && WIFSIGNALED(ended)))
        add_missing(watch, "the process that reads them ended before the program, and what came "
                    "later is missing");
    else if (!is_alone)
        add_missing(watch, "the process that reads them did not end in the driver, and what came "
                    "last may be missing");
    if (asprintf(&folder, "%s/%d", trace, (int)watch->pid) >= 0) {
        has_recorded = stat(folder, &status) == 0;
        free(folder);
    }
    watch->pid = 0;
    return has_recorded;
}
