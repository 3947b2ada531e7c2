/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dag.c — varve dag: the graph of what ran, as tables, or as a file in another tool's form.
 * doc/graph.md.
 *
 * An existing file of that name becomes NAME.old. The new file appears complete or not at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/former.h"
#include "cli/reading/output.h"
#include "cli/reading/reading.h"
#include "graph/forms/forms.h"
#include "graph/graph.h"
#include "graph/picture/picture.h"
#include "sheet/number.h"

enum { STILL_NODES = 40, STILL_NODES_MAX = 60 }; /* of a picture, where nobody says how many */

struct drawing {
    const struct vv_arguments *arguments;
    const struct vv_form *form;
    struct vv_question question;
    struct vv_picture_options options;
};

static void say_written(const char *path, bool has_former, const struct vv_picture *picture)
{
    const struct vv_dag *dag = picture->dag;
    struct stat status;
    char text[VV_NUMBER_BYTES];
    FILE *line = vv_say_begin("varve: ");
    if (line == NULL)
        return;
    fprintf(line, "wrote %s", path);
    if (stat(path, &status) == 0) {
        vv_number_bytes((int64_t)status.st_size, text, sizeof text);
        fprintf(line, "  %s", text);
    }
    vv_number_count((int64_t)dag->nodes.table.count, text, sizeof text);
    fprintf(line, "  %s node%s", text, dag->nodes.table.count == 1 ? "" : "s");
    vv_number_count((int64_t)dag->edges.table.count, text, sizeof text);
    fprintf(line, "  %s edge%s", text, dag->edges.table.count == 1 ? "" : "s");
    if (picture->whole_ns > 0) {
        vv_number_duration(picture->whole_ns, text, sizeof text);
        fprintf(line, "  %s", text);
    }
    if (vv_dag_find_note(dag, "nodes") != NULL)
        fprintf(line, "  (%s)", vv_dag_find_note(dag, "nodes"));
    if (has_former)
        fprintf(line, "  (former: %s.old)", path);
    vv_say_end(line);
}

static enum varve_code write_file(const struct drawing *drawing, const struct vv_picture *picture,
                                  const char *path, vv_form_write *write,
                                  struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    bool has_former = false, is_file = strcmp(path, "-") != 0;
    enum varve_code code = vv_output_open(&output, path, error);
    if (code == VARVE_OK)
        code = write(picture->dag, picture, output.stream, error);
    if (code == VARVE_OK)
        code = vv_output_commit_beside(&output, &has_former, error);
    vv_output_abandon(&output);
    if (code == VARVE_OK && is_file && !drawing->arguments->quiet)
        say_written(path, has_former, picture);
    return code;
}

/* "graph_data.json" beside "graph.json". They come after it, so that none is left alone. */
static enum varve_code write_further(const struct drawing *drawing,
                                     const struct vv_picture *picture, const char *path,
                                     struct varve_error *error)
{
    const struct vv_form *form = drawing->form;
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < form->further_count && code == VARVE_OK; i++) {
        char *beside;
        if (form->further[i].is_due != NULL && !form->further[i].is_due(picture))
            continue;
        VV_TRY(vv_form_further_path(form, i, path, &beside, error));
        code = write_file(drawing, picture, beside, form->further[i].write, error);
        free(beside);
    }
    return code;
}

static uint64_t count_leaves(const struct vv_dag *dag)
{
    uint64_t count = 0;
    for (uint64_t row = 0; row < dag->nodes.table.count; row++)
        count += dag->nodes.kind[row] != VV_DAG_GROUP;
    return count;
}

/* A picture of hundreds of nodes shows nothing. If nothing else is said, it has those with most
 * self time. A graph that is drawn as it is, such as that of a file, is drawn whole. */
static enum varve_code make_graph(const struct drawing *drawing, const struct vv_model *model,
                                  struct vv_dag *out_dag, struct varve_error *error)
{
    const struct vv_arguments *arguments = drawing->arguments;
    struct vv_question fewer = drawing->question;
    VV_TRY(vv_graph_make(model, &drawing->question, out_dag, error));
    uint64_t count = count_leaves(out_dag);
    if (!drawing->form->is_still || arguments->said[VV_OPTION_TOP] || fewer.around != NULL ||
        vv_graph_stays(model, &fewer) || count <= STILL_NODES_MAX)
        return VARVE_OK;
    vv_dag_deinit(out_dag);
    fewer.top = STILL_NODES;
    VV_TRY(vv_graph_make(model, &fewer, out_dag, error));
    return vv_dag_note(out_dag, error, "nodes",
                       "the %d of %" PRIu64 " with most self time; --top 0 draws all", STILL_NODES,
                       count);
}

