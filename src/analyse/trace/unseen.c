/* SPDX-License-Identifier: Apache-2.0 */
/* unseen.c — table "unseen": what was not recorded, why it matters, and what records it.
 *
 * A rule is a row: the name, why, and a function that asks the facts (unseen_facts.h) whether the
 * thing was there and is not in the trace. A function writes a sentence with the facts of this
 * trace. The recorder noted what the processes had loaded, so the answer is the same on any
 * machine. */
#include "analyse/trace/unseen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyse/trace/unseen_facts.h"
#include "base/sum.h"
#include "derive/select/scope.h"
#include "meaning/platform.h"
#include "question/question.h"
#include "settings/sources.h"
#include "sheet/number.h"

#define FINDING_BYTES 320
#define RECORD_BYTES 600
#define SHARE_THAT_MATTERS 0.05
#define PYTHON_SHARE_THAT_MATTERS 0.2
#define CPU_THAT_MATTERS_NS 100000000
#define UNLINKED_SHARE_THAT_MATTERS 0.5

/* A rule's function fills these. */
struct answer {
    char finding[FINDING_BYTES], record[RECORD_BYTES];
    int64_t time_ns;
    double share;
    bool matters;
};

typedef bool ask_fn(const struct vv_unseen_facts *facts, struct answer *answer);

__attribute__((format(printf, 2, 3))) static bool say(struct answer *answer,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer->finding, sizeof answer->finding, format, arguments);
    va_end(arguments);
    return true;
}

static void set_time(struct answer *answer, int64_t time_ns, int64_t of_ns)
{
    answer->time_ns = time_ns;
    answer->share = of_ns > 0 ? (double)time_ns / (double)of_ns : -1;
}

static void set_record(struct answer *answer, const char *text)
{
    snprintf(answer->record, sizeof answer->record, "%s", text);
}

