/* SPDX-License-Identifier: Apache-2.0 */
/* every_record.c — makes every kind of record that the headers of include/varve can, and prints
 * what it made.
 *
 * tests/oracle runs it recorded and unrecorded. Standard output has one line a record, thread by
 * thread in the order of the calls: THREAD EVENT-NAME-IN-HEX FIELDS-AS-JSON. It depends on nothing
 * that a run could change (addresses and ids are constants), so the output of a recorded run equals
 * that of a free one, and is the truth that three readers of the trace are held against. The exit
 * code is the first argument, or 0.
 *
 * The second argument, a number, asks for that many more pairs of begin and next on each thread. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/every_device_counter.h"
#include "../support/every_point.h"
#include "../support/every_value.h"
#include "varve/exec.h"
#include "varve/past.h"

#define RANK_MAX 16u
#define INPUTS_MAX 32u

static struct varve_site layer_sites[] = {
    VARVE_SITE_INIT("layer api", VARVE_LAYER_API),
    VARVE_SITE_INIT("layer host", VARVE_LAYER_HOST),
    VARVE_SITE_INIT("layer op", VARVE_LAYER_OP),
    VARVE_SITE_INIT("layer runtime", VARVE_LAYER_RUNTIME),
    VARVE_SITE_INIT("layer runtime l1", VARVE_LAYER_RUNTIME_L1),
    VARVE_SITE_INIT("layer device", VARVE_LAYER_DEVICE),
    VARVE_SITE_INIT("layer comm", VARVE_LAYER_COMM),
    VARVE_SITE_INIT("layer memory", VARVE_LAYER_MEMORY),
    VARVE_SITE_INIT("layer python", VARVE_LAYER_PYTHON),
    VARVE_SITE_INIT("layer metric", VARVE_LAYER_METRIC),
};

static char long_name[1101];  /* 1023 bytes of it are kept */
static char split_name[1101]; /* here the 1023rd byte is the first half of a letter: 1022 are
                                 kept */

static struct varve_site odd_sites[] = {
    VARVE_SITE_INIT("quote \" and 'quote'", VARVE_LAYER_OP),
    VARVE_SITE_INIT("back\\slash \\n \\\\ end\\", VARVE_LAYER_OP),
    VARVE_SITE_INIT("new\nline", VARVE_LAYER_OP),
    VARVE_SITE_INIT("tab\tbell\a one\001" "23 delete\177", VARVE_LAYER_OP),
    VARVE_SITE_INIT("na\xc3\xafve \xe5\xb1\x82 \xf0\x9f\x99\x82", VARVE_LAYER_OP),
    VARVE_SITE_INIT("\"; }; event { id = 1; /* */ //", VARVE_LAYER_OP),
    VARVE_SITE_INIT("%s %n & = ? # + %41 ;", VARVE_LAYER_OP),
    VARVE_SITE_INIT("varve.end", VARVE_LAYER_OP),
    VARVE_SITE_INIT(" blanks  around ", VARVE_LAYER_OP),
    VARVE_SITE_INIT("", VARVE_LAYER_OP),
    VARVE_SITE_INIT("not UTF-8: \xff.", VARVE_LAYER_OP),
    VARVE_SITE_INIT(long_name, VARVE_LAYER_OP),
    VARVE_SITE_INIT(split_name, VARVE_LAYER_OP),
    {"no file", NULL, 0, VARVE_LAYER_OP, 0, 0},
    {"odd file", "dir name/a&b=c?%41\"\n\xc3\xa9.c", 4294967295u, VARVE_LAYER_OP, 0, 0},
};

VARVE_SITE(first_site, "twin", VARVE_LAYER_OP);
VARVE_SITE(second_site, "twin", VARVE_LAYER_OP);
VARVE_SITE(mark_site, "a mark", VARVE_LAYER_RUNTIME);
VARVE_SITE(handler_site, "in the signal handler", VARVE_LAYER_RUNTIME);
VARVE_SITE(loss_site, "loss", VARVE_LAYER_METRIC);
VARVE_SITE(copy_site, "copy", VARVE_LAYER_COMM);
VARVE_SITE(arrow_site, "arrow", VARVE_LAYER_OP);
VARVE_SITE(phase_one, "forward", VARVE_LAYER_STEP);
VARVE_SITE(phase_two, "backward", VARVE_LAYER_STEP);
VARVE_SITE(pair_one, "pair one", VARVE_LAYER_OP);
VARVE_SITE(pair_two, "pair two", VARVE_LAYER_OP);

