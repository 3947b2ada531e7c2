/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GRAPHS 16
#define NODES 32
#define LIST 8

struct one {
    char name[32];
    struct varve_graph_info info;
    struct varve_graph_node nodes[NODES];
    struct varve_graph_edge edges[NODES * 4];
    const char *origins[NODES][LIST];
    const struct varve_graph_info *bodies[NODES][LIST];
    uint32_t inputs[NODES]; /* next free input                                                   */
};

struct graph_text {
    char *text; /* cut into words                                                                */
    struct one graphs[GRAPHS];
    int count;
};

static struct one *named(struct graph_text *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->graphs[i].name, name) == 0)
            return &all->graphs[i];
    fail_msg("no graph %s", name);
    return NULL;
}

static void add_list(struct graph_text *all, struct one *graph, uint32_t n, char kind, char *names)
{
    struct varve_graph_node *node = &graph->nodes[n];
    for (char *rest, *name = strtok_r(names, "+", &rest); name; name = strtok_r(NULL, "+", &rest))
        if (kind == '<')
            graph->origins[n][node->origin_count++] = name;
        else
            graph->bodies[n][node->subgraph_count++] = &named(all, name)->info;
    node->origins = graph->origins[n];
    node->subgraphs = graph->bodies[n];
}

static void add_node(struct graph_text *all, struct one *graph, char *name, char *equals)
{
    uint32_t n = graph->info.node_count++;
    struct varve_graph_node *node = &graph->nodes[n];
    *node = (struct varve_graph_node)VARVE_GRAPH_NODE_INIT;
    *equals = '\0';
    node->name = name;
    node->type = equals + 1;
    node->task_type = VARVE_TASK_CPU;
    node->stream = 0;
    for (char *at = strpbrk(equals + 1, "!@~<^{"); at != NULL;) {
        char kind = *at, *value = at + 1;
        *at = '\0';
        at = strpbrk(value, "!@~<^{");
        char next = at != NULL ? *at : '\0';
        if (at != NULL)
            *at = '\0';
        if (kind == '!')
            node->task_type = VARVE_TASK_NONE;
        else if (kind == '@')
            node->stream = strtol(value, NULL, 10);
        else if (kind == '~')
            node->framework_type = value;
        else if (kind == '^')
            node->parent_input = (int32_t)strtol(value, NULL, 10);
        else
            add_list(all, graph, n, kind, value);
        if (at != NULL)
            *at = next;
    }
}

static uint32_t node_of(struct one *graph, char *end, uint32_t *out_port)
{
    char *colon = strchr(end, ':');
    *out_port = colon != NULL ? (uint32_t)strtoul(colon + 1, NULL, 10) : UINT32_MAX;
    if (colon != NULL)
        *colon = '\0';
    for (uint32_t n = 0; n < graph->info.node_count; n++)
        if (strcmp(graph->nodes[n].name, end) == 0)
            return n;
    fail_msg("no node %s", end);
    return 0;
}

static void add_edge(struct one *graph, char *from, char *arrow)
{
    struct varve_graph_edge *edge = &graph->edges[graph->info.edge_count++];
    int is_control = *arrow == '=';
    *arrow = '\0';
    edge->from_node = node_of(graph, from, &edge->from_output);
    edge->to_node = node_of(graph, arrow + 2, &edge->to_input);
    if (is_control) {
        edge->from_output = edge->to_input = VARVE_EDGE_CONTROL;
        return;
    }
    if (edge->from_output == UINT32_MAX)
        edge->from_output = 0;
    if (edge->to_input == UINT32_MAX)
        edge->to_input = graph->inputs[edge->to_node]++;
}

struct graph_text *graph_text_read(const char *text)
{
    struct graph_text *all = calloc(1, sizeof *all);
    struct one *graph = NULL;
    all->text = strdup(text);
    for (char *rest, *word = strtok_r(all->text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        char *arrow = strstr(word, "->") != NULL ? strstr(word, "->") : strstr(word, "=>");
        if (*word == '[') {
            graph = &all->graphs[all->count++];
            snprintf(graph->name, sizeof graph->name, "%s", word + 1);
            graph->info = (struct varve_graph_info)VARVE_GRAPH_INFO_INIT;
            graph->info.name = graph->name;
            graph->info.nodes = graph->nodes;
            graph->info.edges = graph->edges;
        } else if (arrow != NULL) {
            add_edge(graph, word, arrow);
        } else {
            add_node(all, graph, word, strchr(word, '='));
        }
    }
    return all;
}

const struct varve_graph_info *graph_text_root(const struct graph_text *graph)
{
    return &graph->graphs[graph->count - 1].info;
}

void graph_text_free(struct graph_text *graph)
{
    free(graph->text);
    free(graph);
}

static void add(char *text, size_t bytes, const char *words)
{
    size_t length = strlen(text);
    snprintf(text + length, bytes - length, "%s", words);
}

void plan_text(const struct varve_trace_plan *plan, char *out_text, size_t bytes)
{
    static const char *const kinds[] = { "", "model", "forward", "backward", "iteration",
                                         "collective", "fetch" };
    uint32_t last = 0;
    out_text[0] = '\0';
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
        const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
        if (point->kind != last) {
            add(out_text, bytes, last == 0 ? "" : " ");
            add(out_text, bytes, kinds[point->kind]);
        }
        add(out_text, bytes, point->kind != last ? "=" : ",");
        last = point->kind;
        if (point->node < 0) {
            add(out_text, bytes, "-");
            continue;
        }
        if (strcmp(point->graph->name, "root") != 0) {
            add(out_text, bytes, point->graph->name);
            add(out_text, bytes, "/");
        }
        add(out_text, bytes, point->graph->nodes[point->node].name);
        add(out_text, bytes, point->state == VARVE_POINT_REFUSED ? "(refused)" : "");
    }
}
