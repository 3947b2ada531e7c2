/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/forms/forms.h"

#include <stdio.h>
#include <string.h>

#include "base/text/nearest.h"

/* Of the forms with one extension, the first is written where no form is named. */
static const struct vv_form *const forms[] = {
    &vv_form_json, &vv_form_dot, &vv_form_graphml, &vv_form_html, &vv_form_node_link,
    &vv_form_model_explorer, &vv_form_mlirgraph, &vv_form_svg, &vv_form_png,
};
#define FORM_COUNT (sizeof forms / sizeof *forms)

const char *const vv_form_names[] = { "json", "dot", "graphml", "html", "node-link",
                                      "model-explorer", "mlirgraph", "svg", "png", NULL };
_Static_assert(sizeof vv_form_names / sizeof *vv_form_names == FORM_COUNT + 1, "one name each");

static const struct vv_form *by_name(const char *name)
{
    for (size_t i = 0; i < FORM_COUNT; i++)
        if (strcmp(name, forms[i]->name) == 0)
            return forms[i];
    return NULL;
}

/* The extension of the last part of a path, with its dot; or NULL. */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot > name ? dot : NULL;
}

static const struct vv_form *by_extension(const char *path)
{
    const char *extension = extension_of(path);
    for (size_t i = 0; i < FORM_COUNT && extension != NULL; i++)
        if (strcmp(extension, forms[i]->extension) == 0)
            return forms[i];
    return NULL;
}

static enum varve_code refuse_name(const char *name, struct varve_error *error)
{
    const char *nearest = vv_nearest(name, vv_form_names);
    (void)vv_fail(error, VARVE_INVALID, "no form is called '%.40s'. Known:", name);
    for (size_t i = 0; i < FORM_COUNT; i++)
        vv_error_add(error, "%s %s", i == 0 ? "" : ",", forms[i]->name);
    if (nearest != NULL)
        vv_error_add(error, ". Nearest: --form %s", nearest);
    return vv_with_next(error, VV_NEXT_IS_SAID, VARVE_INVALID);
}

static enum varve_code refuse_path(const char *path, struct varve_error *error)
{
    const char *extensions[FORM_COUNT + 1] = { NULL }, *extension = extension_of(path);
    size_t count = 0;
    (void)vv_fail(error, VARVE_INVALID,
                  "the name '%.120s' says no form of a graph. Let it end in", path);
    for (size_t i = 0; i < FORM_COUNT; i++) {
        bool is_first = true;
        for (size_t k = 0; k < count; k++)
            is_first = is_first && strcmp(extensions[k], forms[i]->extension) != 0;
        if (!is_first)
            continue;
        vv_error_add(error, "%s %s", count == 0 ? "" : ",", forms[i]->extension);
        extensions[count++] = forms[i]->extension;
    }
    const char *nearest = extension != NULL ? vv_nearest(extension, extensions) : NULL;
    if (nearest != NULL)
        vv_error_add(error, ". Nearest: %s", nearest);
    return vv_with_next(error, VV_NEXT_IS_SAID, VARVE_INVALID);
}

enum varve_code vv_form_find(const char *name, const char *path, const struct vv_form **out_form,
                             struct varve_error *error)
{
    const struct vv_form *form = name != NULL ? by_name(name) : by_extension(path);
    if (form == NULL)
        return name != NULL ? refuse_name(name, error) : refuse_path(path, error);
    *out_form = form;
    return VARVE_OK;
}

enum varve_code vv_form_further_path(const struct vv_form *form, size_t which, const char *path,
                                     char **out_path, struct varve_error *error)
{
    size_t length = strlen(path), extension = strlen(form->extension);
    bool has_extension =
        length > extension && strcmp(path + length - extension, form->extension) == 0;
    if (asprintf(out_path, "%.*s%s%s", (int)(has_extension ? length - extension : length), path,
                 form->further[which].suffix, form->extension) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a file");
    return VARVE_OK;
}