static void begin(struct journal *journal, struct varve_site *site)
{
    varve_begin(site);
    note(journal, site->name, "{}");
}

static void next(struct journal *journal, struct varve_site *site)
{
    varve_next(site);
    note(journal, site->name, "{}");
}

static void end(struct journal *journal)
{
    varve_end();
    note(journal, "varve.end", "{}");
}

static void ranges(struct journal *journal)
{
    size_t layers = sizeof layer_sites / sizeof layer_sites[0];
    for (size_t i = 0; i < layers; i++)
        begin(journal, &layer_sites[i]);
    for (size_t i = 0; i < layers; i++)
        end(journal);
    for (size_t i = 0; i < sizeof odd_sites / sizeof odd_sites[0]; i++) {
        begin(journal, &odd_sites[i]);
        next(journal, &odd_sites[i]);
        end(journal);
    }
    begin(journal, &first_site);
    begin(journal, &second_site);
    end(journal);
    end(journal);
    {
        VARVE_SCOPE("a scope");
        note(journal, "a scope", "{}");
    }
    note(journal, "varve.end", "{}");
    {
        VARVE_SCOPE_LAYER("a scope of layer host", VARVE_LAYER_HOST);
        note(journal, "a scope of layer host", "{}");
    }
    note(journal, "varve.end", "{}");
    varve_end(); /* nothing is open: ignored */
}

static void begin_name(struct journal *journal, const char *name, uint32_t layer)
{
    varve_begin_name(name, layer);
    fprintf(journal->stream, "%s ", journal->thread);
    write_hex(journal->stream, "varve.begin");
    fputs(" {\"text\": \"", journal->stream);
    write_hex(journal->stream, name);
    fprintf(journal->stream, "\", \"layer\": %" PRIu32 "}\n", layer);
}

static void dynamic_names(struct journal *journal)
{
    for (size_t i = 0; i < sizeof odd_sites / sizeof odd_sites[0]; i++) {
        if (odd_sites[i].name[0]) {
            begin_name(journal, odd_sites[i].name, VARVE_LAYER_OP);
            end(journal);
        }
    }
    for (int round = 0; round < 3; round++) {
        begin_name(journal, "seven b", VARVE_LAYER_PYTHON);
        begin_name(journal, "eight by", VARVE_LAYER_API);
        begin_name(journal, "nine byte", VARVE_LAYER_API);
        for (int i = 0; i < 3; i++)
            end(journal);
    }
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "dynamic %d", i);
        begin_name(journal, name, VARVE_LAYER_OP);
        end(journal);
    }
}

static void on_signal(int number)
{
    (void)number;
    varve_mark(&handler_site);
}

static void instants(struct journal *journal)
{
    static const double values[] = { 0.0, -0.0,     1.5,       -2.25e300, 5e-324,
                                     0.1, INFINITY, -INFINITY, NAN };
    varve_mark(&mark_site);
    note(journal, mark_site.name, "{}");
    raise(SIGUSR1);
    note(journal, handler_site.name, "{}");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        varve_counter(&loss_site, values[i]);
        note(journal, loss_site.name, "{\"bits\": %" PRIu64 "}", bits);
    }
}

static void pairs(struct journal *journal)
{
    static const uint64_t ids[] = {0, 1, UINT64_C(0x8000000000000000), UINT64_MAX};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        varve_async_begin(&copy_site, ids[i]);
        varve_flow_out(&arrow_site, ids[i]);
        varve_flow_in(&arrow_site, ids[i]);
        varve_async_end(&copy_site, ids[i]);
        note(journal, copy_site.name, "{\"id\": %" PRIu64 "}", ids[i]);
        note(journal, arrow_site.name, "{\"id\": %" PRIu64 "}", ids[i]);
        note(journal, arrow_site.name, "{\"id\": %" PRIu64 "}", ids[i]);
        note(journal, copy_site.name, "{\"id\": %" PRIu64 "}", ids[i]);
    }
}

