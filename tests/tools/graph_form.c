/* SPDX-License-Identifier: Apache-2.0 */
/* graph_form.c — writes the graph of a trace in a form, for tests of forms and their readers.
 *
 *     graph_form FORM [--second] [--compat TOOL] PATH...
 *
 * The graph is the one that the input is, or that is built of it; it goes to standard output, with
 * --second the form's second file. Exit 3: the input cannot be read; 4: there is no such form or
 * graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build/build.h"
#include "graph/forms/forms.h"
#include "graph/picture/picture.h"
#include "import/importer.h"

static enum varve_code get_graph(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_dag *out_dag, struct varve_error *error)
{
    if (model->dag_nodes.table.count == 0 || question->compat != NULL)
        return vv_graph_build(model, question, out_dag, error);
    VV_TRY(vv_dag_init(out_dag, error));
    return vv_dag_from_model(model, out_dag, error);
}

static enum varve_code write_graph(const struct vv_dag *dag, const char *name, bool is_second,
                                   struct varve_error *error)
{
    const struct vv_form *form;
    struct vv_picture picture;
    VV_TRY(vv_form_find(name, NULL, &form, error));
    vv_form_write *write = !is_second                ? form->write
                           : form->further_count > 0 ? form->further[0].write
                                                     : NULL;
    if (write == NULL)
        VV_FAIL(error, VARVE_INVALID, "it has no second file");
    VV_TRY(vv_picture_init(&picture, dag, NULL, error));
    enum varve_code code = write(dag, &picture, stdout, error);
    vv_picture_deinit(&picture);
    return code;
}

int main(int count, char **words)
{
    struct vv_question question = VV_QUESTION_ALL;
    struct varve_error error = { 0 };
    struct vv_model *model;
    struct vv_dag dag;
    bool is_second = false;
    int at = 2;
    for (; at < count && strncmp(words[at], "--", 2) == 0; at++)
        if (strcmp(words[at], "--second") == 0)
            is_second = true;
        else
            question.compat = words[++at];
    if (at >= count || vv_import_all((const char *const *)&words[at], (size_t)(count - at), NULL,
                                     &model, &error) != VARVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 3;
    }
    enum varve_code code = get_graph(model, &question, &dag, &error);
    if (code == VARVE_OK) {
        code = write_graph(&dag, words[1], is_second, &error);
        vv_dag_deinit(&dag);
    }
    if (code != VARVE_OK)
        fprintf(stderr, "%s\n", error.message);
    vv_model_destroy(model);
    return code == VARVE_OK ? 0 : 4;
}
