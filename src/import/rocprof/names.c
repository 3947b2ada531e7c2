/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — the meaning of the numbers in rocprofv3's records: kernels, operations, markers,
 * agents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/rocprof/rocprof.h"
#include "varve/varve.h"

/* ---- meanings ---- */

static enum varve_code add_meaning(struct vv_rocprof *rocprof, int64_t kind, int64_t number,
                                   const char *name, const char *json, struct varve_error *error)
{
    const struct vv_row_key key = { { number, 0, 0, kind } };
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_array_reserve(&rocprof->meanings, &rocprof->meaning_capacity,
                            rocprof->meaning_count + 1, sizeof *rocprof->meanings, error));
    struct vv_rocprof_meaning meaning = {
        vv_arena_text(&rocprof->arena, name, strlen(name)),
        vv_arena_text(&rocprof->arena, json, strlen(json)), -1, false
    };
    if (meaning.name == NULL || meaning.json == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a name");
    VV_TRY(vv_row_map_at(&rocprof->rows, &key, &place, &is_new, error));
    *place = (uint32_t)rocprof->meaning_count;
    rocprof->meanings[rocprof->meaning_count++] = meaning;
    return VARVE_OK;
}

struct vv_rocprof_meaning *vv_rocprof_meaning(struct vv_rocprof *rocprof, int64_t kind,
                                              int64_t number)
{
    const struct vv_row_key key = { { number, 0, 0, kind } };
    uint32_t index;
    return vv_row_map_find(&rocprof->rows, &key, &index) ? &rocprof->meanings[index] : NULL;
}

/* ---- kernel symbols ---- */

/* Reads an integer member from an object's text; it may be in an inner object:
 * {"id":{"handle":7}}. */
static int64_t integer_of(const char *text, const char *outer, const char *inner, int64_t otherwise)
{
    struct vv_json json;
    bool is_outer = false, is_inner = false;
    vv_json_init_text(&json, text, strlen(text));
    while (vv_json_next(&json, NULL) == VARVE_OK && json.token != VV_JSON_END) {
        if (json.token == VV_JSON_NAME && json.depth == 1)
            is_outer = vv_json_is(&json, outer), is_inner = inner == NULL;
        else if (json.token == VV_JSON_NAME && json.depth == 2)
            is_inner = inner != NULL && vv_json_is(&json, inner);
        else if (is_outer && is_inner && json.token == VV_JSON_INTEGER) {
            otherwise = json.integer;
            break;
        }
    }
    vv_json_deinit(&json);
    return otherwise;
}

/* The first of these members that is present and not empty is the name. */
static const char *const kernel_names[] = { "formatted_kernel_name", "demangled_kernel_name",
                                            "kernel_name" };
#define KERNEL_NAMES (sizeof kernel_names / sizeof *kernel_names)

struct symbol {
    int64_t id;
    char *names[KERNEL_NAMES];
};

static enum varve_code look_at_symbol(struct symbol *symbol, const char *text,
                                      struct varve_error *error)
{
    struct vv_json json;
    enum varve_code code = VARVE_OK;
    size_t name = KERNEL_NAMES;
    bool is_id = false;
    vv_json_init_text(&json, text, strlen(text));
    while (code == VARVE_OK && (code = vv_json_next(&json, error)) == VARVE_OK &&
           json.token != VV_JSON_END) {
        if (json.token == VV_JSON_NAME && json.depth == 1) {
            is_id = vv_json_is(&json, "kernel_id");
            for (name = 0; name < KERNEL_NAMES && !vv_json_is(&json, kernel_names[name]);)
                name++;
        } else if (is_id && json.depth == 1 && json.token == VV_JSON_INTEGER) {
            symbol->id = json.integer;
        } else if (name < KERNEL_NAMES && json.depth == 1 && json.token == VV_JSON_STRING) {
            free(symbol->names[name]);
            symbol->names[name] = strdup(json.text);
            if (symbol->names[name] == NULL)
                code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a kernel's name");
        }
    }
    vv_json_deinit(&json);
    return code;
}

