/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/locate.h"
#include "cli/output.h"
#include "import/importer.h"

/* What to type after an input that cannot be read. */
static void say_next(const struct vv_arguments *arguments, const struct varve_error *error)
{
    char *newest = NULL;
    bool is_damaged = error->code == VARVE_CORRUPT || error->code == VARVE_TRUNCATED;
    bool is_said = strstr(error->message, "varve record") != NULL ||
                   strstr(error->message, "newer varve") != NULL || error->code == VARVE_INVALID ||
                   error->code == VARVE_NO_MEMORY;
    if (is_said)
        return;
    if (is_damaged)
        fputs("  record it again:  varve record -- PROGRAM ARGS\n", stderr);
    else if (arguments->operand_count > 0 && vv_locate_newest(&newest, NULL) == VARVE_OK)
        fprintf(stderr, "  the newest trace here is %s:  varve report\n", newest);
    else
        fputs("  record one:  varve record -- PROGRAM ARGS\n", stderr);
    free(newest);
}

int vv_reading_open(const struct vv_arguments *arguments, struct vv_reading *out_reading)
{
    struct varve_error error;
    *out_reading = (struct vv_reading){ 0 };
    enum varve_code code = vv_locate_trace(arguments, &out_reading->path, &error);
    if (code == VARVE_OK)
        code = vv_import(out_reading->path, &out_reading->model, &error);
    if (code == VARVE_OK)
        return VV_EXIT_DONE;
    int status = vv_complain(&error);
    say_next(arguments, &error);
    return status;
}

void vv_reading_close(struct vv_reading *reading)
{
    free(reading->path);
    vv_model_destroy(reading->model);
    *reading = (struct vv_reading){ 0 };
}

int vv_reading_verdict(const struct vv_arguments *arguments, const struct vv_reading *reading,
                       int status)
{
    const struct vv_model *model = reading->model;
    bool is_whole = model->run.lost == 0 && model->health.truncated_files == 0;
    return status == VV_EXIT_DONE && arguments->strict && !is_whole ? VV_EXIT_NO : status;
}

int vv_reading_print(const struct vv_arguments *arguments, const char *verb, vv_analyse_fn *analyse)
{
    struct vv_sheet sheets[VV_READING_SHEETS_MAX];
    const struct vv_sheet *shown[VV_READING_SHEETS_MAX];
    size_t count = 0;
    struct vv_reading reading;
    struct varve_error error;
    int status = vv_reading_open(arguments, &reading);
    if (status == VV_EXIT_DONE &&
        analyse(arguments, reading.model, sheets, &count, &error) != VARVE_OK)
        status = vv_complain(&error);
    if (status == VV_EXIT_DONE) {
        for (size_t i = 0; i < count; i++)
            shown[i] = &sheets[i];
        status = vv_cli_print(arguments, verb, reading.path, shown, count);
        status = vv_reading_verdict(arguments, &reading, status);
    }
    while (count > 0)
        vv_sheet_deinit(&sheets[--count]);
    vv_reading_close(&reading);
    return status;
}
