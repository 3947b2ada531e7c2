/* SPDX-License-Identifier: Apache-2.0 */
/* built_graph.c — the graph of a trace before it is folded, for tests of what always holds.
 *
 *     built_graph [--of GRAPH] [--edges LIST] [--steps A..B] [--thread T] [--device D] [--rank R]
 *                 [--filter F] [--compat TOOL] [--break-cycles] PATH...
 *
 * One JSON object: "notes" {key: text}, "nodes" and "edges", rows in the order of "node_columns"
 * and "edge_columns"; "processor_s". Exit 3: the input cannot be read; 4: no graph is
 * made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/json_write.h"
#include "graph/build/build.h"
#include "import/importer.h"

static const char *text(const struct vv_dag *dag, uint32_t id)
{
    return vv_dag_string(dag, id);
}

static void put_text(const char *value)
{
    vv_json_write_text(stdout, value);
    fputs(", ", stdout);
}

static void put_node(const struct vv_dag *dag, uint64_t row)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    fputs(row == 0 ? "\n[" : ",\n[", stdout);
    put_text(text(dag, nodes->name[row]));
    put_text(vv_dag_kind_word(nodes->kind[row]));
    put_text(text(dag, nodes->where[row]));
    put_text(text(dag, nodes->device[row]));
    put_text(text(dag, nodes->module[row]));
    put_text(text(dag, nodes->phase[row]));
    put_text(text(dag, nodes->inputs[row]));
    put_text(text(dag, nodes->outputs[row]));
    printf("%lld, %lld, %lld, %lld, %lld, %llu, %llu, %lld, %lld, %d]",
           (long long)nodes->begin_ns[row], (long long)nodes->end_ns[row],
           (long long)nodes->total_ns[row], (long long)nodes->self_ns[row],
           (long long)nodes->critical_ns[row], (unsigned long long)nodes->bytes[row],
           (unsigned long long)nodes->memory_bytes[row],
           nodes->level[row] == VV_NONE ? -1 : (long long)nodes->level[row],
           nodes->parent[row] == VV_NONE ? -1 : (long long)nodes->parent[row], nodes->flags[row]);
}

static void put_dag(const struct vv_dag *dag)
{
    fputs("{\"notes\": {", stdout);
    for (uint64_t row = 0; row < dag->notes.table.count; row++) {
        fputs(row == 0 ? "" : ", ", stdout);
        vv_json_write_text(stdout, text(dag, dag->notes.key[row]));
        fputs(": ", stdout);
        vv_json_write_text(stdout, text(dag, dag->notes.text[row]));
    }
    fputs("},\n\"node_columns\": [\"name\", \"kind\", \"where\", \"device\", \"module\", "
          "\"phase\", \"inputs\", \"outputs\", \"begin_ns\", \"end_ns\", \"total_ns\", "
          "\"self_ns\", \"critical_ns\", \"bytes\", \"memory_bytes\", \"level\", "
          "\"parent\", \"flags\"],\n"
          "\"edge_columns\": [\"from\", \"to\", \"kind\", \"name\", \"bytes\", \"flags\"],\n"
          "\"nodes\": [", stdout);
    for (uint64_t row = 0; row < dag->nodes.table.count; row++)
        put_node(dag, row);
    fputs("],\n\"edges\": [", stdout);
    for (uint64_t row = 0; row < dag->edges.table.count; row++) {
        printf("%s[%u, %u, \"%s\", ", row == 0 ? "\n" : ",\n", dag->edges.from[row],
               dag->edges.to[row], vv_dag_edge_word(dag->edges.kind[row]));
        put_text(text(dag, dag->edges.name[row]));
        printf("%llu, %d]", (unsigned long long)dag->edges.bytes[row], dag->edges.flags[row]);
    }
}

static int read_options(int count, char **words, struct vv_question *question)
{
    int at = 1;
    const struct { const char *word; const char **value; } options[] = {
        { "--of", &question->of }, { "--edges", &question->edges },
        { "--thread", &question->selection.thread }, { "--device", &question->selection.device },
        { "--rank", &question->selection.rank }, { "--filter", &question->selection.filter },
        { "--compat", &question->compat },
    };
    for (; at + 1 < count && strncmp(words[at], "--", 2) == 0; at++) {
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (strcmp(words[at], options[i].word) == 0)
                *options[i].value = words[at + 1];
        if (strcmp(words[at], "--steps") == 0 &&
            vv_selection_steps(&question->selection, words[at + 1], NULL) != VARVE_OK)
            exit(2);
        if (strcmp(words[at], "--break-cycles") == 0)
            question->break_cycles = true;
        else
            at++;
    }
    return at;
}

int main(int count, char **words)
{
    struct vv_question question = VV_QUESTION_ALL;
    struct varve_error error = { 0 };
    struct vv_model *model;
    struct vv_dag dag;
    int first = read_options(count, words, &question);
    if (first >= count ||
        vv_import_all((const char *const *)&words[first], (size_t)(count - first), NULL, &model,
                      &error) != VARVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 3;
    }
    clock_t begin = clock();
    enum varve_code code = vv_graph_build(model, &question, &dag, &error);
    double processor_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (code != VARVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        vv_model_destroy(model);
        return 4;
    }
    put_dag(&dag);
    printf("],\n\"processor_s\": %.3f}\n", processor_s);
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
    return 0;
}
