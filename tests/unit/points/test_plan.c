/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of every shape, and the plan that each must get. Those marked "GE:" are shapes for which
 * GE's own search goes wrong, and how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_text.h"

struct shape {
    const char *title, *graph, *fp_point, *bp_point, *plan;
    const char *kind_reason; /* words that some point's reason has; NULL = not asked for        */
};

static const struct shape shapes[] = {
    { "a training step on one device",
      "[root data=Data! conv=Conv2D loss=Loss grad=Conv2DBackprop sgd=ApplyMomentum out=NetOutput "
      "data->conv conv->loss loss->grad grad->sgd sgd->out", NULL, NULL,
      "forward=conv backward=sgd iteration=out collective=- fetch=-",
      "found: the last of 1 node that 'out' (NetOutput), the output, waits for" },
    { "data-parallel: backward ends before the last all-reduce",
      "[root next=GetNext conv=Conv2D g2=Grad g1=Grad ar2=HcomAllReduce ar1=HcomAllReduce "
      "sgd=Apply out=NetOutput next->conv conv->g2 g2->ar2 g2->g1 g1->ar1 ar2->sgd ar1->sgd "
      "sgd->out", NULL, NULL,
      "forward=conv backward=g1 iteration=out collective=ar2,ar1 fetch=next",
      "'ar1' (HcomAllReduce), the last collective that reduces, waits for" },
    { "GE: several inputs: it looks at the first source alone",
      "[root label=Data! image=Data! conv=Conv2D loss=Loss out=NetOutput image->conv conv->loss "
      "label->loss loss->out", NULL, NULL,
      "forward=conv backward=loss iteration=out collective=- fetch=-",
      "found: the first of 2 nodes with a task that read what 2 sources bring in, here 'image'" },
    { "GE: several outputs of one source: it looks at output 0 alone",
      "[root next=IteratorV2 embed=Gather conv=Conv2D loss=Loss out=NetOutput next:1->embed "
      "next:0->loss embed->conv conv->loss loss->out", NULL, NULL,
      "forward=embed backward=loss iteration=out collective=- fetch=next", NULL },
    { "GE: no data: operator 0 gets the mark",
      "[root w=Const conv=Conv2D out=NetOutput w->conv conv->out", NULL, NULL,
      "forward=- backward=conv iteration=out collective=- fetch=-",
      "none: no node brings data in (Data, GetNext …): name the first reader with "
      "fp_point" },
    { "inference without collectives",
      "[root x=Data! conv=Conv2D relu=Relu out=NetOutput x->conv conv->relu relu->out", NULL, NULL,
      "forward=conv backward=relu iteration=out collective=- fetch=-",
      "none: none of the 4 nodes has a task and the type of a collective" },
    { "GE: other collectives are not traced: the last is a reduce-scatter",
      "[root x=Data! ag=HcomAllGather fwd=MatMul bwd=MatMulGrad rs=HcomReduceScatter sgd=Apply "
      "out=NetOutput x->fwd ag->fwd fwd->bwd bwd->rs rs->sgd sgd->out", NULL, NULL,
      "forward=fwd backward=bwd iteration=out collective=ag,rs fetch=-",
      "found: type HcomAllGather is all_gather" },
    { "what gathers parameters after the update does not end the backward pass",
      "[root x=Data! fwd=MatMul bwd=Grad rs=ncclReduceScatter adam=Adam ag=ncclAllGather "
      "out=NetOutput x->fwd fwd->bwd bwd->rs rs->adam adam->ag ag->out", NULL, NULL,
      "forward=fwd backward=bwd iteration=out collective=rs,ag fetch=-", NULL },
    { "a broadcast alone reduces nothing",
      "[root x=Data! b=HcomBroadcast fwd=MatMul out=NetOutput b->fwd x->fwd fwd->out", NULL, NULL,
      "forward=fwd backward=fwd iteration=out collective=b fetch=-", NULL },
    { "fused nodes keep their names",
      "[root x=Data! cbr=ConvBnRelu<conv1+bn1+relu1 loss=Loss g=FusedGrad<dbn+dconv out=NetOutput "
      "x->cbr cbr->loss loss->g g->out", "bn1", "dconv",
      "forward=cbr backward=g iteration=out collective=- fetch=-",
      "named: fp_point is 'bn1', one of the 3 nodes that were fused into it" },
    { "forward named, backward found",
      "[root x=Data! a=Cast b=Conv out=NetOutput x->a a->b b->out", "b", NULL,
      "forward=b backward=b iteration=out collective=- fetch=-", "named: fp_point is 'b'" },
    { "GE: backward named: without a node named Node_Output nothing is marked at all",
      "[root x=Data! a=Cast b=Conv c=Grad out=NetOutput x->a a->b b->c c->out", NULL, "b",
      "forward=a backward=b iteration=out collective=- fetch=-", "named: bp_point is 'b'" },
    { "both named", "[root x=Data! a=Cast b=Conv c=Grad out=NetOutput x->a a->b b->c c->out", "b",
      "c", "forward=b backward=c iteration=out collective=- fetch=-", NULL },
    { "the same name twice: the first for forward, the last for backward",
      "[root x=Data! n=Conv n=Conv n=Conv out=NetOutput x->n n->out", "n", "n",
      "forward=n backward=n iteration=out collective=- fetch=-",
      "named: bp_point is 'n', the last of 3 of that name" },
    { "GE: the producer is on another stream: it finds none",
      "[root x=Data! f=Conv g=Grad@0 ar=HcomAllReduce@1 out=NetOutput x->f f->g g->ar ar->out",
      NULL, NULL, "forward=f backward=g iteration=out collective=ar fetch=-",
      "waits for; none of them is on its stream" },
    { "of several producers the one on the same stream",
      "[root x=Data! f=Conv@1 g=Grad@1 h=Host@2 ar=HcomAllReduce@1 out=NetOutput x->f f->g f->h "
      "g->ar h=>ar ar->out", NULL, NULL,
      "forward=f backward=g iteration=out collective=ar fetch=-", "the last of 2 nodes that 'ar'" },
    { "a loop on the device ends its iterations itself",
      "[root next=GetNext f=Conv g=Grad FlowCtrl_LoopCond_ASSIGNADD=AssignAdd "
      "FlowCtrl_LoopCond_ASSIGN=Assign out=NetOutput next->f f->g g->out "
      "g=>FlowCtrl_LoopCond_ASSIGNADD g=>FlowCtrl_LoopCond_ASSIGN", NULL, NULL,
      "forward=f backward=g iteration=FlowCtrl_LoopCond_ASSIGNADD,FlowCtrl_LoopCond_ASSIGN "
      "collective=- fetch=next", NULL },
    { "GE: the data come from DynamicGetNext, or under the framework's type",
      "[root next=DynamicGetNextV2 more=FrameworkOp~DynamicGetNext f=Conv out=NetOutput next->f "
      "more->f f->out", NULL, NULL,
      "forward=f backward=f iteration=out collective=- fetch=next,more", NULL },
    { "GE: the backward operator is operator 0: it counts as not found",
      "[root g=Grad ar=HcomAllReduce out=NetOutput g->ar ar->out", NULL, NULL,
      "forward=- backward=g iteration=out collective=ar fetch=-", NULL },
    { "GE: backward end and all-reduce in one: a dynamic graph loses backward end",
      "[root x=Data! f=Conv a=HcomAllReduce b=HcomAllReduce out=NetOutput x->f f->a a->b b->out",
      NULL, NULL, "forward=f backward=a iteration=out collective=a,b fetch=-", NULL },
    { "GE: a reader without a task hides those behind it",
      "[root x=Data! shape=Reshape! f=Conv g=Grad view=Reshape! out=NetOutput! x->shape shape->f "
      "f->g g->view view->out", NULL, NULL,
      "forward=f backward=g iteration=g collective=- fetch=-",
      "found: no output has a task, so the last node that has one" },
    { "branches: each that may run is marked",
      "[then d=Data!^1 c1=Conv o=NetOutput! d->c1 c1->o "
      "[else d=Data!^1 c2=Conv c3=Conv o=NetOutput! d->c2 c2->c3 c3->o "
      "[root x=Data! p=Greater if=If!{then+else out=NetOutput! x->p p->if:0 x->if:1 if->out",
      NULL, NULL,
      "forward=p backward=then/c1,else/c3 iteration=then/c1,else/c3 collective=- fetch=-",
      ", in each body that may run" },
    { "the input of a body",
      "[body a=Data!^0 b=Data!^1 k=Conv m=Mul o=NetOutput! a->m b->k k->m m->o "
      "[root i=Const! x=Data! call=PartitionedCall!{body out=NetOutput i->call:0 x->call:1 "
      "call->out", NULL, NULL,
      "forward=body/k backward=body/m iteration=out collective=- fetch=-", NULL },
    { "bodies in bodies",
      "[inner d=Data!^0 f=Conv o=NetOutput! d->f f->o "
      "[outer d=Data!^0 call=PartitionedCall!{inner o=NetOutput! d->call call->o "
      "[root x=Data! call=While{outer out=NetOutput x->call call->out", NULL, NULL,
      "forward=inner/f backward=inner/f iteration=out collective=- fetch=-", NULL },
    { "a collective in a body waits for what comes from outside",
      "[body d=Data!^0 ar=HcomAllReduce o=NetOutput! d->ar ar->o "
      "[root x=Data! g=Grad call=PartitionedCall!{body out=NetOutput x->g g->call call->out", NULL,
      NULL, "forward=g backward=g iteration=out collective=body/ar fetch=-", NULL },
    { "the counter of steps is no part of a step",
      "[root x=Data! f=Conv g=Grad ge_global_step=Variable out=NetOutput x->f f->g g->out "
      "ge_global_step=>out", NULL, NULL,
      "forward=f backward=g iteration=out collective=- fetch=-", NULL },
    { "no output at all: TensorFlow's and PyTorch's words",
      "[root it=IteratorGetNext f=MatMul g=MatMulGrad r=CollectiveReduceV2 s=_Send v=_Recv "
      "b=aten::add_ it->f f->g g->r r->s v->b", NULL, NULL,
      "forward=f backward=g iteration=b collective=r,s,v fetch=it", "type _Send is send" },
    { "nothing has a task", "[root x=Data! y=NetOutput! x->y", NULL, NULL,
      "forward=- backward=- iteration=- collective=- fetch=-",
      "none: no node of the graph has a task" },
    { "an empty graph", "[root", NULL, NULL,
      "forward=- backward=- iteration=- collective=- fetch=-", NULL },
};

