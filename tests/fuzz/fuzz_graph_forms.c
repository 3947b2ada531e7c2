/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_graph_forms.c — any graph, written in each form and read again: the same graph. Two forms
 * cannot hold all of it: GraphML no control characters, and Model Explorer not the order of edges,
 * so what it reads must be written as the same bytes. To start Graphviz costs more than all of
 * that: Graphviz places the nodes of every 16th graph, and our own layout those of the others. */
#include <stdio.h>
#include <string.h>

#include "../support/imported_bytes.h"
#include "made_dag.h"
#include "graph/dag/laws.h"
#include "graph/forms/forms.h"
#include "graph/picture/picture.h"

/* ---- written, and read ---- */

struct written { char *text; size_t bytes; };

static struct vv_picture_options options;

static struct written write_form(const struct vv_dag *dag, const char *name)
{
    const struct vv_form *form;
    struct vv_picture picture;
    struct written written = { NULL, 0 };
    FILE *stream = open_memstream(&written.text, &written.bytes);
    must(stream != NULL && vv_form_find(name, "", &form, NULL) == VARVE_OK);
    must(vv_picture_init(&picture, dag, &options, NULL) == VARVE_OK);
    must(form->write(dag, &picture, stream, NULL) == VARVE_OK);
    vv_picture_deinit(&picture);
    must(fclose(stream) == 0);
    return written;
}

static bool is_same(struct written one, struct written other)
{
    return one.bytes == other.bytes && memcmp(one.text, other.text, one.bytes) == 0;
}

static void check_form(const struct vv_dag *dag, const char *name, const char *compared_as)
{
    struct written made = write_form(dag, name), want = write_form(dag, compared_as), got;
    struct varve_error error;
    struct vv_model *model;
    struct vv_dag back;
    if (imported_bytes(made.text, made.bytes, &model, &error) != VARVE_OK) {
        fprintf(stderr, "%s: %s\n", name, error.message);
        abort();
    }
    must(vv_dag_init(&back, NULL) == VARVE_OK);
    must(vv_dag_from_model(model, &back, NULL) == VARVE_OK);
    got = write_form(&back, compared_as);
    if (!is_same(got, want)) {
        fprintf(stderr, "%s:\n%s\n%s\n", name, want.text, got.text);
        abort();
    }
    vv_dag_deinit(&back);
    vv_model_destroy(model);
    free(made.text);
    free(want.text);
    free(got.text);
}

/* Does GraphML hold all texts of the graph? */
static bool is_free_of_controls(const struct vv_dag *dag)
{
    for (uint32_t id = 0; id < dag->strings.count; id++)
        for (const char *at = vv_dag_string(dag, id); *at != '\0'; at++)
            if ((unsigned char)*at < ' ' && strchr("\t\n\r", *at) == NULL)
                return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw draw = { data, data + size };
    struct vv_dag dag;
    unsigned sum = (unsigned)size;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    options.is_alone = (sum >> 8) % 16 != 0;
    make_dag(&dag, &draw);
    if (vv_dag_check(&dag, NULL) == VARVE_OK) {
        check_form(&dag, "json", "json");
        check_form(&dag, "node-link", "json");
        check_form(&dag, "dot", "json");
        check_form(&dag, "html", "json");
        check_form(&dag, "svg", "json");
        if (is_free_of_controls(&dag))
            check_form(&dag, "graphml", "json");
        check_form(&dag, "model-explorer", "model-explorer");
    }
    vv_dag_deinit(&dag);
    return 0;
}