static enum varve_code take_symbol(struct vv_rocprof *rocprof, const char *text,
                                   struct varve_error *error)
{
    struct symbol symbol = { .id = -1 };
    const char *name = "";
    enum varve_code code = look_at_symbol(&symbol, text, error);
    for (size_t i = KERNEL_NAMES; i > 0; i--)
        if (symbol.names[i - 1] != NULL && symbol.names[i - 1][0] != '\0')
            name = symbol.names[i - 1];
    if (code == VARVE_OK && symbol.id >= 0)
        code = add_meaning(rocprof, VV_ROCPROF_KERNEL, symbol.id, name, text, error);
    if (code == VARVE_OK && symbol.id >= 0)
        rocprof->meanings[rocprof->meaning_count - 1].registers =
            integer_of(text, VV_ROCPROF_REGISTERS, NULL, -1);
    for (size_t i = 0; i < KERNEL_NAMES; i++)
        free(symbol.names[i]);
    return code;
}

/* Calls `take` for each element of an array, with its compact text. */
static enum varve_code each_element(struct vv_rocprof *rocprof,
                                    enum varve_code (*take)(struct vv_rocprof *, const char *,
                                                            struct varve_error *),
                                    struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    if (json->token != VV_JSON_ARRAY)
        return vv_json_skip(json, error);
    for (;;) {
        char *text;
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        if (json->token != VV_JSON_OBJECT) {
            VV_TRY(vv_json_skip(json, error));
            continue;
        }
        VV_TRY(vv_attribute_json_text(json, &text, error));
        enum varve_code code = take(rocprof, text, error);
        free(text);
        VV_TRY(code);
    }
}

enum varve_code vv_rocprof_read_symbols(struct vv_rocprof *rocprof, struct varve_error *error)
{
    return each_element(rocprof, take_symbol, error);
}

/* ---- agents ---- */

#define AGENT_CPU 1 /* value of "type" */
#define NAME_BYTES 200

/* Reads a text member from an object's text; "" if there is none. */
static void text_of(const char *text, const char *member, char out[NAME_BYTES])
{
    struct vv_json json;
    bool is_member = false, is_found = false;
    out[0] = '\0';
    vv_json_init_text(&json, text, strlen(text));
    while (!is_found && vv_json_next(&json, NULL) == VARVE_OK && json.token != VV_JSON_END) {
        is_found = is_member && json.token == VV_JSON_STRING;
        if (is_found)
            snprintf(out, NAME_BYTES, "%s", json.text);
        is_member = json.token == VV_JSON_NAME && json.depth == 1 && vv_json_is(&json, member);
    }
    vv_json_deinit(&json);
}

static enum varve_code add_device(struct vv_rocprof *rocprof, const char *text, int64_t index,
                                  struct varve_error *error)
{
    struct vv_model *model = rocprof->model;
    char called[NAME_BYTES];
    uint32_t row, name;
    text_of(text, "product_name", called);
    if (index < 0 || index > UINT16_MAX || called[0] == '\0')
        return VARVE_OK;
    VV_TRY(vv_model_text(model, called, &name, error));
    VV_TRY(vv_model_add_device(model, &row, error));
    model->devices.device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, index);
    model->devices.scope[row] = rocprof->scope;
    model->devices.name[row] = name;
    return VARVE_OK;
}