static struct varve_trace_plan *plan_of(const struct graph_text *graph, uint32_t numbering,
                                        const char *fp_point, const char *bp_point)
{
    struct varve_trace_options options = VARVE_TRACE_OPTIONS_INIT;
    struct varve_trace_plan *plan = NULL;
    struct varve_error error;
    options.numbering = numbering;
    options.fp_point = fp_point;
    options.bp_point = bp_point;
    if (varve_trace_plan(graph_text_root(graph), &options, &plan, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return plan;
}

static int has_reason(const struct varve_trace_plan *plan, const char *words)
{
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++)
        if (strstr(varve_trace_plan_point(plan, i)->reason, words) != NULL)
            return 1;
    return 0;
}

/* Each point has a reason; a pair is whole or not there; no two tags are the same. */
static void check_laws(const struct varve_trace_plan *plan)
{
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
        const struct varve_trace_point *a = varve_trace_plan_point(plan, i);
        int is_pair = a->kind == VARVE_POINT_COLLECTIVE || a->kind == VARVE_POINT_FETCH;
        assert_true(strlen(a->reason) > 10);
        assert_true((a->node >= 0) == (a->graph != NULL));
        assert_true((a->operation != NULL) == (a->kind == VARVE_POINT_COLLECTIVE && a->node >= 0));
        if (is_pair)
            assert_true((a->before_tag != 0) == (a->after_tag != 0));
        assert_true((a->before_tag != 0 || a->after_tag != 0) == (a->state == VARVE_POINT_FOUND));
        for (uint32_t j = 0; j < i; j++) {
            const struct varve_trace_point *b = varve_trace_plan_point(plan, j);
            assert_true(a->before_tag == 0 || a->before_tag != b->before_tag);
            assert_true(a->after_tag == 0 || a->after_tag != b->after_tag);
            assert_true(a->before_tag == 0 || a->before_tag != b->after_tag);
        }
    }
}