/* "varve record --collect +python -- ./train.py", with what was run. */
static void set_source(const struct vv_unseen_facts *facts, struct answer *answer,
                       const char *source)
{
    const char *command = vv_text_of(facts->model, facts->model->run.command);
    snprintf(answer->record, sizeof answer->record, "varve record --collect +%s -- %s", source,
             command[0] != '\0' ? command : "PROGRAM");
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- devices ---- */

static const struct {
    const char *library, *name, *source, *record;
} device_runtimes[] = {
    { "cuda", "CUDA", "cuda",
      "torch.profiler with ProfilerActivity.CUDA, or nsys profile; then varve report on its file" },
    { "rocm", "ROCm", "rocm",
      "torch.profiler with ProfilerActivity.CUDA, or rocprofv3 --sys-trace; then varve report on "
      "its file" },
    { "ascend", "Ascend", "ascend",
      "msprof or torch_npu.profiler; then varve report on its trace" },
    { "tpu", "TPU", "tpu", "jax.profiler.trace(FOLDER); then varve report FOLDER" },
    { "opencl", "OpenCL", "opencl",
      "varve_backend_open(\"opencl\", …) of varve/backend.h in the program (doc/devices.md)" },
};

/* A program with a runtime of devices, and no device work in the trace. */
static bool ask_gpu(const struct vv_unseen_facts *facts, struct answer *answer)
{
    answer->matters = true;
    if (facts->works > 0 || facts->has_device)
        return false;
    for (size_t i = 0; i < sizeof device_runtimes / sizeof *device_runtimes; i++) {
        const char *source = device_runtimes[i].source;
        uint64_t count = vv_unseen_loaded(facts, device_runtimes[i].library);
        const char *said = vv_unseen_collector(facts, source);
        bool is_refused = begins(said, "not attached");
        if (count == 0 || begins(said, "attached") || begins(said, "partly"))
            continue;
        if (vv_collect_bit(source) != 0 && !is_refused)
            set_source(facts, answer, source);
        else
            set_record(answer, device_runtimes[i].record);
        return say(answer, "%s is loaded in %" PRIu64 " process%s, and no work of a device was "
                   "recorded%s%.160s", device_runtimes[i].name, count, count == 1 ? "" : "es",
                   is_refused ? "; " : "", is_refused ? said : "");
    }
    if (facts->launch_calls == 0)
        return false;
    set_record(answer, vv_platform_of(facts->model) == VV_PLATFORM_ASCEND
                           ? "torch_npu.profiler: activities with ProfilerActivity.NPU, too"
                           : "torch.profiler: activities=[ProfilerActivity.CPU, "
                             "ProfilerActivity.CUDA]; no other profiler may use the device then");
    return say(answer, "%" PRIu64 " call%s launch%s work (%.60s), and no work of a device was "
               "recorded", facts->launch_calls, plural(facts->launch_calls),
               facts->launch_calls == 1 ? "es" : "", facts->launch_name);
}

/* Device work that no call explains. A TPU runs a program as a whole. */
static bool ask_launches(const struct vv_unseen_facts *facts, struct answer *answer)
{
    if (facts->works == 0 || facts->launch_calls > 0 || vv_has_tpu(facts->model) ||
        (double)facts->unlinked_works < UNLINKED_SHARE_THAT_MATTERS * (double)facts->works)
        return false;
    answer->matters = facts->operators == 0;
    static const char *const records[VV_PLATFORMS] = {
        [VV_PLATFORM_USUAL] = "the calls of the device's runtime: nsys --trace=cuda, rocprofv3 "
                              "--sys-trace",
        [VV_PLATFORM_XLA] = "jax.profiler.trace(FOLDER), with host_tracer_level=2 of "
                            "ProfileOptions",
        [VV_PLATFORM_ASCEND] = "torch_npu.profiler: activities with ProfilerActivity.CPU, too",
        [VV_PLATFORM_OPENCL] = "ranges of varve/varve.h around what enqueues (doc/devices.md)",
    };
    enum vv_platform platform = vv_platform_of(facts->model);
    set_record(answer, facts->is_torch && platform == VV_PLATFORM_USUAL
                           ? "torch.profiler: activities with ProfilerActivity.CPU, too"
                           : records[platform]);
    return say(answer, "%" PRIu64 " of %" PRIu64 " pieces of device work have no call that "
               "launched them", facts->unlinked_works, facts->works);
}

/* ---- hosts ---- */

static bool ask_python(const struct vv_unseen_facts *facts, struct answer *answer)
{
    char time[VV_NUMBER_BYTES];
    if (!vv_unseen_python_off(facts))
        return false;
    set_source(facts, answer, "python");
    if (facts->span_ns <= 0)
        return say(answer, "Python's own calls were not recorded");
    set_time(answer, facts->free_ns, facts->span_ns);
    answer->matters = answer->share >= PYTHON_SHARE_THAT_MATTERS;
    vv_number_duration(facts->free_ns, time, sizeof time);
    if (facts->has_steps)
        return say(answer, "Python's own calls were not recorded, and %.1f %% of the steps, %s, "
                   "passes between operators", 100 * answer->share, time);
    return say(answer, "Python's own calls were not recorded, and between operators pass %s, "
               "%.0f %% of the time from the first to the last", time, 100 * answer->share);
}

/* A pool of a library works for operators that are recorded on another thread. */
static bool has_pool(const struct vv_unseen_facts *facts)
{
    return vv_unseen_loaded(facts, "openmp") > 0 || vv_unseen_loaded(facts, "blas") > 0 ||
           vv_unseen_loaded(facts, "tbb") > 0;
}

static bool is_silent(const struct vv_unseen_facts *facts, struct answer *answer)
{
    set_time(answer, facts->silent_ns, facts->cpu_ns);
    answer->matters = facts->silent_ns >= CPU_THAT_MATTERS_NS;
    return answer->share >= SHARE_THAT_MATTERS;
}

static bool ask_openmp(const struct vv_unseen_facts *facts, struct answer *answer)
{
    char time[VV_NUMBER_BYTES];
    if (facts->is_torch || vv_unseen_loaded(facts, "openmp") == 0 || !is_silent(facts, answer))
        return false;
    set_record(answer, "mark the parallel part with varve/varve.h; or perf record -g, perf script >"
                     " perf.txt, varve report perf.txt");
    vv_number_duration(facts->silent_ns, time, sizeof time);
    return say(answer, "OpenMP is loaded; threads without records took %s of CPU time, %.0f %% of "
               "all", time, 100 * answer->share);
}

static bool ask_threads(const struct vv_unseen_facts *facts, struct answer *answer)
{
    char time[VV_NUMBER_BYTES];
    bool is_openmp = !facts->is_torch && vv_unseen_loaded(facts, "openmp") > 0;
    if (is_openmp || !is_silent(facts, answer))
        return false;
    answer->matters = answer->matters && !has_pool(facts);
    if (vv_unseen_collector(facts, "python")[0] != '\0')
        set_source(facts, answer, "python");
    else
        set_record(answer, "mark what they do with varve/varve.h");
    vv_number_duration(facts->silent_ns, time, sizeof time);
    return say(answer, "threads without records took %s of CPU time, %.0f %% of all%s", time,
               100 * answer->share,
               has_pool(facts) ? "; a library's pool works for operators of recorded threads" : "");
}

/* Is the program an interpreter of Python? */
static bool is_python(const struct vv_unseen_facts *facts)
{
    const char *command = vv_text_of(facts->model, facts->model->run.command);
    size_t length = strcspn(command, " ");
    while (length > 0 && command[length - 1] != '/')
        length--;
    return begins(command + length, "python");
}

/* Where a process with records did not say its CPU time, as workers that end by _exit, nobody knows
 * how much is left for others. */
static bool ask_processes(const struct vv_unseen_facts *facts, struct answer *answer)
{
    char time[VV_NUMBER_BYTES];
    int64_t others_ns = vv_sum(facts->program_ns, -facts->cpu_ns);
    uint64_t processes = facts->model->processes.table.count;
    bool is_alone = processes == 0;
    if (facts->program_ns <= 0 || facts->said_cpu < processes)
        return false;
    set_time(answer, others_ns, facts->program_ns);
    if (others_ns < CPU_THAT_MATTERS_NS || answer->share < SHARE_THAT_MATTERS)
        return false;
    answer->matters = true;
    set_record(answer, "link them dynamically, run them without set-user-id, let LD_PRELOAD and "
                     "VARVE_OUTPUT pass to them");
    vv_number_duration(others_ns, time, sizeof time);
    if (is_alone && is_python(facts))
        set_source(facts, answer, "python");
    else if (is_alone)
        set_record(answer, "mark its operators with varve/varve.h and link it with -lvarve");
    if (is_alone)
        return say(answer, "the program recorded nothing; it took %s of CPU time", time);
    return say(answer, "processes that recorded nothing took %s of CPU time, %.0f %% of all", time,
               100 * answer->share);
}

static bool ask_communication(const struct vv_unseen_facts *facts, struct answer *answer)
{
    uint64_t mpi = vv_unseen_loaded(facts, "mpi"), nccl = vv_unseen_loaded(facts, "nccl"),
             rccl = vv_unseen_loaded(facts, "rccl");
    if (facts->model->counts_only || facts->communication > 0 ||
        facts->model->collectives.table.count > 0)
        return false;
    if (mpi == 0 && ((nccl == 0 && rccl == 0) || facts->world_size < 2))
        return false;
    answer->matters = true;
    set_record(answer, mpi > 0 ? "mark the calls: varve_collective (doc/marking.md)"
                             : "torch.profiler on every rank; then varve report FOLDER");
    return say(answer, "%s is loaded%s, and no communication was recorded",
               mpi > 0 ? "MPI" : nccl > 0 ? "NCCL" : "RCCL",
               facts->world_size > 1 ? ", there are several ranks" : "");
}

static bool ask_framework(const struct vv_unseen_facts *facts, struct answer *answer)
{
    static const struct { const char *library, *name, *record; } frameworks[] = {
        { "jax", "JAX", "jax.profiler.trace(FOLDER) in the program; then varve report FOLDER" },
        { "tensorflow", "TensorFlow",
          "tf.profiler.experimental.start(FOLDER) in the program; then varve report FOLDER" },
        { "onnxruntime", "ONNX Runtime",
          "SessionOptions.enable_profiling; then varve report on its JSON" },
        { "paddle", "PaddlePaddle", "paddle.profiler.Profiler; then varve report on its JSON" },
    };
    const char *torch = vv_unseen_collector(facts, "torch");
    answer->matters = true;
    if (begins(torch, "not attached")) {
        set_record(answer, "a PyTorch from 1.13 on for x86-64; or torch.profiler, and varve report "
                         "on its file");
        return say(answer, "PyTorch's operators were not recorded: %.200s",
                   torch + strcspn(torch, ":") + (strchr(torch, ':') != NULL ? 2 : 0));
    }
    for (size_t i = 0; facts->operators == 0 && i < sizeof frameworks / sizeof *frameworks; i++) {
        if (vv_unseen_loaded(facts, frameworks[i].library) == 0)
            continue;
        set_record(answer, frameworks[i].record);
        return say(answer, "%s is loaded, whose operators no collector hears", frameworks[i].name);
    }
    return false;
}

/* ---- more about operators ---- */

static bool ask_memory(const struct vv_unseen_facts *facts, struct answer *answer)
{
    if (!facts->is_torch || facts->model->memory.table.count > 0)
        return false;
    if (facts->is_own)
        set_source(facts, answer, "memory");
    else
        set_record(answer, "torch.profiler: profile_memory=True");
    return say(answer, "no allocation was recorded");
}

static bool ask_shapes(const struct vv_unseen_facts *facts, struct answer *answer)
{
    if (!facts->is_torch || facts->with_shapes > 0)
        return false;
    if (facts->is_own)
        set_source(facts, answer, "shapes");
    else
        set_record(answer, "torch.profiler: record_shapes=True");
    return say(answer, "no shapes of inputs were recorded");
}

static bool ask_stacks(const struct vv_unseen_facts *facts, struct answer *answer)
{
    if (!facts->is_torch || facts->is_own || facts->frames > 0 || facts->with_frames > 0)
        return false;
    set_record(answer, "torch.profiler: with_stack=True");
    return say(answer, "neither call stacks nor calls of Python were recorded");
}

/* A file that ends too early. */
static bool ask_end(const struct vv_unseen_facts *facts, struct answer *answer)
{
    uint64_t count = facts->model->health.truncated_files;
    answer->matters = true;
    set_record(answer, "copy the trace again, or let the program that writes it end by itself");
    return count > 0 && say(answer, "%" PRIu64 " file%s end%s too early: what came then is not "
                            "there", count, plural(count), count == 1 ? "s" : "");
}

static const struct rule {
    const char *what, *why;
    ask_fn *ask;
} rules[] = {
    { "gpu", "which kernels run, and how long devices work or stand still: times of the host alone "
             "may blame the wrong thing", ask_gpu },
    { "end", "what ran at the end", ask_end },
    { "framework", "which operators run, and what they take", ask_framework },
    { "communication", "how long ranks wait for each other, and which is late", ask_communication },
    { "processes", "what those processes do", ask_processes },
    { "openmp", "whether the threads are busy evenly, and what they do", ask_openmp },
    { "threads", "what those threads do, and whether the others wait for them", ask_threads },
    { "python", "what the program does between operators", ask_python },
    { "launches", "which operator the device works for, and whether the host is late",
      ask_launches },
    { "memory", "who holds memory, and what is never given back", ask_memory },
    { "shapes", "which sizes are slow, FLOP, roofline and MFU", ask_shapes },
    { "stacks", "which line of the program asks for an operator", ask_stacks },
};
enum { RULES = sizeof rules / sizeof *rules };
_Static_assert((unsigned)RULES <= VV_UNSEEN_MAX, "callers have room for all");

static enum varve_code add(const struct rule *rule, const struct answer *answer,
                           struct vv_scratch *scratch, struct vv_unseen *out,
                           struct varve_error *error)
{
    struct answer *kept;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &kept, 1, error));
    *kept = *answer;
    *out = (struct vv_unseen){ rule->what,    kept->finding, rule->why,    kept->record,
                               kept->time_ns, kept->share,   kept->matters };
    return VARVE_OK;
}

