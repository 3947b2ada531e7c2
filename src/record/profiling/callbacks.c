/* SPDX-License-Identifier: Apache-2.0 */
#include "record/profiling/callbacks.h"

#include <stdbool.h>
#include <stddef.h>

static struct callback {
    varve_profiling_callback *function; /* NULL: the place is free                              */
    void *context;
} callbacks[VARVE_PROFILING_CALLBACKS_MAX];

static struct callback *find(varve_profiling_callback *function, void *context)
{
    for (size_t i = 0; i < VARVE_PROFILING_CALLBACKS_MAX; i++)
        if (callbacks[i].function == function &&
            (function == NULL || callbacks[i].context == context))
            return &callbacks[i];
    return NULL;
}

static bool are_none(void)
{
    for (size_t i = 0; i < VARVE_PROFILING_CALLBACKS_MAX; i++)
        if (callbacks[i].function != NULL)
            return false;
    return true;
}

enum varve_code vv_callbacks_add(varve_profiling_callback *callback, void *context,
                                 bool *out_is_first, struct varve_error *error)
{
    if (callback == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_profiling_callback_add: the callback is NULL");
    if (find(callback, context) != NULL)
        VV_FAIL(error, VARVE_EXISTS, "this callback with this context has been added already");
    struct callback *place = find(NULL, NULL);
    if (place == NULL)
        VV_FAIL(error, VARVE_LIMIT, "at most %u control callbacks", VARVE_PROFILING_CALLBACKS_MAX);
    *out_is_first = are_none();
    *place = (struct callback){ callback, context };
    return VARVE_OK;
}

enum varve_code vv_callbacks_remove(varve_profiling_callback *callback, void *context,
                                    bool *out_is_last, struct varve_error *error)
{
    struct callback *place = callback != NULL ? find(callback, context) : NULL;
    if (place == NULL)
        VV_FAIL(error, VARVE_NOT_FOUND, "this callback with this context has not been added");
    *place = (struct callback){ NULL, NULL };
    *out_is_last = are_none();
    return VARVE_OK;
}

void vv_callbacks_tell(const struct varve_profiling_command *command)
{
    for (size_t i = 0; i < VARVE_PROFILING_CALLBACKS_MAX; i++)
        if (callbacks[i].function != NULL)
            callbacks[i].function(command, callbacks[i].context);
}
