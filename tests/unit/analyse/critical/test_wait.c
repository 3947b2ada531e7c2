/* SPDX-License-Identifier: Apache-2.0 */
/* What a call that waits waited for. For an event: the last work before the event was recorded,
 * where the trace says which event that was, and else what ended last during the call. For a
 * device: what ended last on each of its streams, also where the call is but a range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/critical/graph.h"
#include "handmade_device.h"

enum { CALL_NS = 2, NOT_SAID = -1 };

static const struct recorded {
    const char *what;
    int64_t stream;      /* of "first" and "second", launched at 100 and 120; "last" is on stream 9,
                            launched at 130 */
    uint64_t record;     /* the correlation of the call that recorded the event,                 */
    int64_t record_at;   /* and when it did                                                      */
    int64_t said_stream, said_record;
    const char *awaited;
} events[] = {
    { "behind the first", 7, 20, 110, 7, 20, "first" },
    { "behind both", 7, 20, 125, 7, 20, "second" },
    { "on stream 0", 0, 20, 110, 0, 20, "first" },
    { "by the call of correlation 1", 7, 1, 110, 7, 1, "first" },
    { "by a call that the trace lacks", 7, 20, 110, 7, 21, "last" },
    { "on a stream that nobody says", 7, 20, 110, NOT_SAID, 20, "last" },
    { "by a call that nobody says", 7, 20, 110, 7, NOT_SAID, "last" },
    { "on a stream that has no work", 7, 20, 110, 8, 20, "last" },
    { "before the stream's first work", 7, 20, 125, 9, 20, "last" },
};

/* A host thread that launches the three, records an event, and at 150 waits until 400; "last" ends
 * at 350. */
static struct vv_model *make(const struct recorded *event)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "host", 100), nine = handmade_stream(model, 0, 9);
    uint32_t stream = handmade_stream(model, 0, event->stream), named;
    handmade_step(model, host, 1, 0, 1000);
    handmade_call(model, host, "cudaLaunchKernel", 11, 100, 100 + CALL_NS);
    handmade_call(model, host, "cudaLaunchKernel", 12, 120, 120 + CALL_NS);
    handmade_call(model, host, "cudaLaunchKernel", 13, 130, 130 + CALL_NS);
    handmade_call(model, host, "cudaEventRecord", event->record, event->record_at,
                  event->record_at + CALL_NS);
    handmade_work(model, stream, "first", 11, 110, 200);
    handmade_work(model, stream, "second", 12, 200, 300);
    handmade_work(model, nine, "last", 13, 140, 350);
    handmade_call(model, host, "cudaEventSynchronize", 14, 150, 400);
    uint32_t sync = handmade_slice(model, nine, "Event Sync", VARVE_LAYER_DEVICE, 351, 400);
    uint32_t activity = handmade_activity(model, sync, VV_ACTIVITY_SYNC, 14);
    model->activities.device[activity] = model->tracks.device[nine];
    assert_int_equal(vv_model_add_wait(model, &named, NULL), VARVE_OK);
    model->waits.stream[named] = event->said_stream;
    model->waits.correlation[named] = event->said_record;
    model->activities.wait[activity] = named;
    handmade_finish(model);
    return model;
}

static const char *name_at(const struct vv_critical_graph *graph, uint32_t node)
{
    return vv_text_of(graph->model, graph->model->slices.name[graph->event[node]]);
}

static void expect_wait_for(const struct vv_critical_graph *graph, const struct recorded *event)
{
    size_t waits = 0;
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct vv_critical_edge *edge = &graph->edges[i];
        if (edge->link != VV_LINK_WAIT)
            continue;
        waits++;
        assert_string_equal(name_at(graph, edge->to), "cudaEventSynchronize");
        if (strcmp(name_at(graph, edge->from), event->awaited) != 0)
            fail_msg("recorded %s: waits for '%s', not '%s'", event->what,
                     name_at(graph, edge->from), event->awaited);
    }
    assert_int_equal(waits, 1);
}

/* The graph of the model's step; all of it ends with the scratch and the model. */
static void make_graph(struct vv_critical_graph *out_graph, const struct vv_model *model,
                       struct vv_scratch *scratch)
{
    static struct vv_question question;
    static struct vv_scope scope;
    static struct vv_critical_windows windows;
    static const struct vv_host_collectives none;
    question = (struct vv_question)VV_QUESTION_ALL;
    assert_int_equal(vv_scope_init(&scope, model, &question.selection, scratch, NULL), VARVE_OK);
    assert_int_equal(vv_critical_windows_init(&windows, &scope, &question, &none, NULL), VARVE_OK);
    assert_int_equal(vv_critical_graph_init(out_graph, &scope, &question, &windows, &none, NULL),
                     VARVE_OK);
}

static void an_event_is_awaited_by_what_was_recorded(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct vv_critical_graph graph;
        struct vv_model *model = make(&events[i]);
        make_graph(&graph, model, &scratch);
        expect_wait_for(&graph, &events[i]);
        vv_model_destroy(model);
    }
    vv_scratch_deinit(&scratch);
}

/* A program marks its own wait as a range of the layer, from 150 to 400; "first" and "last" end
 * before that on two streams. Two edges: a wait for the device awaits both. One: it awaits the
 * last. None: the layer, or the name, is not that of a call that waits. */
static const struct marked {
    const char *name;
    uint16_t layer;
    size_t waits;
} marked[] = {
    { "cpuDeviceSynchronize", VARVE_LAYER_RUNTIME, 2 },
    { "clFinish", VARVE_LAYER_RUNTIME, 1 },
    { "clWaitForEvents", VARVE_LAYER_RUNTIME_L1, 1 },
    { "model_wait", VARVE_LAYER_RUNTIME, 0 },
    { "cpuDeviceSynchronize", VARVE_LAYER_API, 0 },
};

static void a_range_of_a_runtime_waits_as_a_call_does(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        struct vv_critical_graph graph;
        size_t waits = 0;
        struct vv_model *model = handmade_model();
        uint32_t host = handmade_track(model, "host", 100);
        handmade_step(model, host, 1, 0, 1000);
        handmade_call(model, host, "launch", 11, 100, 100 + CALL_NS);
        handmade_call(model, host, "launch", 12, 120, 120 + CALL_NS);
        handmade_work(model, handmade_stream(model, 0, 1), "first", 11, 110, 300);
        handmade_work(model, handmade_stream(model, 0, 2), "last", 12, 130, 350);
        handmade_slice(model, host, marked[i].name, marked[i].layer, 150, 400);
        handmade_finish(model);
        make_graph(&graph, model, &scratch);
        for (size_t k = 0; k < graph.edge_count; k++) {
            if (graph.edges[k].link != VV_LINK_WAIT)
                continue;
            waits++;
            if (marked[i].waits == 1)
                assert_string_equal(name_at(&graph, graph.edges[k].from), "last");
        }
        assert_int_equal(waits, marked[i].waits);
        vv_model_destroy(model);
    }
    vv_scratch_deinit(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_awaited_by_what_was_recorded),
        cmocka_unit_test(a_range_of_a_runtime_waits_as_a_call_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
