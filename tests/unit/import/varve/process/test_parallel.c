/* SPDX-License-Identifier: Apache-2.0 */
/* test_parallel.c — the fast ways through a stream (import/varve/process/ranges.c and parallel.c
 * there) against the slow ones: several threads give the model that one gives, and what the
 * importer says of order and nesting is what finish finds by itself. Streams are drawn at random,
 * in packets of a few records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "model/build/build.h"
#include "model/columns.h"
#include "trace_bytes.h"

#define PACKETS 300u
#define RECORDS 40u

static struct stream_bytes thread, own;
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

/* One kind of stream: how many in 10,000 records are not plain, how deep ranges go, how often they
 * take no time, how many in 10,000 records are notes, steps or phases. */
struct kind {
    uint64_t odd, deepest, still, notes;
};

/* How many ranges are open; the step is the so manieth, 0: none is open. */
struct depth {
    uint64_t all, step;
};

static void draw_odd(uint64_t *ticks)
{
    switch (draw(7)) {
    case 0:
        RECORD(&thread, VV_EVENT_STEP_BEGIN, *ticks, draw(100));
        break;
    case 1:
        BARE(&thread, VV_EVENT_STEP_END, *ticks);
        break;
    case 2:
        BARE(&thread, FORWARD, *ticks);
        break;
    case 3:
        RECORD(&thread, LOSS, *ticks, 0);
        break;
    case 4:
        BARE(&thread, CONV, *ticks - 5); /* earlier than the one before */
        break;
    case 5:
        *ticks += UINT64_C(1) << 33; /* out of the timeline's span */
        BARE(&thread, CONV, *ticks);
        break;
    default:
        RECORD(&thread, COPY_BEGIN, *ticks, draw(5));
        RECORD(&thread, COPY_END, *ticks + 1, draw(5));
        break;
    }
}

static void draw_step(uint64_t ticks, struct depth *depth)
{
    if (draw(2) == 0) {
        BARE(&thread, FORWARD, ticks);
        depth->all++;
    } else if (depth->step == 0) {
        RECORD(&thread, VV_EVENT_STEP_BEGIN, ticks, draw(100));
        depth->step = ++depth->all;
    } else {
        BARE(&thread, VV_EVENT_STEP_END, ticks);
        depth->all = depth->step - 1;
        depth->step = 0;
    }
}

static void draw_note(const struct kind *kind, uint64_t ticks, struct depth *depth)
{
    switch (draw(7)) {
    case 0:
        RECORD(&thread, VV_EVENT_OP, ticks, draw(9), draw(9), draw(9), 0, 0);
        break;
    case 1:
        RECORD(&thread, VV_EVENT_OP, ticks, draw(9), draw(9), draw(9), 0, 2,
               UINT64_C(2) << 32 | 1, draw(40), draw(40), UINT64_C(1) << 32 | 2, draw(40));
        break;
    case 2:
        RECORD(&thread, VV_EVENT_ALLOC, ticks, draw(9), draw(1000), draw(2));
        break;
    case 3:
        RECORD(&thread, VV_EVENT_FREE, ticks, draw(9), draw(2));
        break;
    case 4:
        RECORD(&thread, LOSS, ticks, draw(9));
        break;
    case 5:
        BARE(&thread, HERE, ticks);
        break;
    default:
        if (depth->all < kind->deepest)
            draw_step(ticks, depth);
        break;
    }
}

static void draw_record(const struct kind *kind, uint64_t *ticks, struct depth *depth)
{
    *ticks += draw(100) < kind->still ? 0 : 1 + draw(50);
    if (draw(10000) < kind->odd) {
        draw_odd(ticks);
        return;
    }
    if (kind->notes > 0 && draw(10000) < kind->notes) {
        draw_note(kind, *ticks, depth);
        return;
    }
    uint64_t what = depth->all == 0 ? 0 : depth->all >= kind->deepest ? 1 + draw(2) : draw(3);
    BARE(&thread, what == 0 ? CONV : what == 1 ? VV_EVENT_END : CONV_NEXT, *ticks);
    if (what != 0 && depth->all == depth->step)
        depth->step = 0;
    depth->all += (what == 0) - (what == 1);
}

/* The stream's words so far become its next part. */
static void write_part(const struct trace *trace, unsigned *part)
{
    char name[32];
    snprintf(name, sizeof name, PROCESS "/thread.1.%u", (*part)++);
    trace_write(trace, name, thread.words, thread.count * 8);
    thread.count = 0;
}

