/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_devices.c — takes the names of devices from deviceProperties, [{"id": 0, "name": "NVIDIA
 * H100", …}, …]. */
#include <stdio.h>
#include <string.h>

#include "base/text/json.h"
#include "import/chrome/reader.h"
#include "varve/varve.h"

static enum varve_code add_device(struct vv_model *model, int64_t id, const char *name,
                                  uint32_t scope, struct varve_error *error)
{
    uint32_t row, text;
    if (id < 0 || id > UINT16_MAX || name[0] == '\0')
        return VARVE_OK;
    VV_TRY(vv_model_text(model, name, &text, error));
    VV_TRY(vv_model_add_device(model, &row, error));
    model->devices.device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, id);
    model->devices.scope[row] = scope;
    model->devices.name[row] = text;
    return VARVE_OK;
}

static enum varve_code read_properties(struct vv_model *model, struct vv_json *json, uint32_t scope,
                                       struct varve_error *error)
{
    char called[200] = "";
    int64_t id = -1;
    while (json->token != VV_JSON_END) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT_END)
            VV_TRY(add_device(model, id, called, scope, error));
        if (json->token == VV_JSON_OBJECT || json->token == VV_JSON_OBJECT_END) {
            id = -1;
            called[0] = '\0';
        }
        if (json->token != VV_JSON_NAME)
            continue;
        bool is_id = vv_json_is(json, "id"), is_name = vv_json_is(json, "name");
        VV_TRY(vv_json_next(json, error));
        if (is_id && json->token == VV_JSON_INTEGER)
            id = json->integer;
        else if (is_name && json->token == VV_JSON_STRING)
            snprintf(called, sizeof called, "%s", json->text);
        else
            VV_TRY(vv_json_skip(json, error));
    }
    return VARVE_OK;
}

/* If the fact is not such a list, the devices have no names; that is no error. */
enum varve_code vv_kineto_devices(struct vv_chrome_reader *reader, struct varve_error *error)
{
    static const char word[] = "deviceProperties";
    struct vv_model *model = reader->model;
    uint32_t key = vv_intern_find(&model->strings, word, sizeof word - 1);
    for (uint64_t fact = reader->first_rows[VV_TABLE_FACTS]; fact < model->facts.table.count;
         fact++) {
        struct vv_json json;
        if (model->facts.key[fact] != key || model->facts.kind[fact] != VV_ARG_JSON)
            continue;
        const char *text = vv_intern_text(&model->strings, (uint32_t)model->facts.value[fact]);
        vv_json_init_text(&json, text, strlen(text));
        enum varve_code code = read_properties(model, &json, reader->job->scope, error);
        vv_json_deinit(&json);
        if (code == VARVE_NO_MEMORY || code == VARVE_LIMIT)
            return code;
    }
    return VARVE_OK;
}