static void each_shape_has_its_plan(void **state)
{
    (void)state;
    char text[400];
    assert_true(sizeof shapes / sizeof *shapes >= 20);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *shape = &shapes[i];
        struct graph_text *graph = graph_text_read(shape->graph);
        struct varve_trace_plan *plan = plan_of(graph, VARVE_NUMBERING_OWN, shape->fp_point,
                                                shape->bp_point);
        plan_text(plan, text, sizeof text);
        if (strcmp(text, shape->plan) != 0)
            fail_msg("%s:\n  %s, not\n  %s", shape->title, text, shape->plan);
        if (shape->kind_reason != NULL && !has_reason(plan, shape->kind_reason))
            fail_msg("%s: no reason has '%s'; the first is '%s'", shape->title, shape->kind_reason,
                     varve_trace_plan_point(plan, 0)->reason);
        check_laws(plan);
        varve_trace_plan_destroy(plan);
        graph_text_free(graph);
    }
}

/* Which of three equal names it is, the numbers of the nodes say. */
static void names_twice_are_first_and_last(void **state)
{
    (void)state;
    struct graph_text *graph =
        graph_text_read("[root x=Data! n=Conv n=Conv n=Conv out=NetOutput x->n");
    struct varve_trace_plan *plan = plan_of(graph, VARVE_NUMBERING_OWN, "n", "n");
    assert_int_equal(varve_trace_plan_point(plan, 0)->node, 1);
    assert_int_equal(varve_trace_plan_point(plan, 1)->node, 3);
    varve_trace_plan_destroy(plan);
    graph_text_free(graph);
}