static void draw_trace(const struct kind *kind, const struct trace *trace)
{
    uint64_t ticks = 1000, lost = 0;
    struct depth depth = { 0, 0 };
    unsigned part = 0;
    thread.count = own.count = 0;
    for (uint32_t i = 0; i < PACKETS; i++) {
        if (i == PACKETS / 4 || i == PACKETS / 2 + kind->deepest % 64)
            write_part(trace, &part);
        ticks += draw(3);
        stream_packet(&thread, 1, ticks, i, lost);
        for (uint32_t k = 0; k < RECORDS; k++)
            draw_record(kind, &ticks, &depth);
        if (draw(5000) < kind->odd)
            thread.words[thread.packet + offsetof(struct vv_packet_header, discarded) / 8] = ++lost;
        stream_leave(&thread, 0);
    }
    stream_packet(&own, 0, 1000, 0, 0);
    if (kind->odd > 0 && draw(2) == 0)
        RECORD(&own, VV_EVENT_LAYERS, 1000 + draw(ticks - 1000), 0);
    stream_leave(&own, 0);
    trace_write(trace, PROCESS "/process.0", own.words, own.count * 8);
    write_part(trace, &part);
}

static struct vv_model *import(const struct trace *trace, unsigned threads)
{
    const struct vv_import_options options = { .threads = threads };
    const char *path = trace->path;
    struct vv_model *model = NULL;
    struct varve_error error = { .message = "" };
    enum varve_code code = vv_import_all(&path, 1, &options, &model, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(code, VARVE_OK);
    return model;
}

static const void *cells_of(const struct vv_model *model, size_t table, size_t column)
{
    const struct vv_model_table *about = &vv_model_tables[table];
    const void *cells;
    memcpy(&cells,
           (const char *)model + about->table_offset + about->columns[column].pointer_offset,
           sizeof cells);
    return cells;
}

static uint64_t count_of(const struct vv_model *model, size_t table)
{
    return ((const struct vv_table *)((const char *)model + vv_model_tables[table].table_offset))
        ->count;
}

static void assert_same(const struct vv_model *a, const struct vv_model *b)
{
    assert_memory_equal(&a->run, &b->run, sizeof a->run);
    assert_memory_equal(&a->health, &b->health, sizeof a->health);
    assert_int_equal(a->strings.count, b->strings.count);
    for (size_t table = 0; table < VV_TABLE_COUNT; table++) {
        const struct vv_model_table *about = &vv_model_tables[table];
        assert_int_equal(count_of(a, table), count_of(b, table));
        for (size_t i = 0; i < about->column_count && count_of(a, table) > 0; i++)
            assert_memory_equal(cells_of(a, table, i), cells_of(b, table, i),
                                count_of(a, table) * about->columns[i].width_bytes);
    }
}

/* Finish, once more, of a model that is finished: what it finds by itself changes nothing. */
static void finish_again(struct vv_model *model)
{
    assert_int_equal(vv_build_order(model, NULL), VARVE_OK);
    struct vv_health health = model->health;
    model->health.overlaps = model->health.zero_length = 0;
    assert_int_equal(vv_build_nest(model, NULL), VARVE_OK);
    assert_int_equal(model->health.overlaps, health.overlaps);
    assert_int_equal(model->health.zero_length, health.zero_length);
}

static void threads_and_ways_agree(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        { 0, 1, 0, 0 },   { 0, 8, 0, 0 },    { 0, 400, 0, 0 },  { 0, 1000, 0, 0 },
        { 0, 5, 1, 0 },   { 0, 6, 30, 0 },   { 2, 6, 0, 0 },    { 5, 20, 0, 0 },
        { 30, 20, 2, 0 }, { 300, 10, 1, 0 },
        { 0, 6, 0, 3000 }, { 0, 400, 0, 2000 }, { 0, 8, 3, 6000 }, { 3, 20, 1, 4000 },
    };
    for (uint64_t round = 0; round < 84; round++) {
        struct trace trace;
        seed = round;
        trace_make(&trace, trace_metadata);
        draw_trace(&kinds[round % (sizeof kinds / sizeof kinds[0])], &trace);
        struct vv_model *one = import(&trace, 1), *three = import(&trace, 3);
        assert_true(one->slices.table.count > PACKETS * RECORDS / 8);
        assert_same(one, three);
        finish_again(three);
        assert_same(one, three);
        vv_model_destroy(one);
        vv_model_destroy(three);
        trace_remove(&trace);
    }
}

/* Tables double, so what is enough is known to a factor of two. */
static void a_limit_holds_for_all_ways(void **state)
{
    (void)state;
    const struct kind plain = { 0, 8, 0, 0 };
    struct trace trace;
    seed = 7;
    trace_make(&trace, trace_metadata);
    draw_trace(&plain, &trace);
    struct vv_model *model = import(&trace, 1);
    uint64_t enough = vv_model_bytes(model);
    vv_model_destroy(model);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct vv_import_options options = { .threads = threads, .max_memory_bytes = 2 * enough };
        const char *path = trace.path;
        assert_int_equal(vv_import_all(&path, 1, &options, &model, NULL), VARVE_OK);
        vv_model_destroy(model);
        options.max_memory_bytes = enough / 4;
        assert_int_equal(vv_import_all(&path, 1, &options, &model, NULL), VARVE_LIMIT);
    }
    trace_remove(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_ways_agree),
        cmocka_unit_test(a_limit_holds_for_all_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
