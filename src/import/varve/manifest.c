/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.c — reads manifest.json (doc/format.md §8): what was run, where, and how it ended. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/json.h"
#include "import/input/input_file.h"
#include "import/varve/process/process.h"

enum value { TEXT, INTEGER, COMMAND, FORMAT, CPU_TIME };

static const struct {
    const char *name;
    enum value value;
    size_t offset; /* in struct vv_run                                                          */
} keys[] = {
    { "varve_format", FORMAT, 0 },
    { "command", COMMAND, offsetof(struct vv_run, command) },
    { "directory", TEXT, offsetof(struct vv_run, directory) },
    { "host", TEXT, offsetof(struct vv_run, host) },
    { "kernel", TEXT, offsetof(struct vv_run, kernel) },
    { "machine", TEXT, offsetof(struct vv_run, machine) },
    { "cpus", INTEGER, offsetof(struct vv_run, cpus) },
    { "begin_realtime_ns", INTEGER, offsetof(struct vv_run, begin_ns) },
    { "end_realtime_ns", INTEGER, offsetof(struct vv_run, end_ns) },
    { "cpu_ns", CPU_TIME, 0 },
    { "exit_code", INTEGER, offsetof(struct vv_run, exit_code) },
    { "signal", INTEGER, offsetof(struct vv_run, signal) },
};

struct line {
    VV_ARRAY_OF(char) text;
};

static enum varve_code add_bytes(struct line *line, const char *bytes, size_t count,
                                 struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&line->text.items, &line->text.capacity, line->text.count + count, 1,
                            error));
    memcpy(line->text.items + line->text.count, bytes, count);
    line->text.count += count;
    return VARVE_OK;
}

static bool is_plain(const char *word, size_t length)
{
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_-+=:,./@%^";
    return length > 0 && strspn(word, others) == length;
}

/* Adds one word, quoted so that a shell reads it as one word. */
static enum varve_code add_word(struct line *line, const char *word, size_t length,
                                struct varve_error *error)
{
    if (line->text.count > 0)
        VV_TRY(add_bytes(line, " ", 1, error));
    if (is_plain(word, length))
        return add_bytes(line, word, length, error);
    VV_TRY(add_bytes(line, "'", 1, error));
    for (size_t i = 0; i < length; i++)
        VV_TRY(word[i] == '\'' ? add_bytes(line, "'\\''", 4, error)
                               : add_bytes(line, &word[i], 1, error));
    return add_bytes(line, "'", 1, error);
}

static enum varve_code read_command(struct vv_json *json, struct vv_model *model, uint32_t *out_id,
                                    struct varve_error *error)
{
    struct line line = { 0 };
    if (json->token != VV_JSON_ARRAY)
        return vv_json_skip(json, error);
    enum varve_code code = vv_json_next(json, error);
    while (code == VARVE_OK && json->token != VV_JSON_ARRAY_END) {
        if (json->token == VV_JSON_STRING)
            code = add_word(&line, json->text, json->length, error);
        else
            code = vv_json_skip(json, error);
        if (code == VARVE_OK)
            code = vv_json_next(json, error);
    }
    if (code == VARVE_OK && line.text.count > 0)
        code = vv_model_add_text(model, line.text.items, line.text.count, out_id, error);
    free(line.text.items);
    return code;
}

/* CPU time of the program and of what it started, as a fact of the run. */
static enum varve_code add_cpu_time(struct vv_model *model, int64_t cpu_ns,
                                    struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_fact(model, &row, error));
    VV_TRY(vv_model_text(model, "program_cpu_ns", &model->facts.key[row], error));
    model->facts.value[row] = (uint64_t)cpu_ns;
    model->facts.process[row] = VV_NONE;
    model->facts.kind[row] = VV_ARG_INT;
    return VARVE_OK;
}

/* Reads one value. A value of an unexpected type, from a later version, is skipped. */
static enum varve_code read_value(struct vv_json *json, struct vv_model *model, size_t key,
                                  struct varve_error *error)
{
    void *member = (char *)&model->run + keys[key].offset;
    if (keys[key].value == COMMAND)
        return read_command(json, model, member, error);
    if (keys[key].value == TEXT && json->token == VV_JSON_STRING)
        return vv_model_add_text(model, json->text, json->length, member, error);
    if (keys[key].value == FORMAT && json->token == VV_JSON_INTEGER &&
        json->integer > VV_CTF_FORMAT_VERSION)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "it is of format version %lld, and this varve reads version %d: read it with "
                     "a newer varve",
                     (long long)json->integer, VV_CTF_FORMAT_VERSION);
    if (keys[key].value == CPU_TIME && json->token == VV_JSON_INTEGER)
        VV_TRY(add_cpu_time(model, json->integer, error));
    if (keys[key].value == INTEGER && json->token == VV_JSON_INTEGER)
        *(int64_t *)member = json->integer;
    return vv_json_skip(json, error);
}

static enum varve_code read_object(struct vv_json *json, struct vv_model *model,
                                   struct varve_error *error)
{
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "an object must stand here");
    VV_TRY(vv_json_next(json, error));
    while (json->token == VV_JSON_NAME) {
        size_t key = 0, count = sizeof keys / sizeof keys[0];
        while (key < count && !vv_json_is(json, keys[key].name))
            key++;
        VV_TRY(vv_json_next(json, error));
        VV_TRY(key < count ? read_value(json, model, key, error) : vv_json_skip(json, error));
        VV_TRY(vv_json_next(json, error));
    }
    return vv_json_next(json, error);
}

enum varve_code vv_manifest_read(struct vv_model *model, const char *path,
                                 struct varve_error *error)
{
    char *text;
    size_t length;
    struct varve_error cause;
    enum varve_code code = vv_input_read_all(path, VV_MANIFEST_BYTES_MAX, &text, &length, &cause);
    if (code == VARVE_NOT_FOUND)
        return VARVE_OK; /* a program that recorded itself */
    if (code == VARVE_OK) {
        struct vv_json json;
        vv_json_init_text(&json, text, length);
        code = read_object(&json, model, &cause);
        vv_json_deinit(&json);
        free(text);
        if (code == VARVE_TRUNCATED) {
            model->health.truncated_files++;
            return VARVE_OK;
        }
        if (code != VARVE_OK)
            vv_error_note(&cause, "'%s'", path);
    }
    if (code != VARVE_OK && error != NULL)
        *error = cause;
    return code;
}