static void note_op(struct journal *journal, const struct varve_op_info *info)
{
    FILE *stream = journal->stream;
    fprintf(stream, "%s ", journal->thread);
    write_hex(stream, "varve.op");
    fprintf(stream, " {\"flop\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"sequence\": %" PRId64,
            info->flop, info->bytes, info->sequence);
    fprintf(stream, ", \"forward_tid\": %" PRIu64 ", \"inputs\": [", info->forward_thread);
    for (uint32_t i = 0; i < info->input_count && i < INPUTS_MAX; i++) {
        const struct varve_tensor *tensor = &info->inputs[i];
        fprintf(stream, "%s{\"dtype\": %" PRIu32 ", \"rank\": %" PRIu32 ", \"dims\": [",
                i ? ", " : "", tensor->dtype, tensor->rank);
        for (uint32_t j = 0; j < tensor->rank; j++)
            fprintf(stream, "%s%" PRId64, j ? ", " : "", tensor->dims[j]);
        fputs("]}", stream);
    }
    fputs("]}\n", stream);
}

static void note_tensors(struct journal *journal, const struct varve_op_info *info, bool is_output)
{
    const struct varve_tensor *tensors = is_output ? info->outputs : info->inputs;
    const uint64_t *ids = is_output ? info->output_ids : info->input_ids;
    const char *const *formats = is_output ? info->output_formats : info->input_formats;
    uint32_t count = is_output ? info->output_count : info->input_count;
    for (uint32_t i = 0; i < count && i < INPUTS_MAX; i++) {
        FILE *stream = journal->stream;
        fprintf(stream, "%s{\"dtype\": %" PRIu32 ", \"rank\": %" PRIu32 ", \"side\": %d",
                i + is_output ? ", " : "", tensors[i].dtype, tensors[i].rank, is_output);
        fprintf(stream, ", \"format\": \"%s\", \"identity\": %" PRIu64 ", \"dims\": [",
                formats != NULL && formats[i] != NULL ? formats[i] : "",
                ids != NULL ? ids[i] : 0);
        for (uint32_t j = 0; j < tensors[i].rank; j++)
            fprintf(stream, "%s%" PRId64, j ? ", " : "", tensors[i].dims[j]);
        fputs("]}", stream);
    }
}

/* Operators with outputs, numbers and formats. */
static void whole_operators(struct journal *journal)
{
    static const char *const formats[] = { "NCHW", NULL, "NC1HWC0" };
    static const uint64_t ids[] = { 1, 0, UINT64_MAX };
    static const int64_t dims[] = { -1, 5 };
    static const struct varve_tensor tensors[] = { { VARVE_F16, 2, dims }, { VARVE_I8, 0, NULL },
                                                   { VARVE_BITS, 1, dims } };
    struct varve_tensor many[INPUTS_MAX + 8];
    for (uint32_t i = 0; i < INPUTS_MAX + 8; i++)
        many[i] = (struct varve_tensor){ i % 18, i % 3, dims };
    const uint32_t bytes = sizeof(struct varve_op_info);
    const struct varve_op_info infos[] = {
        { bytes, 1, tensors, 3, 4, 5, 6, tensors, 3, 0, ids, ids, formats, formats },
        { bytes, 1, tensors, 0, 0, -1, 0, tensors, 1, 0, NULL, ids, NULL, NULL },
        { bytes, 3, tensors, 0, 0, -1, 0, NULL, 0, 0, ids, NULL, formats, NULL },
        { bytes, INPUTS_MAX + 8, many, 1, 1, 1, 1, many, INPUTS_MAX + 8, 0, NULL, NULL,
          NULL, NULL },
    };
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
        begin(journal, &first_site);
        varve_op(&infos[i]);
        fprintf(journal->stream, "%s ", journal->thread);
        write_hex(journal->stream, "varve.operator");
        fprintf(journal->stream, " {\"flop\": %" PRIu64 ", \"bytes\": %" PRIu64, infos[i].flop,
                infos[i].bytes);
        fprintf(journal->stream, ", \"sequence\": %" PRId64 ", \"forward_tid\": %" PRIu64
                ", \"tensors\": [", infos[i].sequence, infos[i].forward_thread);
        note_tensors(journal, &infos[i], false);
        note_tensors(journal, &infos[i], true);
        fputs("]}\n", journal->stream);
        end(journal);
    }
}