/* Programs count devices by an agent's number among those of its kind. */
static enum varve_code take_agent(struct vv_rocprof *rocprof, const char *text,
                                  struct varve_error *error)
{
    char key[64], name[32];
    int64_t handle = integer_of(text, "id", "handle", -1);
    int64_t type = integer_of(text, "type", NULL, 0);
    int64_t index =
        integer_of(text, "logical_node_type_id", NULL, integer_of(text, "node_id", NULL, handle));
    struct vv_attribute value = { VV_ARG_JSON, 0 };
    uint32_t string;
    snprintf(key, sizeof key, "agent %lld", (long long)handle);
    snprintf(name, sizeof name, "%s %lld", type == AGENT_CPU ? "CPU" : "GPU", (long long)index);
    VV_TRY(vv_model_text(rocprof->model, text, &string, error));
    value.value = string;
    VV_TRY(vv_attribute_to_fact(rocprof->model, rocprof->process, key, value, error));
    if (type != AGENT_CPU)
        VV_TRY(add_device(rocprof, text, index, error));
    return add_meaning(rocprof, VV_ROCPROF_AGENT, handle, name, "", error);
}

enum varve_code vv_rocprof_read_agents(struct vv_rocprof *rocprof, struct varve_error *error)
{
    return each_element(rocprof, take_agent, error);
}

/* ---- strings ---- */

/* Reads [{"kind": "HIP_RUNTIME_API", "operations": ["hipMalloc", …]}, …]. The place in the list is
 * the number of a kind or operation. */
static enum varve_code read_operations(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    int64_t kind = -1, operation = 0;
    bool in_operations = false;
    uint32_t outside = json->depth - 1;
    if (json->token != VV_JSON_ARRAY)
        return vv_json_skip(json, error);
    while (json->depth > outside) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT && json->depth == outside + 2)
            kind++;
        else if (json->token == VV_JSON_NAME)
            in_operations = vv_json_is(json, "operations"), operation = 0;
        else if (json->token == VV_JSON_STRING && in_operations)
            VV_TRY(add_meaning(rocprof, VV_ROCPROF_OPERATION, kind << 32 | operation++,
                               json->text, "", error));
    }
    return VARVE_OK;
}

/* Reads [{"key": correlation, "value": "text"}, …]. */
static enum varve_code take_marker(struct vv_rocprof *rocprof, const char *text,
                                   struct varve_error *error)
{
    struct vv_json json;
    bool is_value = false;
    enum varve_code code = VARVE_OK;
    int64_t key = integer_of(text, "key", NULL, -1);
    vv_json_init_text(&json, text, strlen(text));
    while (code == VARVE_OK && vv_json_next(&json, NULL) == VARVE_OK && json.token != VV_JSON_END) {
        if (json.token == VV_JSON_NAME)
            is_value = vv_json_is(&json, "value");
        else if (is_value && json.token == VV_JSON_STRING && key >= 0)
            code = add_meaning(rocprof, VV_ROCPROF_MARKER, key, json.text, "", error);
    }
    vv_json_deinit(&json);
    return code;
}

enum varve_code vv_rocprof_read_strings(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    for (;;) {
        char key[160];
        struct vv_attribute value;
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(key, sizeof key, "strings.%s", json->text);
        VV_TRY(vv_json_next(json, error));
        if (strcmp(key, "strings.buffer_records") == 0) {
            VV_TRY(read_operations(rocprof, error));
        } else if (strcmp(key, "strings.marker_api") == 0) {
            VV_TRY(each_element(rocprof, take_marker, error));
        } else if (strcmp(key, "strings.callback_records") == 0) {
            VV_TRY(vv_json_skip(json, error));
        } else {
            VV_TRY(vv_attribute_take(json, rocprof->model, &value, error));
            VV_TRY(vv_attribute_to_fact(rocprof->model, rocprof->process, key, value, error));
        }
    }
}

/* ---- replacing numbers by names ---- */

