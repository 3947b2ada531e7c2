/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h — the forms in which a graph is written: one file for each, and one row in forms.c.
 * import/graph reads every one of them. doc/graph.md. */
#ifndef VV_GRAPH_FORMS_FORMS_H
#define VV_GRAPH_FORMS_FORMS_H

#include <stdio.h>

#include "graph/dag/dag.h"

struct vv_picture;

/* Writes the graph; the picture is of this graph, and gives the colours. A form of data alone does
 * without: then it may be NULL. Failures of the stream stay in it: the caller checks ferror(). */
typedef enum varve_code vv_form_write(const struct vv_dag *dag, const struct vv_picture *picture,
                                      FILE *stream, struct varve_error *error);

struct vv_form_further {
    const char *suffix; /* "_data"                                                              */
    vv_form_write *write;
    bool (*is_due)(const struct vv_picture *picture); /* NULL: always                           */
};

struct vv_form {
    const char *name;      /* the word for --form: "graphml"                                    */
    const char *extension; /* ".graphml"; a form with another one's extension must be named     */
    const char *title;     /* "GraphML (NetworkX, yEd)"                                         */
    vv_form_write *write;
    /* Files beside the first: FILE_data.json beside FILE.json.                                 */
    const struct vv_form_further *further;
    size_t further_count;
    bool is_binary; /* nothing for a terminal                                                   */
    bool is_still;  /* a picture in which nobody can fold anything                              */
    /* Is what the form needs on this machine? NULL: it needs nothing. VARVE_UNSUPPORTED: no. */
    enum varve_code (*find)(struct varve_error *error);
};

extern const struct vv_form vv_form_json, vv_form_dot, vv_form_graphml, vv_form_html,
    vv_form_node_link, vv_form_model_explorer, vv_form_mlirgraph, vv_form_svg, vv_form_png;

/* The form called `name`; if that is NULL, the first one with the extension of `path`.
 * VARVE_INVALID: there is none; the message lists them. */
enum varve_code vv_form_find(const char *name, const char *path, const struct vv_form **out_form,
                             struct varve_error *error);

/* The path of a further file, beside `path`. The caller frees it. */
enum varve_code vv_form_further_path(const struct vv_form *form, size_t which, const char *path,
                                     char **out_path, struct varve_error *error);

/* The names of all forms, with a NULL at the end. */
extern const char *const vv_form_names[];

/* The graph as one JSON object, which holds all that the graph holds. SVG, HTML and PNG embed it:
 * with `is_markup`, "<", ">" and "&" are written as \u00XX, and nothing ends the element around it.
 * VARVE_NO_MEMORY: nothing was written. */
enum varve_code vv_form_put_json(const struct vv_dag *dag, bool is_markup, FILE *stream,
                                 struct varve_error *error);

#endif
