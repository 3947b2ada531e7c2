/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/forms/librsvg.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LIBRARY "librsvg-2.so.2" /* brings cairo and GObject, whose symbols are found through it */
#define FORMAT_ARGB32 0          /* cairo_format_t                                              */

struct handle;
struct surface;
struct context;
struct glib_error { uint32_t domain; int code; char *message; }; /* GError                      */

#define FUNCTIONS(X)                                                                               \
    X(struct handle *, rsvg_handle_new_from_data,                                                  \
      (const uint8_t *, size_t, struct glib_error **))                                             \
    X(int, rsvg_handle_render_document,                                                            \
      (struct handle *, struct context *, const struct vv_rsvg_viewport *, struct glib_error **))  \
    X(struct surface *, cairo_image_surface_create, (int, int, int))                               \
    X(int, cairo_surface_status, (struct surface *))                                               \
    X(int, cairo_surface_write_to_png_stream, (struct surface *, vv_png_take *, void *))           \
    X(void, cairo_surface_destroy, (struct surface *))                                             \
    X(struct context *, cairo_create, (struct surface *))                                          \
    X(void, cairo_destroy, (struct context *))                                                     \
    X(const char *, cairo_status_to_string, (int))                                                 \
    X(void, g_object_unref, (void *))                                                              \
    X(void, g_error_free, (struct glib_error *))

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
} rsvg;
static const char *missing; /* NULL = nothing is missing                                        */

static void find(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    missing = library == NULL ? LIBRARY : NULL;
#define FIND(result, name, parameters)                             \
    if (missing == NULL) {                                         \
        void *function = dlsym(library, #name);                    \
        memcpy(&rsvg.name, &function, sizeof function);            \
        missing = function == NULL ? #name : NULL;                 \
    }
    FUNCTIONS(FIND)
}

enum varve_code vv_librsvg_open(struct varve_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    if (missing != NULL)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "librsvg draws PNG pictures, and %s is missing: install it (Debian: "
                     "librsvg2-2), or write .svg or .html",
                     missing);
    return VARVE_OK;
}

static enum varve_code render(const struct vv_png_job *job, struct context *context,
                              struct varve_error *error)
{
    const struct vv_rsvg_viewport viewport = { 0, 0, (double)job->width * job->scale,
                                               (double)job->height * job->scale };
    struct glib_error *failure = NULL;
    struct handle *handle =
        rsvg.rsvg_handle_new_from_data((const uint8_t *)job->svg, job->length, &failure);
    bool is_drawn = handle != NULL &&
                    rsvg.rsvg_handle_render_document(handle, context, &viewport, &failure) != 0;
    if (handle != NULL)
        rsvg.g_object_unref(handle);
    if (!is_drawn)
        (void)vv_with_next(error, VV_NEXT_IS_SAID,
                           vv_fail(error, VARVE_UNSUPPORTED,
                                   "librsvg cannot draw this picture: %.200s. Write .svg or .html",
                                   failure != NULL ? failure->message : "no reason given"));
    if (failure != NULL)
        rsvg.g_error_free(failure);
    return is_drawn ? VARVE_OK : VARVE_UNSUPPORTED;
}

enum varve_code vv_librsvg_draw(const struct vv_png_job *job, struct varve_error *error)
{
    VV_TRY(vv_librsvg_open(error));
    struct surface *surface = rsvg.cairo_image_surface_create(
        FORMAT_ARGB32, job->width * job->scale, job->height * job->scale);
    struct context *context = rsvg.cairo_create(surface);
    int status = rsvg.cairo_surface_status(surface);
    enum varve_code code = status == 0 ? render(job, context, error) : VARVE_OK;
    rsvg.cairo_destroy(context);
    if (status == 0 && code == VARVE_OK)
        status = rsvg.cairo_surface_write_to_png_stream(surface, job->take, job->closure);
    rsvg.cairo_surface_destroy(surface);
    if (status != 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "cairo cannot draw this picture: %s",
                rsvg.cairo_status_to_string(status));
    return code;
}
