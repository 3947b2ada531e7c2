/* SPDX-License-Identifier: Apache-2.0 */
#include "model/once.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

struct once {
    pthread_mutex_t lock; /* held while it is being found */
    bool is_found;
    struct vv_scratch scratch;
    alignas(16) unsigned char found[VV_ONCE_BYTES];
};

struct vv_onces {
    struct once items[VV_ONCE_COUNT];
};

enum varve_code vv_onces_create(struct vv_onces **out_onces, struct varve_error *error)
{
    struct vv_onces *onces = calloc(1, sizeof *onces);
    if (onces == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a model");
    for (int i = 0; i < VV_ONCE_COUNT; i++)
        pthread_mutex_init(&onces->items[i].lock, NULL);
    *out_onces = onces;
    return VARVE_OK;
}

void vv_onces_forget(struct vv_onces *onces)
{
    for (int i = 0; i < VV_ONCE_COUNT; i++) {
        vv_scratch_deinit(&onces->items[i].scratch);
        onces->items[i].is_found = false;
    }
}

void vv_onces_destroy(struct vv_onces *onces)
{
    if (onces == NULL)
        return;
    vv_onces_forget(onces);
    for (int i = 0; i < VV_ONCE_COUNT; i++)
        pthread_mutex_destroy(&onces->items[i].lock);
    free(onces);
}

static enum varve_code find_in(struct once *once, const struct vv_model *model, vv_once_fn *find,
                               struct varve_error *error)
{
    if (once->is_found)
        return VARVE_OK;
    memset(once->found, 0, sizeof once->found);
    enum varve_code code = find(model, &once->scratch, once->found, error);
    once->is_found = code == VARVE_OK;
    if (!once->is_found)
        vv_scratch_deinit(&once->scratch);
    return code;
}

enum varve_code vv_model_once(const struct vv_model *model, enum vv_once which, vv_once_fn *find,
                              void *out_found, size_t bytes, struct varve_error *error)
{
    struct once *once = &model->onces->items[which];
    pthread_mutex_lock(&once->lock);
    enum varve_code code = find_in(once, model, find, error);
    if (code == VARVE_OK)
        memcpy(out_found, once->found, bytes);
    pthread_mutex_unlock(&once->lock);
    return code;
}