static enum varve_code draw(const struct drawing *drawing, const struct vv_model *model,
                            struct varve_error *error)
{
    const char *path = drawing->arguments->output;
    struct vv_picture picture;
    struct vv_dag dag;
    VV_TRY(make_graph(drawing, model, &dag, error));
    enum varve_code code = vv_picture_init(&picture, &dag, &drawing->options, error);
    if (code == VARVE_OK) {
        code = write_file(drawing, &picture, path, drawing->form->write, error);
        if (code == VARVE_OK)
            code = write_further(drawing, &picture, path, error);
        vv_picture_deinit(&picture);
    }
    vv_dag_deinit(&dag);
    return code;
}

/* All that can be wrong with the command line is said before a trace is read. */
static enum varve_code prepare(const struct vv_arguments *arguments, struct drawing *drawing,
                               struct varve_error *error)
{
    drawing->arguments = arguments;
    const char *form = arguments->form;
    if (form == NULL && arguments->compat != NULL && strcmp(arguments->compat, "mlirgraph") == 0 &&
        strstr(arguments->output, ".json") != NULL)
        form = "mlirgraph";
    if (form == NULL && strcmp(arguments->output, "-") == 0)
        VV_FAIL_SAID(error, VARVE_INVALID, "-o - needs the form: --form dot");
    if (form == NULL)
        VV_TRY(vv_refuse_compressed(arguments->output, "varve dag", error));
    VV_TRY(vv_form_find(form, arguments->output, &drawing->form, error));
    if (drawing->form->is_binary && vv_output_is_terminal(arguments->output))
        VV_FAIL_SAID(error, VARVE_INVALID, "a terminal shows no %s: name a file, as in -o graph%s",
                     drawing->form->name, drawing->form->extension);
    if (drawing->form->further_count > 0 && strcmp(arguments->output, "-") == 0)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "form %s is several files, so it needs a name: -o graph%s",
                     drawing->form->name, drawing->form->extension);
    VV_TRY(vv_picture_options_read(&drawing->options, arguments->metric, arguments->colours,
                                   arguments->theme, error));
    VV_TRY(vv_reading_question(arguments, &drawing->question, error));
    drawing->question.top = arguments->said[VV_OPTION_TOP] ? arguments->top : 0;
    return VARVE_OK;
}

static int write_picture(const struct vv_arguments *arguments)
{
    struct drawing drawing = { .form = NULL };
    struct vv_reading reading;
    struct varve_error error;
    if (prepare(arguments, &drawing, &error) != VARVE_OK)
        return vv_print_error(&error);
    if (drawing.form->find != NULL && drawing.form->find(&error) != VARVE_OK) {
        (void)vv_print_error(&error);
        return VV_EXIT_LACKING;
    }
    int status = vv_reading_open(arguments, &reading);
    if (status == VV_EXIT_DONE) {
        enum varve_code code = draw(&drawing, reading.model, &error);
        status = code == VARVE_OK             ? VV_EXIT_DONE
                 : vv_is_output_failure(code) ? vv_output_complain(arguments->output, &error)
                                              : vv_print_error(&error);
        status = vv_reading_verdict(arguments, &reading, status);
    }
    vv_reading_close(&reading);
    return status;
}

vv_run_verb vv_cmd_dag;

int vv_cmd_dag(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "graph", "graph_nodes", NULL };
    bool is_table = arguments->table != NULL || arguments->json || arguments->csv ||
                    arguments->md || arguments->said[VV_OPTION_FORMAT];
    struct varve_error error;
    if (arguments->output != NULL && !is_table)
        return write_picture(arguments);
    if (arguments->form != NULL) {
        (void)vv_with_next(&error, VV_NEXT_IS_SAID,
                           vv_fail(&error, VARVE_INVALID,
                                   "--form writes a file: name it, as in -o graph.svg, or -o -"));
        return vv_print_error(&error);
    }
    return vv_reading_print(arguments, "dag", tables, 0);
}
