/* SPDX-License-Identifier: Apache-2.0 */
/* rocprof.c — the importer of rocprofv3's JSON: {"rocprofiler-sdk-tool": [one object for each
 * process]}. */
#include "import/rocprof/rocprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "rocprofiler-sdk-tool"

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    struct vv_json json;
    (void)path;
    if (is_folder)
        return false;
    vv_json_init_text(&json, head, head_bytes);
    bool is_ours = vv_json_next(&json, NULL) == VARVE_OK && json.token == VV_JSON_OBJECT &&
                   vv_json_next(&json, NULL) == VARVE_OK && json.token == VV_JSON_NAME &&
                   vv_json_is(&json, ROOT);
    vv_json_deinit(&json);
    return is_ours;
}

static enum varve_code add_fact(struct vv_rocprof *rocprof, const char *key,
                                struct varve_error *error)
{
    struct vv_attribute value;
    VV_TRY(vv_attribute_take(&rocprof->json, rocprof->model, &value, error));
    return vv_attribute_to_fact(rocprof->model, rocprof->process, key, value, error);
}

/* ---- metadata ---- */

static enum varve_code take_node(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    struct vv_model *model = rocprof->model;
    for (;;) {
        char key[160];
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        bool is_host = vv_json_is(json, "hostname");
        snprintf(key, sizeof key, "node.%s", json->text);
        VV_TRY(vv_json_next(json, error));
        if (is_host && json->token == VV_JSON_STRING) {
            VV_TRY(
                vv_model_text(model, json->text, &model->processes.host[rocprof->process], error));
            model->run.host = model->processes.host[rocprof->process];
        }
        VV_TRY(add_fact(rocprof, key, error));
    }
}

/* Names the process from ["/usr/bin/python3", "-u", …]: by the first text. */
static enum varve_code name_process(struct vv_rocprof *rocprof, const char *json_text,
                                    struct varve_error *error)
{
    struct vv_json words;
    enum varve_code code = VARVE_OK;
    vv_json_init_text(&words, json_text, strlen(json_text));
    if (vv_json_next(&words, NULL) == VARVE_OK && words.token == VV_JSON_ARRAY &&
        vv_json_next(&words, NULL) == VARVE_OK && words.token == VV_JSON_STRING)
        code = vv_model_text(rocprof->model, words.text,
                             &rocprof->model->processes.name[rocprof->process], error);
    vv_json_deinit(&words);
    return code;
}

static enum varve_code take_metadata(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    struct vv_model *model = rocprof->model;
    if (json->token != VV_JSON_OBJECT)
        return add_fact(rocprof, "metadata", error);
    for (;;) {
        char key[160];
        struct vv_attribute value;
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(key, sizeof key, "%s", json->text);
        VV_TRY(vv_json_next(json, error));
        if (strcmp(key, "node") == 0 && json->token == VV_JSON_OBJECT) {
            VV_TRY(take_node(rocprof, error));
            continue;
        }
        VV_TRY(vv_attribute_take(json, model, &value, error));
        VV_TRY(vv_attribute_to_fact(model, rocprof->process, key, value, error));
        if (strcmp(key, "pid") == 0 && value.kind == VV_ARG_INT)
            model->processes.pid[rocprof->process] = (int64_t)value.value;
        if (strcmp(key, "command") == 0 && value.kind == VV_ARG_JSON)
            VV_TRY(name_process(rocprof, vv_intern_text(&model->strings, (uint32_t)value.value),
                                error));
    }
}

/* ---- records ---- */

static enum varve_code take_buffers(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    for (;;) {
        char table[80];
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(table, sizeof table, "%s", json->text);
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY)
            VV_TRY(vv_rocprof_read_records(rocprof, table, error));
        else
            VV_TRY(vv_json_skip(json, error));
    }
}

