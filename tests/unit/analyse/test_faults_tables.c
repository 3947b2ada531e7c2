/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_tables.c — the n-th allocation of each table of the registry fails, and of a diff's,
 * for every n; with --top, --compat and --filter for the first 16, then for ever fewer: each time
 * the answer is VARVE_NO_MEMORY, and after all of them the table. Leaks show in the sanitizer
 * build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyse/diff/diff.h"
#include "analyse/tables.h"
#include "failing_allocation.h"
#include "import/importer.h"
#include "question/question.h"
#include "varve/trace_points.h"

enum { STEPS = 5, STEP_US = 10000 };

/* ---- a trace that every table has rows for ---- */

struct span {
    const char *category, *name;
    int pid, tid, begin_us, duration_us;
    const char *arguments;
};

static void put_span(FILE *file, const struct span *span)
{
    fprintf(file,
            ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, "
            "\"ts\": %d, \"dur\": %d, "
            "\"args\": {%s}}",
            span->category, span->name, span->pid, span->tid, span->begin_us, span->duration_us,
            span->arguments);
}

/* The call on thread `tid` and what it starts on a stream of device 0 or 1. */
struct launch {
    const char *name;
    int tid, stream, call_us, begin_us, duration_us;
};

static void put_launch(FILE *file, const struct launch *launch)
{
    static int correlation;
    int device = launch->stream % 2;
    const char *category = strncmp(launch->name, "Memcpy", 6) == 0   ? "gpu_memcpy"
                           : strncmp(launch->name, "Memset", 6) == 0 ? "gpu_memset"
                                                                     : "kernel";
    char arguments[160];
    snprintf(arguments, sizeof arguments, "\"correlation\": %d", ++correlation);
    put_span(file, &(struct span){ "cuda_runtime", "cudaLaunchKernel", 100, launch->tid,
                                   launch->call_us, 4, arguments });
    snprintf(arguments, sizeof arguments,
             "\"correlation\": %d, \"device\": %d, \"stream\": %d, \"bytes\": 4096", correlation,
             device, launch->stream);
    put_span(file, &(struct span){ category, launch->name, device, launch->stream, launch->begin_us,
                                   launch->duration_us, arguments });
}

static void put_memory(FILE *file, int at_us, int bytes, int address)
{
    fprintf(file,
            ",\n{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": "
            "\"[memory]\", \"pid\": 100, \"tid\": 1, "
            "\"ts\": %d, \"args\": {\"Device Type\": 1, \"Device Id\": 0, \"Bytes\": %d, "
            "\"Addr\": %d, \"Total Reserved\": 1000000, \"Total Allocated\": 5000}}",
            at_us, bytes, address);
}

/* A mark, a value, an asynchronous range and an arrow. */
static void put_records(FILE *file, int step)
{
    static const char *const phases[] = {
        "\"i\", \"s\": \"t\"", "\"C\"", "\"b\"", "\"e\"", "\"s\"",
        "\"f\", \"bp\": \"e\"",
    };
    for (int i = 0; i < 6; i++)
        fprintf(file,
                ",\n{\"ph\": %s, \"cat\": \"made\", \"name\": \"record %d\", \"pid\": 100, "
                "\"tid\": %d, \"ts\": %d, \"id\": %d, \"args\": {\"value\": %d.5}}",
                phases[i], i / 2, 1 + i % 2, STEP_US * step + 1000 + i, 10 * step, i);
}

/* Process 100 waits in a collective of the host for process 200. */
static void put_ranks(FILE *file, int at, const char *step)
{
    put_span(file, &(struct span){ "user_annotation", step, 200, 3, at, STEP_US - 500, "" });
    put_span(file, &(struct span){ "cpu_op", "late", 200, 3, at + 10, 300, "" });
    for (int i = 0; i < 2; i++) {
        int pid = 100 + 100 * i, tid = 2 + i;
        put_span(file, &(struct span){ "cpu_op", "c10d::allreduce_", pid, tid, at + 30 + 300 * i,
                                       10, "" });
        put_span(file, &(struct span){ "user_annotation", "gloo:all_reduce", pid, 9,
                                       at + 35 + 300 * i, 500 - 300 * i, "" });
    }
}

/* A step whose forward half runs on thread 1, its backward half on thread 2. `step` 3 has an
 * outlier. */
