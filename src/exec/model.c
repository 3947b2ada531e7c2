/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/model.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/system/os.h"
#include "exec/graph.h"
#include "exec/subscriber.h"
#include "record/hot_path.h"
#include "record/process_folder.h"
#include "record/stream/process_stream.h"
#include "record/text_hash.h"

struct model_row {
    uint32_t number; /* 0 = the row is free. The row is number % VARVE_MODELS_MAX               */
    uint32_t graph;
    uint32_t serial; /* of the session that has its record; 0 = none                            */
    int64_t model_id, session_id;
    char name[VARVE_MODEL_NAME_BYTES + 1];
};

static struct model_row *rows; /* NULL until there is a model. Atomic */
static uint32_t last_number;

static struct model_row *row_of(uint32_t model)
{
    struct model_row *table = __atomic_load_n(&rows, __ATOMIC_ACQUIRE);
    struct model_row *row = table == NULL ? NULL : &table[model % VARVE_MODELS_MAX];
    bool is_there = row != NULL && __atomic_load_n(&row->number, __ATOMIC_ACQUIRE) == model;
    return model != 0 && is_there ? row : NULL;
}

/* ---- records ---- */

/* Lock held. */
static void write_record(struct model_row *row)
{
    if (row->serial == vv_session.serial || !vv_process_folder_ensure())
        return;
    uint64_t name = vv_string_id(row->name);
    const uint64_t record[] = { VV_EVENT_MODEL, (uint64_t)row->graph << 32 | row->number, name,
                                (uint64_t)row->model_id, (uint64_t)row->session_id };
    if (name == 0 || !vv_process_stream_put(record, 5))
        vv_thread_discard(&vv_self, 1);
    row->serial = vv_session.serial;
}

void vv_loaded_model_meet(uint32_t model, uint32_t *out_graph)
{
    *out_graph = 0;
    if (!vv_recorder_lock())
        return;
    struct model_row *row = row_of(model);
    if (row != NULL) {
        *out_graph = row->graph;
        if (varve_layers() != 0)
            write_record(row);
    }
    vv_recorder_unlock();
    if (*out_graph != 0 && varve_layers() != 0 && !vv_graph_is_ready(*out_graph))
        vv_graph_meet(*out_graph);
}

/* A range of the model begins, or the model is unloaded. A session that begins meanwhile gets the
 * model's record, too. */
static void put_event(struct vv_self *self, uint32_t model, enum vv_model_event event, int64_t step)
{
    const uint64_t fields[] = { (uint64_t)event << 32 | model, (uint64_t)step };
    uint32_t serial = __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED), graph;
    vv_put_fields(self, VV_EVENT_MODEL_EVENT, fields, 2);
    if (__atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED) != serial)
        vv_loaded_model_meet(model, &graph);
}

static void begin_range(uint32_t model, enum vv_model_event event, int64_t step)
{
    struct vv_self *self = vv_self_in_epoch();
    bool is_wanted = vv_is_wanted(self, VARVE_LAYER_RUNTIME);
    if (is_wanted)
        put_event(self, model, event, step);
    vv_push(self, is_wanted);
}

/* ---- loading ---- */

/* Lock held. */
static enum varve_code add(const struct varve_model_info *info, uint32_t *out_model,
                           struct varve_error *error)
{
    if (info->graph != 0 && !vv_graph_is_there(info->graph))
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_model_load_begin: there is no graph %u",
                info->graph);
    if (rows == NULL)
        __atomic_store_n(&rows, vv_os_reserve(VARVE_MODELS_MAX * sizeof *rows), __ATOMIC_RELEASE);
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY,
                "varve_model_load_begin: no memory for the table of models");
    for (uint32_t tried = 0; tried < VARVE_MODELS_MAX; tried++) {
        uint32_t number = ++last_number;
        struct model_row *row = &rows[number % VARVE_MODELS_MAX];
        if (number == 0 || row->number != 0)
            continue;
        const char *name = info->name != NULL ? info->name
                           : info->graph != 0 ? vv_graph_name(info->graph)
                                              : "";
        uint32_t length = vv_text_cut(name, VARVE_MODEL_NAME_BYTES);
        memcpy(row->name, name, length);
        row->name[length] = '\0';
        row->graph = info->graph;
        row->model_id = info->model_id;
        row->session_id = info->session_id;
        row->serial = 0;
        __atomic_store_n(&row->number, number, __ATOMIC_RELEASE);
        *out_model = number;
        return VARVE_OK;
    }
    VV_FAIL(error, VARVE_LIMIT, "varve_model_load_begin: at most %u models at the same time",
            VARVE_MODELS_MAX);
}

VARVE_API enum varve_code varve_model_load_begin(const struct varve_model_info *info,
                                                 uint32_t *out_model, struct varve_error *error)
{
    int saved_errno = errno;
    uint32_t graph;
    *out_model = 0;
    if (info == NULL || info->struct_size < sizeof *info)
        VV_FAIL(error, VARVE_INVALID,
                "varve_model_load_begin: struct_size is 0 or of an unknown version");
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE,
                "varve_model_load_begin: called by a signal handler inside a call of Varve's");
    enum varve_code code = add(info, out_model, error);
    vv_recorder_unlock();
    if (code == VARVE_OK) {
        vv_subscribers_tell(VARVE_EXECUTOR_LOAD_BEGIN, *out_model, info->graph, 0, -1);
        vv_loaded_model_meet(*out_model, &graph);
        if (varve_layers() != 0)
            begin_range(*out_model, VV_MODEL_LOAD, -1);
    }
    errno = saved_errno;
    return code;
}

static uint32_t graph_of(uint32_t model)
{
    const struct model_row *row = row_of(model);
    return row != NULL ? row->graph : 0;
}

VARVE_API void varve_model_load_end(uint32_t model)
{
    if (varve_layers() != 0)
        vv_emit_end();
    vv_subscribers_tell(VARVE_EXECUTOR_LOAD_END, model, graph_of(model), 0, -1);
}

VARVE_API void varve_model_unload(uint32_t model)
{
    uint32_t graph;
    struct model_row *row = row_of(model);
    if (row == NULL)
        return;
    vv_subscribers_tell(VARVE_EXECUTOR_UNLOAD, model, row->graph, 0, -1);
    if ((varve_layers() & VARVE_LAYER_RUNTIME) != 0) {
        vv_loaded_model_meet(model, &graph);
        put_event(vv_self_in_epoch(), model, VV_MODEL_UNLOAD, -1);
    }
    if (!vv_recorder_lock())
        return;
    __atomic_store_n(&row->number, 0, __ATOMIC_RELEASE);
    vv_recorder_unlock();
}

/* ---- executions ---- */

VARVE_API void varve_emit_model_begin(uint32_t model, int64_t step)
{
    uint32_t graph;
    vv_subscribers_tell(VARVE_EXECUTOR_MODEL_BEGIN, model, graph_of(model), 0, step);
    if (varve_layers() == 0)
        return;
    vv_loaded_model_meet(model, &graph);
    begin_range(model, VV_MODEL_EXECUTION, step);
}

VARVE_API void varve_emit_model_end(uint32_t model)
{
    if (varve_layers() != 0)
        vv_emit_end();
    vv_subscribers_tell(VARVE_EXECUTOR_MODEL_END, model, graph_of(model), 0, -1);
}
