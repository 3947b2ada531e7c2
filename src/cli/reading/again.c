/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/again.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text/shell_word.h"

static void put_word(FILE *stream, const char *word)
{
    putc(' ', stream);
    vv_shell_word_put(stream, word);
}

static void put_option(FILE *stream, const char *option, const char *value)
{
    if (value == NULL)
        return;
    fputs(option, stream);
    put_word(stream, value);
}

static void put_options(FILE *stream, const struct vv_arguments *arguments)
{
    put_option(stream, " --rank", arguments->rank);
    put_option(stream, " --thread", arguments->thread);
    put_option(stream, " --step-by", arguments->step_by);
    if (arguments->warm_up)
        fputs(" --warm-up", stream);
}

static void put_traces(FILE *stream, const struct vv_arguments *arguments,
                       const struct vv_reading *reading)
{
    for (size_t i = 0; i < arguments->operand_count; i++)
        put_word(stream, arguments->operands[i]);
    if (arguments->operand_count == 0)
        put_word(stream, reading->path);
}

enum varve_code vv_again_init(struct vv_again *out_again, const struct vv_arguments *arguments,
                              const struct vv_reading *reading, struct varve_error *error)
{
    char **texts[] = { &out_again->options, &out_again->device, &out_again->steps,
                         &out_again->traces };
    *out_again = (struct vv_again){ 0 };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t bytes;
        FILE *stream = open_memstream(texts[i], &bytes);
        if (stream == NULL)
            break;
        if (texts[i] == &out_again->options)
            put_options(stream, arguments);
        else if (texts[i] == &out_again->device)
            put_option(stream, " --device", arguments->device);
        else if (texts[i] == &out_again->steps)
            put_option(stream, " --steps", arguments->steps);
        else
            put_traces(stream, arguments, reading);
        bool is_written = ferror(stream) == 0;
        if (fclose(stream) == 0 && is_written)
            continue;
        free(*texts[i]);
        *texts[i] = NULL;
    }
    if (out_again->options != NULL && out_again->device != NULL && out_again->steps != NULL &&
        out_again->traces != NULL)
        return VARVE_OK;
    vv_again_deinit(out_again);
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the commands of findings");
}

void vv_again_deinit(struct vv_again *again)
{
    free(again->options);
    free(again->device);
    free(again->steps);
    free(again->traces);
    *again = (struct vv_again){ 0 };
}