/* Counts the elements of arrays that are not read. */
static enum varve_code take_callbacks(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    for (;;) {
        char key[160];
        int64_t count = 0;
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(key, sizeof key, "not read: callback_records.%s", json->text);
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_ARRAY) {
            VV_TRY(vv_json_skip(json, error));
            continue;
        }
        for (;;) {
            VV_TRY(vv_json_next(json, error));
            if (json->token == VV_JSON_ARRAY_END)
                break;
            VV_TRY(vv_json_skip(json, error));
            count++;
        }
        rocprof->model->health.ignored += (uint64_t)count;
        if (count > 0)
            VV_TRY(vv_attribute_to_fact(rocprof->model, rocprof->process, key,
                                        vv_attribute_int(count), error));
    }
}

/* ---- a process ---- */

static enum varve_code take_member(struct vv_rocprof *rocprof, const char *name,
                                   struct varve_error *error)
{
    static const struct {
        const char *name;
        enum varve_code (*take)(struct vv_rocprof *, struct varve_error *);
    } members[] = {
        { "metadata", take_metadata },
        { "agents", vv_rocprof_read_agents },
        { "kernel_symbols", vv_rocprof_read_symbols },
        { "strings", vv_rocprof_read_strings },
        { "buffer_records", take_buffers },
        { "callback_records", take_callbacks },
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, name) == 0)
            return members[i].take(rocprof, error);
    return add_fact(rocprof, name, error);
}

static enum varve_code read_members(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    for (;;) {
        char name[160];
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(name, sizeof name, "%s", json->text);
        VV_TRY(vv_json_next(json, error));
        VV_TRY(take_member(rocprof, name, error));
    }
}

static enum varve_code read_process(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct varve_error other;
    VV_TRY(vv_model_add_process(rocprof->model, &rocprof->process, error));
    rocprof->model->processes.scope[rocprof->process] = rocprof->scope;
    rocprof->model->processes.id_family[rocprof->process] = rocprof->process + 1;
    vv_arena_init(&rocprof->arena);
    enum varve_code code = read_members(rocprof, error);
    /* If the file is cut, the records before the cut get their names too. */
    if (code == VARVE_OK || code == VARVE_TRUNCATED) {
        enum varve_code naming = vv_rocprof_name_all(rocprof, code == VARVE_OK ? error : &other);
        if (naming != VARVE_OK && code == VARVE_TRUNCATED && error != NULL)
            *error = other;
        code = naming != VARVE_OK ? naming : code;
    }
    vv_row_map_deinit(&rocprof->rows);
    vv_arena_deinit(&rocprof->arena);
    free(rocprof->meanings);
    free(rocprof->pending);
    rocprof->meanings = NULL;
    rocprof->pending = NULL;
    rocprof->meaning_count = rocprof->meaning_capacity = 0;
    rocprof->pending_count = rocprof->pending_capacity = 0;
    return code;
}

static enum varve_code read_root(struct vv_rocprof *rocprof, struct varve_error *error)
{
    struct vv_json *json = &rocprof->json;
    VV_TRY(vv_json_next(json, error)); /* '{' and the name, which the probe has seen */
    VV_TRY(vv_json_next(json, error));
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "\"" ROOT "\" must be an array");
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            break;
        if (json->token != VV_JSON_OBJECT)
            return vv_fail_at(error, VARVE_CORRUPT, json->offset, "a process must be an object");
        VV_TRY(read_process(rocprof, error));
    }
    while (json->token != VV_JSON_END) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_NAME)
            VV_TRY(vv_json_skip(json, error));
    }
    return VARVE_OK;
}

static enum varve_code read_results(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_rocprof rocprof = { .model = job->model, .scope = job->scope };
    enum varve_code code =
        vv_json_init_source(&rocprof.json, vv_attribute_source, job->source, error);
    if (code == VARVE_OK)
        code = read_root(&rocprof, error);
    if (code == VARVE_TRUNCATED) {
        job->model->health.truncated_files++;
        code = VARVE_OK;
    }
    vv_json_deinit(&rocprof.json);
    return code;
}

const struct vv_importer vv_importer_rocprof = {
    .name = "rocprofv3",
    .title = "rocprofv3 JSON",
    .probe = probe,
    .read = read_results,
    .is_recording = vv_is_always_recording,
};