static void put_step(FILE *file, int step)
{
    int at = STEP_US * step;
    char text[160];
    snprintf(text, sizeof text, "ProfilerStep#%d", step);
    put_span(file, &(struct span){ "user_annotation", text, 100, 1, at, STEP_US - 500,
                                   "\"cpu_ns\": 9000000" });
    put_span(file, &(struct span){ "python_function", "train.py(3): step", 100, 1, at + 1,
                                   STEP_US - 502, "" });
    put_ranks(file, at, text);
    put_span(file, &(struct span){ "user_annotation", "enumerate(DataLoader)#_Iter.__next__", 100,
                                   1, at + 2, 300, "" });
    put_span(file, &(struct span){ "user_annotation", "forward", 100, 1, at + 320, 3000, "" });
    for (int i = 0; i < 6; i++) {
        int begin = at + 330 + 400 * i;
        snprintf(
            text, sizeof text,
            "\"External id\": %d, \"Sequence number\": %d, \"Input Dims\": [[64, 32], [32, 16]], "
            "\"Input type\": [\"float\", \"float\"]",
            10 * step + i + 1, 10 * step + i);
        put_span(file, &(struct span){ "cpu_op", "aten::mm", 100, 1, begin, 300, text });
        put_launch(file, &(struct launch){ "gemm", 1, 6 + i % 2, begin + 10, begin + 40,
                                           step == 3 && i == 0 ? 350 : 60 + i });
        put_memory(file, begin + 20, 1024 * (i + 1), 4096 * (10 * step + i + 1));
        snprintf(text, sizeof text, "\"Sequence number\": %d, \"Fwd thread id\": 1", 10 * step + i);
        put_span(file, &(struct span){ "cpu_op", "MmBackward0", 100, 2, at + 6000 + 300 * (6 - i),
                                       250, text });
        put_launch(file, &(struct launch){ "gemm_backward", 2, 6, at + 6010 + 300 * (6 - i),
                                           at + 6040 + 300 * (6 - i), 100 });
    }
    put_launch(file,
               &(struct launch){ "ncclDevKernel_AllReduce", 1, 8, at + 3500, at + 3600, 900 });
    put_launch(file, &(struct launch){ "Memcpy HtoD (Pageable -> Device)", 1, 6, at + 3510,
                                       at + 3620, 40 });
    put_launch(file, &(struct launch){ "Memset (Device)", 1, 6, at + 3520, at + 3700, 10 });
    put_span(file,
             &(struct span){ "cuda_runtime", "cudaDeviceSynchronize", 100, 1, at + 8500, 400, "" });
    put_span(file,
             &(struct span){ "cpu_op", "Optimizer.step#SGD.step", 100, 1, at + 9000, 300,
                             "\"cpu_ns\": 200000, \"page_faults\": 3" });
    put_records(file, step);
    fprintf(file, ",{\"ph\": \"C\", \"name\": \"throttled by power_limit\", \"pid\": 100, "
                  "\"ts\": %d, \"args\": {\"cuda:0\": 1}}", at + 100);
    /* odd: table "health" */
    put_span(file, &(struct span){ "cpu_op", "nothing", 100, 1, at + 9400, 0, "" });
    /* names in two parts, and with fragments to number */
    snprintf(text, sizeof text, "nothing/%%%d%%", step);
    put_span(file, &(struct span){ "cpu_op", text, 100, 1, at + 9401, 1, "" });
    put_span(file, &(struct span){ "cuda_profiler_range", "gemm", 0, 0, at + 3800, 100,
                                   "\"dram__bytes_read.sum\": 12.5" });
}

static int trace_file(void)
{
    int number = memfd_create("trace", MFD_CLOEXEC);
    FILE *file = fdopen(dup(number), "w");
    assert_non_null(file);
    fputs("{\"schemaVersion\": 1, \"counters of ranges\": \"cpu_ns,page_faults\", "
          "\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100 80GB "
          "HBM3\"}], \"traceEvents\": [\n"
          "{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": 0, \"args\": {\"labels\": \"GPU "
          "0\"}}",
          file);
    for (int step = 0; step < STEPS; step++)
        put_step(file, step);
    fputs("]}\n", file);
    assert_int_equal(fclose(file), 0);
    return number;
}