static void operators(struct journal *journal)
{
    int64_t dims[RANK_MAX];
    struct varve_tensor inputs[INPUTS_MAX + 8];
    for (uint32_t i = 0; i < RANK_MAX; i++)
        dims[i] = i == 15 ? INT64_MIN : i == 14 ? INT64_MAX : (int64_t)i - 1;
    for (uint32_t i = 0; i < INPUTS_MAX + 8; i++)
        inputs[i] = (struct varve_tensor){i % 18, i % (RANK_MAX + 1), dims};
    for (uint32_t count = 0; count <= INPUTS_MAX + 8; count++) {
        struct varve_op_info info = VARVE_OP_INFO_INIT;
        info.input_count = count;
        info.inputs = count ? inputs : NULL;
        if (count) {
            info.flop = UINT64_MAX - count;
            info.bytes = count;
            info.sequence = count == 1 ? INT64_MAX : count;
            info.forward_thread = 77;
        }
        if (count % 2) { /* compiled before there were outputs */
            info.struct_size = offsetof(struct varve_op_info, outputs);
            info.outputs = inputs;
            info.output_count = 3;
        }
        begin(journal, &first_site);
        varve_op(&info);
        note_op(journal, &info);
        end(journal);
    }
}

static void values(struct journal *journal)
{
    struct varve_arg args[ARGS];
    const uint32_t count = make_args(args, split_name);
    begin(journal, &first_site);
    varve_args(args, count);
    note_args(journal, args, count, 0);
    varve_arg_i64(&count_key, args[0].value.integer);
    varve_arg_u64(&odd_key, args[1].value.number);
    varve_arg_f64(&count_key, args[2].value.real);
    varve_arg_bool(&count_key, 5);
    varve_arg_text(&count_key, args[4].value.text);
    varve_arg_i64s(&count_key, args[7].value.integers, args[7].count);
    for (uint32_t i = 0; i < 5; i++)
        note_args(journal, &args[i], 1, 0);
    note_args(journal, &args[7], 1, 0);
    varve_arg_f64s(&count_key, args[9].value.reals, args[9].count);
    note_args(journal, &args[9], 1, 0);
    for (size_t i = 0; i < sizeof collectives / sizeof collectives[0]; i++) {
        varve_collective(&collectives[i]);
        note_collective(journal, &collectives[i], 0);
    }
    end(journal);
    varve_args(args, count); /* no range is open: ignored */
    varve_arg_i64(&count_key, 1);
    varve_collective(&collectives[1]);
}

static void steps(struct journal *journal)
{
    static const int64_t indices[] = {0, 1, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        varve_step_begin(indices[i]);
        note(journal, "varve.step_begin", "{\"index\": %" PRId64 "}", indices[i]);
        begin(journal, &phase_one);
        begin(journal, &first_site);
        end(journal);
        next(journal, &phase_two);
        if (i % 2)
            begin(journal, &first_site); /* the step's end closes it, and the phase */
        else
            end(journal);
        varve_step_end();
        note(journal, "varve.step_end", "{}");
    }
    varve_step_end(); /* no step is open: ignored */
}

static void memory(struct journal *journal)
{
    static const uint64_t sizes[] = {0, 1, 4096, UINT64_MAX};
    const uint32_t device = VARVE_DEVICE(VARVE_DEVICE_KIND_OPENCL, 3);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uintptr_t address = (uintptr_t)0x1000 * (i + 1);
        uint32_t where = i % 2 ? device : VARVE_DEVICE_CPU;
        varve_alloc((const void *)address, sizes[i], where);
        note(journal, "varve.alloc",
             "{\"address\": %" PRIuPTR ", \"bytes\": %" PRIu64 ", \"device\": %u}", address,
             sizes[i], where);
        varve_free((const void *)address, where);
        note(journal, "varve.free", "{\"address\": %" PRIuPTR ", \"device\": %u}", address, where);
    }
}

static uint32_t tracks[4];

static bool add_tracks(void)
{
    struct varve_clock_info clock_info = { sizeof clock_info, 0, "beats", 1000000, 1000 };
    uint32_t clock;
    if (varve_clock_add(&clock_info, &clock, NULL) != VARVE_OK)
        return false;
    varve_clock_pair(clock, 12, varve_ticks(), 345);
    const uint32_t clocks[] = { VARVE_CLOCK_TICKS, VARVE_CLOCK_MONOTONIC_RAW, clock, clock };
    for (uint32_t i = 0; i < 4; i++) {
        struct varve_track_info info = { sizeof info, clocks[i], i == 3 ? long_name : "a queue",
                                         VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, i), 0,
                                         i == 0 ? -1 : 5, (int64_t)i - 1 };
        if (varve_track_add(&info, &tracks[i], NULL) != VARVE_OK)
            return false;
    }
    return true;
}

