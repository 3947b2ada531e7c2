/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c — varve validate: what is wrong with a trace by the rules of those who read it. A Chrome
 * trace is judged by its text, any other by what its reader found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/validate.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "import/source.h"

#define TEXT_FIRST_BYTES 64u /* in which the text of JSON begins                                  */

static enum varve_code read_source(void *source, void *buffer, size_t bytes, size_t *out_bytes,
                                   struct varve_error *error)
{
    /* A compressed file that is cut is a text that is cut. */
    enum varve_code code = vv_source_read(source, buffer, bytes, out_bytes, error);
    if (code == VARVE_TRUNCATED)
        *out_bytes = 0;
    return code == VARVE_TRUNCATED ? VARVE_OK : code;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Does the text begin as a Chrome trace may: an array, or an object that is no other format we know by its
 * first name? */
static bool is_chrome(const struct vv_source *source)
{
    struct vv_json json;
    size_t bytes;
    const char *head = vv_source_head(source, &bytes);
    bool has_name = false, is_other = false;
    vv_json_init_text(&json, head, bytes);
    bool is_text = vv_json_next(&json, NULL) == VARVE_OK;
    if (is_text && json.token == VV_JSON_OBJECT && vv_json_next(&json, NULL) == VARVE_OK) {
        has_name = json.token == VV_JSON_NAME;
        is_other = has_name && vv_json_is(&json, "rocprofiler-sdk-tool");
    }
    bool is_array = is_text && json.token == VV_JSON_ARRAY;
    vv_json_deinit(&json);
    return is_array || (has_name && !is_other && memmem(head, bytes, "\"adj\"", 5) == NULL);
}

static enum varve_code validate_text(const struct vv_arguments *arguments, struct vv_source *source,
                                     struct vv_sheet *sheet, bool *out_is_refused, struct varve_error *error)
{
    const struct vv_validate_options options = { base_name(vv_source_path(source)), arguments->consumer };
    return vv_validate_chrome(read_source, source, &options, sheet, out_is_refused, error);
}

static int print(const struct vv_arguments *arguments, const char *path, struct vv_sheet *sheet,
                 bool is_refused)
{
    const struct vv_sheet *shown[] = { sheet };
    int status = vv_cli_print(arguments, "validate", path, shown, 1);
    return status == VV_EXIT_DONE && is_refused ? VV_EXIT_NO : status;
}

/* Any other trace: reading it is the test. */
static int validate_model(const struct vv_arguments *arguments)
{
    struct vv_reading reading;
    struct vv_sheet sheet;
    struct varve_error error;
    int status = vv_reading_open(arguments, &reading);
    if (status == VV_EXIT_DONE && vv_validate_model(reading.model, &sheet, &error) != VARVE_OK)
        status = vv_complain(&error);
    else if (status == VV_EXIT_DONE) {
        status = print(arguments, reading.title, &sheet, false);
        status = vv_reading_verdict(arguments, &reading, status);
        vv_sheet_deinit(&sheet);
    }
    vv_reading_close(&reading);
    return status;
}

int vv_cmd_validate(const struct vv_arguments *arguments)
{
    struct vv_source *source = NULL;
    struct vv_sheet sheet;
    struct varve_error error;
    struct stat status;
    bool is_refused = false;
    const char *path = arguments->operand_count == 1 ? arguments->operands[0] : NULL;
    if (path == NULL || stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return validate_model(arguments);
    if (vv_source_open(path, &source, &error) != VARVE_OK)
        return vv_complain(&error);
    int exit_code;
    if (!is_chrome(source))
        exit_code = validate_model(arguments);
    else if (validate_text(arguments, source, &sheet, &is_refused, &error) != VARVE_OK)
        exit_code = vv_complain(&error);
    else {
        exit_code = print(arguments, path, &sheet, is_refused);
        vv_sheet_deinit(&sheet);
    }
    vv_source_close(source);
    return exit_code;
}