static int plan_file(void)
{
    static const char text[] =
        "operator,offset_bytes,size_bytes,first_use,last_use\nconv,0,100,0,3\nrelu,50,100,2,5\n";
    int number = memfd_create("plan", MFD_CLOEXEC);
    assert_int_equal(write(number, text, sizeof text - 1), sizeof text - 1);
    return number;
}

/* As the reader of our own traces tells it: no format beside it has a table "collectors". */
/* Two iterations, found by the order, each with a collective that a plan names. */
static void add_trace_points(struct vv_model *model)
{
    static const struct { uint8_t kind, is_end; } points[] = {
        { VARVE_POINT_FORWARD, 0 }, { VARVE_POINT_COLLECTIVE, 0 }, { VARVE_POINT_COLLECTIVE, 1 },
        { VARVE_POINT_BACKWARD, 1 }, { VARVE_POINT_ITERATION, 1 },
    };
    uint32_t row;
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(vv_model_add_trace_point(model, &row, NULL), VARVE_OK);
        model->trace_points.time_ns[row] = i * 10;
        model->trace_points.kind[row] = points[i % 5].kind;
        model->trace_points.is_end[row] = points[i % 5].is_end;
        model->trace_points.track[row] = 0;
    }
    assert_int_equal(vv_model_add_planned_point(model, &row, NULL), VARVE_OK);
    model->planned_points.kind[row] = VARVE_POINT_COLLECTIVE;
    model->planned_points.index[row] = model->planned_points.process[row] = 0;
}