static void note_activity(struct journal *journal, const struct varve_activity_info *info)
{
    fprintf(journal->stream, "%s ", journal->thread);
    write_hex(journal->stream, "varve.activity");
    fputs(" {\"text\": \"", journal->stream);
    write_hex(journal->stream, info->name);
    fprintf(journal->stream,
            "\", \"track\": %" PRIu32 ", \"kind\": %" PRIu32 ", \"begin\": %" PRId64
            ", \"end\": %" PRId64 ", \"correlation\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n",
            info->track, info->kind, info->begin, info->end, info->correlation, info->bytes);
}

/* The same work again, with arguments, a collective, both, or neither. */
static void note_with_values(struct journal *journal, const struct varve_activity_info *info,
                             uint32_t number)
{
    struct varve_arg args[ARGS];
    const uint32_t count = number % 2 ? make_args(args, split_name) : 0;
    struct varve_activity_values with = { sizeof with, count, args,
                                          number % 4 > 1 ? &collectives[1] : NULL };
    varve_activity_with(info, &with);
    note_activity(journal, info);
    if (with.arg_count > 0)
        note_args(journal, args, with.arg_count, 1);
    if (with.collective != NULL)
        note_collective(journal, with.collective, 1);
}

static void device_work(struct journal *journal)
{
    static const int64_t instants[] = { 0, 1, -1, INT64_MIN, INT64_MAX };
    for (uint32_t i = 0; i < 40; i++) {
        struct varve_activity_info info = { sizeof info, tracks[i % 4],
                                            odd_sites[i % 9].name, 1 + i % 6, 0,
                                            instants[i % 5], instants[i / 5 % 5], i % 3 ? i : 0,
                                            i % 6 == 1 ? UINT64_MAX - i : 0 };
        begin(journal, &layer_sites[3]);
        varve_launch(i);
        note(journal, "varve.launch", "{\"correlation\": %u}", i);
        end(journal);
        varve_activity(&info);
        note_activity(journal, &info);
        note_with_values(journal, &info, i);
    }
    varve_launch(7); /* no range is open: ignored */
}

static void past_range(struct journal *journal, const struct varve_past_range_info *info)
{
    varve_past_range(info);
    fprintf(journal->stream, "%s ", journal->thread);
    write_hex(journal->stream, "varve.past_range");
    fputs(" {\"text\": \"", journal->stream);
    write_hex(journal->stream, info->name);
    fprintf(journal->stream,
            "\", \"subject\": \"%s\", \"layer\": %" PRIu32 ", \"clock_number\": %" PRIu32
            ", \"tid\": %" PRIu64 ", \"begin\": %" PRId64 ", \"end\": %" PRId64 "}\n",
            info->subject != NULL ? info->subject : "", info->layer, info->clock, info->thread,
            info->begin, info->end);
}

/* A value of each kind: the journal's words are written by hand. */
static void past_note(struct journal *journal, uint32_t flags, uint64_t correlation)
{
    static const int64_t numbers[] = { 1, INT64_MIN, 0 };
    static const double reals[] = { 1.0, -0.0 };
    static const char *const texts[] = { "Conv2D", "" };
    static const uint64_t ids[] = { UINT64_MAX };
    static const int64_t dims[] = { 8, -1 };
    static const struct varve_graph_tensor tensors[] = {
        { VARVE_INPUT, VARVE_F32, 2, 0, dims, "NCHW", 7 },
        { VARVE_OUTPUT, VARVE_BITS, 0, 0, NULL, NULL, 0 },
    };
    const struct varve_past_value values[] = {
        { "numbers", VARVE_PAST_INTEGERS, 3, numbers }, { "reals", VARVE_PAST_REALS, 2, reals },
        { "type", VARVE_PAST_TEXTS, 2, texts },         { "ids", VARVE_PAST_HEX, 1, ids },
        { "yes", VARVE_PAST_BOOLS, 1, numbers },        { "none", VARVE_PAST_INTEGERS, 0, NULL },
        { "x", VARVE_PAST_TENSORS, 2, tensors },
    };
    const struct varve_past_note_info info = { sizeof info, VARVE_LAYER_OP, "node", 5,
                                               VARVE_CLOCK_MONOTONIC, flags, -1, correlation,
                                               values, 7, 0 };
    varve_past_note(&info);
    note(journal, "varve.past_note",
         "{\"text\": \"6e6f6465\", \"layer\": 4, \"flags\": %" PRIu32 ", \"clock_number\": 2, "
         "\"tid\": 5, \"time\": -1, \"correlation\": %" PRIu64 ", \"values\": ["
         "{\"key\": \"numbers\", \"kind\": 0, \"dtype\": 0, \"side\": 0, "
         "\"words\": [1, %" PRId64 ", 0]}, "
         "{\"key\": \"reals\", \"kind\": 1, \"dtype\": 0, \"side\": 0, "
         "\"words\": [4607182418800017408, %" PRId64 "]}, "
         "{\"key\": \"type\", \"kind\": 2, \"dtype\": 0, \"side\": 0, "
         "\"words\": [\"Conv2D\", \"\"]}, "
         "{\"key\": \"ids\", \"kind\": 3, \"dtype\": 0, \"side\": 0, \"words\": [-1]}, "
         "{\"key\": \"yes\", \"kind\": 4, \"dtype\": 0, \"side\": 0, \"words\": [1]}, "
         "{\"key\": \"none\", \"kind\": 0, \"dtype\": 0, \"side\": 0, \"words\": []}, "
         "{\"key\": \"x\", \"kind\": 5, \"dtype\": 1, \"side\": 0, "
         "\"words\": [\"NCHW\", 8, -1]}, "
         "{\"key\": \"x\", \"kind\": 5, \"dtype\": 25, \"side\": 1, \"words\": [\"\"]}]}",
         flags, correlation, INT64_MIN, INT64_MIN);
}