enum varve_code vv_unseen_find(const struct vv_model *model, struct vv_scratch *scratch,
                               struct vv_unseen out_found[VV_UNSEEN_MAX], size_t *out_count,
                               struct varve_error *error)
{
    struct vv_unseen_facts facts;
    struct answer answers[RULES];
    bool is_so[RULES];
    size_t count = 0;
    VV_TRY(vv_unseen_facts_count(model, scratch, &facts, error));
    for (size_t i = 0; i < RULES; i++) {
        answers[i] = (struct answer){ .time_ns = -1, .share = -1 };
        is_so[i] = rules[i].ask(&facts, &answers[i]);
    }
    for (int matters = 1; matters >= 0; matters--)
        for (size_t i = 0; i < RULES; i++)
            if (is_so[i] && answers[i].matters == (matters != 0))
                VV_TRY(add(&rules[i], &answers[i], scratch, &out_found[count++], error));
    *out_count = count;
    return VARVE_OK;
}

/* ---- the table ---- */

enum { FINDING, RECORD, WHY, WHAT, TIME, SHARE, MATTERS, COLUMNS };

static const struct vv_sheet_column unseen_columns[COLUMNS] = {
    [FINDING] = { "finding", "", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    [RECORD] = { "record", "to record it", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    [WHY] = { "why", "to see", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    [WHAT] = { "what", "what", VV_CELL_TEXT, VV_UNIT_NONE, true, VV_TEXT_PLAIN },
    [TIME] = { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, true, VV_TEXT_PLAIN },
    [SHARE] = { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, true, VV_TEXT_PLAIN },
    [MATTERS] = { "matters", "matters", VV_CELL_INT, VV_UNIT_NONE, true, VV_TEXT_PLAIN },
};

static enum varve_code put(const struct vv_unseen *unseen, struct vv_sheet *sheet,
                           struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, FINDING, unseen->finding, error));
    VV_TRY(vv_sheet_text(sheet, row, RECORD, unseen->record, error));
    VV_TRY(vv_sheet_text(sheet, row, WHY, unseen->why, error));
    VV_TRY(vv_sheet_text(sheet, row, WHAT, unseen->what, error));
    if (unseen->time_ns >= 0)
        vv_sheet_int(sheet, row, TIME, unseen->time_ns);
    if (unseen->share >= 0)
        vv_sheet_real(sheet, row, SHARE, unseen->share);
    vv_sheet_int(sheet, row, MATTERS, unseen->matters);
    return VARVE_OK;
}

enum varve_code vv_analyse_unseen(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct vv_unseen found[VV_UNSEEN_MAX];
    size_t count;
    (void)question;
    vv_sheet_init(out, "unseen", "NOT RECORDED", unseen_columns, COLUMNS);
    VV_TRY(vv_unseen_find(model, scratch, found, &count, error));
    for (size_t i = 0; i < count; i++)
        VV_TRY(put(&found[i], out, error));
    return count > 0 ? VARVE_OK
                     : vv_sheet_policy(out, error, "nothing that Varve knows of is missing");
}