static void add_collector(struct vv_model *model)
{
    uint32_t row, value;
    assert_int_equal(vv_model_add_fact(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_text(model, "collector torch", &model->facts.key[row], NULL),
                     VARVE_OK);
    assert_int_equal(vv_model_text(model, "attached: names", &value, NULL), VARVE_OK);
    model->facts.value[row] = value;
    model->facts.process[row] = 0;
    model->facts.kind[row] = VV_ARG_TEXT;
}

/* What the recorder notes of a process, for table "unseen". */
static void add_cpu_time(struct vv_model *model)
{
    uint32_t row, text;
    assert_int_equal(vv_model_add_fact(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_text(model, "cpu_ns", &model->facts.key[row], NULL), VARVE_OK);
    assert_int_equal(vv_model_text(model, "1000000000", &text, NULL), VARVE_OK);
    model->facts.value[row] = text;
    model->facts.process[row] = 0;
    model->facts.kind[row] = VV_ARG_TEXT;
}

/* A graph of a node, loaded and run; the first device work is a task of its. */
static void add_executor(struct vv_model *model)
{
    const int64_t dims[] = { 2, 3 };
    uint32_t graph, node, tensor, loaded, run, task, activity = 0;
    assert_int_equal(vv_model_add_graph(model, &graph, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_node(model, &node, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_tensor(model, 1, 2, dims, &tensor, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_loaded_model(model, &loaded, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_execution(model, &run, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_task(model, &task, NULL), VARVE_OK);
    model->graphs.process[graph] = model->loaded_models.process[loaded] = 0;
    model->nodes.graph[node] = model->loaded_models.graph[loaded] = graph;
    model->nodes.first_tensor[node] = tensor;
    model->nodes.tensor_count[node] = 1;
    model->executions.model[run] = model->tasks.model[task] = loaded;
    model->executions.kind[run] = VV_EXECUTION_RUN;
    model->tasks.node[task] = node;
    while (model->activities.kind[activity] != VV_ACTIVITY_KERNEL)
        activity++;
    model->activities.task[activity] = task;
}

static struct vv_model *everything(void)
{
    char paths[2][32];
    const char *const both[] = { paths[0], paths[1] };
    int files[] = { trace_file(), plan_file() };
    struct vv_model *model;
    struct varve_error error;
    uint32_t clock;
    for (size_t i = 0; i < 2; i++)
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", files[i]);
    if (vv_import_all(both, 2, NULL, &model, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    add_collector(model);
    add_cpu_time(model);
    add_executor(model);
    assert_int_equal(vv_model_add_clock(model, &clock, NULL), VARVE_OK);
    add_trace_points(model);
    close(files[0]);
    close(files[1]);
    return model;
}

/* ---- each allocation ---- */

/* What a table's function is called with: one of the two. */
struct asked {
    const char *name;
    vv_analyse_fn *analyse;
    vv_diff_fn *diff;
    struct vv_question question;
    const struct vv_model *model;
    bool is_sample; /* of the allocations beyond the first                                      */
};

enum { FIRST_ALLOCATIONS = 16 };

static enum varve_code answer(const struct asked *asked, struct vv_sheet *sheet,
                              struct varve_error *error)
{
    const struct vv_side sides[VV_SIDES] = {
        { asked->model, { .first_step = 0, .last_step = 1, .warm_up = true }, "base" },
        { asked->model, { .first_step = 2, .last_step = STEPS - 1, .warm_up = true }, "new" },
    };
    if (asked->diff != NULL)
        return vv_diff(asked->diff, sides, &asked->question, sheet, error);
    return vv_analyse(asked->analyse, asked->model, &asked->question, sheet, error);
}

static void fail_each(const struct asked *asked)
{
    bool is_done = false;
    for (long nth = 0; !is_done; nth += asked->is_sample ? 1 + nth / FIRST_ALLOCATIONS : 1) {
        struct vv_sheet sheet;
        struct varve_error error = { 0 };
        allocations_left = nth;
        enum varve_code code = answer(asked, &sheet, &error);
        is_done = allocations_left >= 0;
        allocations_left = -1;
        bool is_whole = asked->question.compat == NULL &&
                        asked->question.selection.filter == NULL &&
                        strcmp(asked->name, "offload") != 0; /* of one program only */
        if (is_done && code == VARVE_OK && sheet.row_count == 0 && is_whole)
            fail_msg("%s has no rows: %s", asked->name, sheet.policy);
        if (code == VARVE_OK)
            vv_sheet_deinit(&sheet);
        if (code != (is_done ? VARVE_OK : VARVE_NO_MEMORY))
            fail_msg("%s: code %d without allocation %ld: %s", asked->name, code, nth,
                     error.message);
    }
}

static void each_allocation_of_each_table_fails_once(void **state)
{
    static const struct {
        int64_t top;
        const char *compat, *filter;
    } manners[] = {
        { 0, NULL, NULL },
        { 1, NULL, NULL },
        { 0, "hta", NULL },
        { 0, NULL, "phase=='forward' || module!='x' && calls>0 || stream==7 || source~'a'" },
    };
    struct vv_model *model = everything();
    (void)state;
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        struct asked asked = { .question = VV_QUESTION_ALL, .model = model };
        asked.question.top = manners[i].top;
        asked.question.compat = manners[i].compat;
        asked.question.selection.filter = manners[i].filter;
        asked.is_sample = i > 0;
        for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
            asked.name = table->name;
            asked.analyse = table->analyse;
            fail_each(&asked);
        }
    }
    vv_model_destroy(model);
}

/* Each way to fold and to cut a graph. */
static void each_allocation_of_a_folded_graph_fails_once(void **state)
{
    static const struct { const char *by, *around; int64_t top; } manners[] = {
        { "op,module,block,phase", NULL, 0 },
        { "block,name", "aten::mm", 2 },
        { "execution", NULL, 3 },
    };
    struct vv_model *model = everything();
    (void)state;
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        struct asked asked = { .question = VV_QUESTION_ALL, .model = model };
        asked.question.by = manners[i].by;
        asked.question.around = manners[i].around;
        asked.question.hops = 2;
        asked.question.top = manners[i].top;
        for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
            asked.name = table->name;
            asked.analyse = table->analyse;
            if (strncmp(table->name, "graph", 5) == 0)
                fail_each(&asked);
        }
    }
    vv_model_destroy(model);
}

static void each_allocation_of_each_diff_fails_once(void **state)
{
    struct vv_model *model = everything();
    (void)state;
    for (int64_t top = 0; top < 2; top++) {
        struct asked asked = { .question = VV_QUESTION_ALL, .model = model };
        asked.question.top = top;
        for (const struct vv_diff_entry *table = vv_diff_tables; table->name != NULL; table++) {
            asked.name = table->name;
            asked.diff = table->analyse;
            fail_each(&asked);
        }
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_each_table_fails_once),
        cmocka_unit_test(each_allocation_of_a_folded_graph_fails_once),
        cmocka_unit_test(each_allocation_of_each_diff_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