/* None has a place in time, so none is among the ranges that other tests add up. */
static void past(struct journal *journal)
{
    static const int64_t instants[] = { 0, INT64_MIN, INT64_MAX };
    for (uint32_t i = 0; i < 30; i++) {
        const struct varve_past_range_info info = {
            sizeof info, 1u << i % 11, odd_sites[i % 9].name, i % 3 ? "conv1" : NULL, i,
            1 + i % 4, 0, instants[i % 3], instants[i / 3 % 3]
        };
        past_range(journal, &info);
    }
    for (uint32_t flags = 0; flags < 4; flags++)
        past_note(journal, flags, flags * UINT64_MAX);
}

#include "every_execution.h" /* needs the journal, and what is above */

/* Nothing of the paused part is noted: it may not be in the trace. */
static void pause_and_resume(struct journal *journal)
{
    begin(journal, &first_site);
    uint32_t mask = varve_layers_set(0);
    varve_begin(&second_site);
    varve_mark(&mark_site);
    varve_counter(&loss_site, 1.0);
    varve_end();
    varve_layers_set(VARVE_LAYER_METRIC);
    varve_mark(&mark_site);
    varve_alloc((const void *)0x1000, 1, VARVE_DEVICE_CPU);
    varve_counter(&loss_site, 2.0);
    note(journal, loss_site.name, "{\"bits\": %" PRIu64 "}", UINT64_C(0x4000000000000000));
    varve_layers_set(mask);
    begin(journal, &second_site);
    end(journal);
}

static void *run(void *argument)
{
    struct journal *journal = argument;
    varve_thread_name("a former name");
    varve_thread_name(journal->thread);
    ranges(journal);
    dynamic_names(journal);
    instants(journal);
    pairs(journal);
    operators(journal);
    whole_operators(journal);
    values(journal);
    steps(journal);
    memory(journal);
    device_work(journal);
    past(journal);
    executions(journal);
    device_counters(journal, tracks);
    trace_marks(journal, tracks);
    trace_plan(journal);
    for (long i = 0; i < journal->pairs; i++) {
        begin(journal, &pair_one);
        next(journal, &pair_two);
        end(journal);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    struct journal journals[2] = { { .thread = "main", .pairs = count },
                                   { .thread = "second", .pairs = count } };
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t second;
    memset(long_name, 'x', sizeof long_name - 1);
    memset(split_name, 'y', 1022);
    memcpy(split_name + 1022, "\xc3\xa9 and more", 11);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 2; i++)
        if (!(journals[i].stream = open_memstream(&journals[i].text, &journals[i].text_bytes)))
            return 99;
    varve_process_name("every record");
    if (!add_tracks() || !add_graph())
        return 99;
    note_model_event(&journals[0], 0, -1);
    varve_model_load_end(model);
    note(&journals[0], "varve.end", "{}");
    if (pthread_create(&second, NULL, run, &journals[1]))
        return 99;
    run(&journals[0]);
    pthread_join(second, NULL);
    varve_model_unload(model);
    note_model_event(&journals[0], 2, -1);
    pause_and_resume(&journals[0]); /* alone, since a pause stops all threads */
    for (int i = 0; i < 2; i++) {
        fclose(journals[i].stream);
        fputs(journals[i].text, stdout);
        free(journals[i].text);
    }
    return argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
}
