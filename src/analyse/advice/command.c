/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/advice/command.h"

#include <stdio.h>
#include <string.h>

#include "base/scratch.h"
#include "base/text/shell_word.h"
#include "model/find.h"
#include "question/tables.h"
#include "varve/varve.h"

/* ---- what the trace has ---- */

/* name: NULL = any. */
static bool has_shapes(const struct vv_model *model, uint32_t slice, const vv_string *name)
{
    uint32_t op = model->slices.op[slice];
    return op != VV_NONE && model->ops.shapes[op] != 0 &&
           (name == NULL || model->slices.name[slice] == *name);
}

/* Slices have the line of the one around them, so one is enough. */
static bool has_line(const struct vv_model *model, uint32_t slice, const vv_string *name)
{
    uint32_t op = model->slices.op[slice];
    (void)name;
    return model->slices.source[slice] != 0 ||
           model->slices.layer[slice] == VARVE_LAYER_PYTHON ||
           (op != VV_NONE && model->ops.stack[op] != 0);
}

static bool has_module(const struct vv_model *model, uint32_t slice, const vv_string *name)
{
    uint32_t op = model->slices.op[slice];
    (void)name;
    return (op != VV_NONE && model->ops.module[op] != 0) ||
           (model->slices.layer[slice] == VARVE_LAYER_PYTHON &&
            strncmp(vv_text_of(model, model->slices.name[slice]), "nn.Module", 9) == 0);
}

bool vv_command_tells(const char *see, const struct vv_model *model, const char *name)
{
    static const struct {
        const char *by;
        bool (*has)(const struct vv_model *model, uint32_t slice, const vv_string *name);
    } groupings[] = {
        { "--by shape", has_shapes }, { "--by source", has_line }, { "--by module", has_module },
    };
    size_t g = 0, count = sizeof groupings / sizeof *groupings;
    vv_string id = name != NULL ? vv_intern_find(&model->strings, name, strlen(name)) : 0;
    if (strncmp(see, "varve memory", strlen("varve memory")) == 0)
        return model->memory.table.count > 0;
    while (g < count && strstr(see, groupings[g].by) == NULL)
        g++;
    for (uint32_t slice = 0; g < count && slice < model->slices.table.count; slice++)
        if (groupings[g].has(model, slice, name != NULL ? &id : NULL))
            return true;
    return g == count;
}

/* ---- its words ---- */

/* Is there a difference if it is asked of one device? */
static bool takes_device(const char *see)
{
    static const struct { const char *name; unsigned parts; } tables[] = {
#define VV_ROW(name, parts, is_optional, says) { "--table " #name, parts },
        VV_TABLES(VV_ROW)
#undef VV_ROW
    };
    const char *at = strstr(see, "--table ");
    size_t length = at != NULL ? strlen("--table ") + strcspn(at + strlen("--table "), " ") : 0;
    for (size_t i = 0; at != NULL && i < sizeof tables / sizeof *tables; i++)
        if (strlen(tables[i].name) == length && strncmp(tables[i].name, at, length) == 0)
            return (tables[i].parts & VV_CHOICE_DEVICE) != 0;
    return true;
}

static void put_words(FILE *stream, const struct vv_command *command)
{
    const struct vv_question *question = command->question;
    const char *see = command->see;
    bool is_whole = strncmp(see, "varve info", 10) == 0; /* that tells of whole traces           */
    const struct { const char *words; bool is_left_out; } parts[] = {
        { question->again_options, is_whole },
        { question->again_device, is_whole || !takes_device(see) },
        { question->again_steps, is_whole || strstr(see, "--steps") != NULL },
        { question->again_traces, false },
    };
    fputs(see, stream);
    if (command->filter[0] != '\0') {
        fputs(" --filter ", stream);
        vv_shell_word_put(stream, command->filter);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!parts[i].is_left_out && parts[i].words != NULL)
            fputs(parts[i].words, stream);
}

enum varve_code vv_command_put(const struct vv_command *command, struct vv_scratch *scratch,
                               struct vv_sheet *sheet, size_t row, size_t column,
                               struct varve_error *error)
{
    const struct vv_question *question = command->question;
    const char *const words[] = { command->see, question->again_options, question->again_device,
                                  question->again_steps, question->again_traces };
    size_t bytes = sizeof " --filter ''" + 4 * strlen(command->filter); /* a quote takes four    */
    char *text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        bytes += words[i] != NULL ? strlen(words[i]) : 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &text, bytes, error));
    FILE *stream = fmemopen(text, bytes, "w");
    if (stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the commands of findings");
    put_words(stream, command);
    fclose(stream);
    return vv_sheet_text(sheet, row, column, text, error);
}