/* ---- tags ---- */

static void own_tags_have_a_space_for_each_kind(void **state)
{
    (void)state;
    struct graph_text *graph = graph_text_read(
        "[root n=GetNext f=Conv a=HcomAllReduce b=ncclAllGather out=NetOutput n->f f->a a->b");
    struct varve_trace_plan *plan = plan_of(graph, VARVE_NUMBERING_OWN, "", "");
    static const uint64_t tags[][2] = { { 0x200000000, 0 }, { 0, 0x300000001 }, { 0, 0x400000001 },
                                        { 0x500000000, 0x500000001 }, { 0x500000002, 0x500000003 },
                                        { 0x600000000, 0x600000001 } };
    assert_int_equal(varve_trace_plan_count(plan), 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(varve_trace_plan_point(plan, i)->before_tag, tags[i][0]);
        assert_int_equal(varve_trace_plan_point(plan, i)->after_tag, tags[i][1]);
    }
    assert_null(varve_trace_plan_point(plan, 6));
    varve_trace_plan_destroy(plan);
    graph_text_free(graph);
}

static void ges_tags_are_ges(void **state)
{
    (void)state;
    struct graph_text *graph = graph_text_read(
        "[root n=GetNext m=GetNext f=Conv a=HcomAllReduce b=HcomAllGather c=HorovodAllreduce "
        "out=NetOutput n->f f->a a->b b->c");
    struct varve_trace_plan *plan = plan_of(graph, VARVE_NUMBERING_GE, "", "");
    static const uint64_t tags[][2] = { { 2, 0 }, { 0, 3 }, { 0, 4 }, { 10000, 10001 }, { 0, 0 },
                                        { 10002, 10003 }, { 20000, 20001 }, { 20002, 20003 } };
    assert_int_equal(varve_trace_plan_count(plan), 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(varve_trace_plan_point(plan, i)->before_tag, tags[i][0]);
        assert_int_equal(varve_trace_plan_point(plan, i)->after_tag, tags[i][1]);
    }
    assert_int_equal(varve_trace_plan_point(plan, 4)->state, VARVE_POINT_REFUSED);
    assert_string_equal(varve_trace_plan_point(plan, 4)->reason,
                        "refused: GE's numbers are for HcomAllReduce and HorovodAllreduce, not for "
                        "'HcomAllGather'; found: type HcomAllGather is all_gather");
    check_laws(plan);
    varve_trace_plan_destroy(plan);
    graph_text_free(graph);
}

/* GE gives all-reduce 5,000 the number of fetch 0, and fetch 5,000 one that its loader drops. */
static void from_five_thousand_on_ge_has_no_numbers(void **state)
{
    (void)state;
    static struct varve_graph_node nodes[10002];
    struct varve_graph_info graph = VARVE_GRAPH_INFO_INIT;
    for (int i = 0; i < 10002; i++) {
        nodes[i] = (struct varve_graph_node)VARVE_GRAPH_NODE_INIT;
        nodes[i].name = "n";
        nodes[i].type = i < 5001 ? "HcomAllReduce" : "GetNext";
        nodes[i].task_type = VARVE_TASK_HCCL;
    }
    graph.nodes = nodes;
    graph.node_count = 10002;
    struct varve_trace_options options = VARVE_TRACE_OPTIONS_INIT;
    options.fp_point = options.bp_point = "";
    for (uint32_t numbering = 0; numbering < 2; numbering++) {
        struct varve_trace_plan *plan;
        options.numbering = numbering;
        assert_int_equal(varve_trace_plan(&graph, &options, &plan, NULL), VARVE_OK);
        assert_int_equal(varve_trace_plan_count(plan), 3 + 10002);
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t first = 3 + 5001 * k;
            const struct varve_trace_point *last = varve_trace_plan_point(plan, first + 4999),
                                           *over = varve_trace_plan_point(plan, first + 5000);
            bool is_ge = numbering == VARVE_NUMBERING_GE;
            assert_int_equal(last->after_tag, is_ge ? 19999 + 10000 * k
                                                    : VARVE_POINT_TAG(5 + k, 4999, 1));
            assert_int_equal(over->node, 5001 * k + 5000);
            assert_int_equal(over->before_tag, is_ge ? 0 : VARVE_POINT_TAG(5 + k, 5000, 0));
            assert_int_equal(over->state, is_ge ? VARVE_POINT_REFUSED : VARVE_POINT_FOUND);
        }
        varve_trace_plan_destroy(plan);
    }
}