/* Keeps the data of a kernel symbol as a fact, once, if the kernel ran. */
static enum varve_code keep_symbol(struct vv_rocprof *rocprof, int64_t id,
                                   struct vv_rocprof_meaning *symbol, struct varve_error *error)
{
    struct vv_attribute value = { VV_ARG_JSON, 0 };
    char key[64];
    uint32_t string;
    if (symbol->is_used)
        return VARVE_OK;
    symbol->is_used = true;
    snprintf(key, sizeof key, "kernel %lld", (long long)id);
    VV_TRY(vv_model_text(rocprof->model, symbol->json, &string, error));
    value.value = string;
    return vv_attribute_to_fact(rocprof->model, rocprof->process, key, value, error);
}

/* Sets the number of registers. Its place is the slice's last argument, which is removed if the
 * number is not known. */
static void say_registers(struct vv_model *model, uint32_t slice,
                          const struct vv_rocprof_meaning *symbol)
{
    struct vv_slices *slices = &model->slices;
    uint32_t key =
        vv_intern_find(&model->strings, VV_ROCPROF_REGISTERS, strlen(VV_ROCPROF_REGISTERS));
    uint32_t last = slices->first_arg[slice] + slices->arg_count[slice] - 1;
    if (slices->arg_count[slice] == 0 || model->args.key[last] != key ||
        model->args.kind[last] != VV_ARG_NULL)
        return;
    if (symbol == NULL || symbol->registers < 0) {
        slices->arg_count[slice]--;
        return;
    }
    model->args.kind[last] = VV_ARG_INT;
    model->args.value[last] = (uint64_t)symbol->registers;
}

static enum varve_code name_tracks(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_tracks *tracks = &rocprof->model->tracks;
    for (uint64_t track = 0; track < tracks->table.count; track++) {
        char name[80];
        if (tracks->process[track] != rocprof->process || tracks->kind[track] != VV_TRACK_DEVICE)
            continue;
        int64_t handle = (int64_t)tracks->device[track]; /* the agent's handle, until now */
        const struct vv_rocprof_meaning *agent =
            vv_rocprof_meaning(rocprof, VV_ROCPROF_AGENT, handle);
        const char *called = agent != NULL ? agent->name : "agent";
        const char *number = strchr(called, ' ');
        bool is_cpu = strncmp(called, "CPU", 3) == 0;
        long index = number != NULL ? strtol(number, NULL, 10) : (long)handle;
        tracks->device[track] =
            VARVE_DEVICE(is_cpu ? VARVE_DEVICE_KIND_CPU : VARVE_DEVICE_KIND_OTHER, index);
        if (tracks->tid[track] >= 0)
            snprintf(name, sizeof name, "%s queue %lld", called, (long long)tracks->tid[track]);
        else
            snprintf(name, sizeof name, "%s copies", called);
        VV_TRY(vv_model_text(rocprof->model, name, &tracks->name[track], error));
    }
    return VARVE_OK;
}

enum varve_code vv_rocprof_name_all(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_model *model = rocprof->model;
    for (size_t i = 0; i < rocprof->pending_count; i++) {
        const struct vv_rocprof_pending *pending = &rocprof->pending[i];
        struct vv_rocprof_meaning *meaning =
            vv_rocprof_meaning(rocprof, pending->kind, pending->number);
        if (pending->kind == VV_ROCPROF_KERNEL)
            say_registers(model, pending->slice, meaning);
        if (meaning == NULL)
            continue;
        VV_TRY(vv_model_text(model, meaning->name, &model->slices.name[pending->slice], error));
        if (pending->kind == VV_ROCPROF_KERNEL)
            VV_TRY(keep_symbol(rocprof, pending->number, meaning, error));
    }
    VV_TRY(name_tracks(rocprof, error));
    /* An activity's device is that of its slice's track. */
    for (size_t i = 0; i < rocprof->pending_count; i++) {
        uint32_t slice = rocprof->pending[i].slice, activity = model->slices.activity[slice];
        uint32_t track = model->slices.track[slice];
        if (activity != VV_NONE && model->tracks.kind[track] == VV_TRACK_DEVICE)
            model->activities.device[activity] = model->tracks.device[track];
    }
    return VARVE_OK;
}