/* ---- what is refused ---- */

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct { const char *graph, *fp_point, *bp_point; int code; const char *says; }
    wrong[] = {
        { "[root x=Data! conv1=Conv conv2=Conv", "conv3", "", VARVE_NOT_FOUND,
          "varve_trace_plan: fp_point: no node is called 'conv3'; nearest: 'conv1'" },
        { "[root x=Data! conv1=Conv<grad_w+grad_b", "", "grad_c", VARVE_NOT_FOUND,
          "varve_trace_plan: bp_point: no node is called 'grad_c'; nearest: 'grad_w'" },
        { "[root x=Data! conv1=Conv", "backbone/layer4", "", VARVE_NOT_FOUND,
          "varve_trace_plan: fp_point: none of 2 nodes is called 'backbone/layer4', nor alike; the "
          "first is 'x'" },
        { "[root x=Data! conv1=Conv", "x", "", VARVE_INVALID,
          "varve_trace_plan: fp_point: node 'x' has no task, so nothing marks it: name one that "
          "runs" },
        { "[root a=Add b=Add c=Add d=Add a->b b->c c->b c->d", "", "", VARVE_INVALID,
          "varve_trace_plan: the graph has a cycle of 2 nodes: 'b' -> 'c' -> 'b'" },
        { "[root a=Add a=>a", "", "", VARVE_INVALID,
          "varve_trace_plan: the graph has a cycle of 1 node: 'a' -> 'a'" },
        { "[body a=Add b=Add a->b b=>a [root x=Data! w=While{body", "", "", VARVE_INVALID,
          "varve_trace_plan: the graph has a cycle of 2 nodes: 'a' -> 'b' -> 'a'" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct varve_trace_options options = VARVE_TRACE_OPTIONS_INIT;
        struct varve_trace_plan *plan = (void *)&options;
        struct graph_text *graph = graph_text_read(wrong[i].graph);
        struct varve_error error;
        options.fp_point = wrong[i].fp_point;
        options.bp_point = wrong[i].bp_point;
        assert_int_equal(varve_trace_plan(graph_text_root(graph), &options, &plan, &error),
                         wrong[i].code);
        assert_string_equal(error.message, wrong[i].says);
        assert_null(plan);
        graph_text_free(graph);
    }
}

static void strange_structs_are_refused(void **state)
{
    (void)state;
    struct varve_graph_info graph = VARVE_GRAPH_INFO_INIT;
    struct varve_trace_options options = VARVE_TRACE_OPTIONS_INIT;
    struct varve_trace_plan *plan;
    assert_int_equal(varve_trace_plan(NULL, NULL, &plan, NULL), VARVE_INVALID);
    options.numbering = 2;
    assert_int_equal(varve_trace_plan(&graph, &options, &plan, NULL), VARVE_INVALID);
    options.numbering = 0;
    options.struct_size = 8;
    assert_int_equal(varve_trace_plan(&graph, &options, &plan, NULL), VARVE_INVALID);
    varve_trace_plan_destroy(NULL);
    assert_int_equal(varve_trace_plan_count(NULL), 0);
    assert_null(varve_trace_plan_point(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_has_its_plan),
        cmocka_unit_test(names_twice_are_first_and_last),
        cmocka_unit_test(own_tags_have_a_space_for_each_kind),
        cmocka_unit_test(ges_tags_are_ges),
        cmocka_unit_test(from_five_thousand_on_ge_has_no_numbers),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(strange_structs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
