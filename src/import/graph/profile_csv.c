/* SPDX-License-Identifier: Apache-2.0 */
/* profile_csv.c — reads the profile that the thesis hands to its pass: a line "name,ts,duration",
 * then one line for each execution, in ps. Such a file is an operator graph without edges.
 * doc/formats.md. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/graph/reading.h"

static const char header[] = "name,ts,duration";

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    size_t length = sizeof header - 1;
    (void)path;
    return !is_folder && head_bytes > length && memcmp(head, header, length) == 0 &&
           (head[length] == '\n' || head[length] == '\r');
}

struct csv {
    struct vv_graph_reading graph;
    char *text;
    size_t length, capacity;
    uint64_t line;
};

static enum varve_code load(struct csv *csv, struct varve_error *error)
{
    const struct vv_import_job *job = csv->graph.job;
    for (;;) {
        size_t got;
        VV_TRY(vv_array_reserve(&csv->text, &csv->capacity, csv->length + 65537, 1, error));
        VV_TRY(vv_source_read(job->source, csv->text + csv->length, 65536, &got, error));
        csv->length += got;
        if (got == 0)
            return VARVE_OK;
        VV_TRY(vv_source_may_hold(job->source, csv->length, job->options->max_memory_bytes,
                                  error));
    }
}

static enum varve_code say(struct csv *csv, uint32_t row, const char *key, const char *text,
                           size_t length, struct varve_error *error)
{
    const struct vv_graph_said said = { VV_OF_NODE, row, key, text, length };
    return vv_draft_say_text(&csv->graph, &said, (uint64_t)(text - csv->text), error);
}

static bool is_number(const char *text, size_t length)
{
    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

/* The name may have commas: the last two are those of the form. */
static enum varve_code read_row(struct csv *csv, char *line, size_t length,
                                struct varve_error *error)
{
    char *second = memrchr(line, ',', length);
    char *first =
        second == NULL || second == line ? NULL : memrchr(line, ',', (size_t)(second - line));
    size_t time = first == NULL ? 0 : (size_t)(second - first) - 1;
    size_t duration = first == NULL ? 0 : length - (size_t)(second - line) - 1;
    uint32_t row;
    if (first == NULL || !is_number(first + 1, time) || !is_number(second + 1, duration))
        VV_FAIL(error, VARVE_CORRUPT,
                "'%s', line %" PRIu64 ": '%.*s' is no name, begin and duration in ps",
                csv->graph.job->path, csv->line, (int)(length < 60 ? length : 60), line);
    *first = *second = line[length] = '\0'; /* the text has room for one more byte */
    VV_TRY(vv_draft_add_node(&csv->graph, &row, error));
    VV_TRY(say(csv, row, "name", line, (size_t)(first - line), error));
    VV_TRY(say(csv, row, "ts", first + 1, time, error));
    return say(csv, row, "duration", second + 1, duration, error);
}

static enum varve_code read_rows(struct csv *csv, struct varve_error *error)
{
    for (size_t at = 0; at < csv->length;) {
        char *line = csv->text + at, *end = memchr(line, '\n', csv->length - at);
        bool is_cut = end == NULL;
        size_t length = is_cut ? csv->length - at : (size_t)(end - line);
        at += length + 1;
        while (length > 0 && line[length - 1] == '\r')
            length--;
        csv->line++;
        if (csv->line == 1 || length == 0)
            continue;
        if (is_cut) /* its last number may be a part of one */
            VV_FAIL(error, VARVE_TRUNCATED, "'%s' ends in line %" PRIu64, csv->graph.job->path,
                    csv->line);
        VV_TRY(read_row(csv, line, length, error));
    }
    return VARVE_OK;
}

static enum varve_code read(const struct vv_import_job *job, struct varve_error *error)
{
    struct csv csv = { .text = NULL };
    enum varve_code code = vv_graph_reading_begin(&csv.graph, job, error);
    csv.graph.has_all_run = csv.graph.is_order = csv.graph.is_simple = true;
    if (code == VARVE_OK)
        code = load(&csv, error);
    if (code == VARVE_OK || code == VARVE_TRUNCATED) {
        enum varve_code rows = read_rows(&csv, error);
        code = rows != VARVE_OK ? rows : code;
    }
    code = vv_graph_reading_end(&csv.graph, code, error);
    free(csv.text);
    return code;
}

const struct vv_importer vv_importer_profile_csv = {
    .name = "profile_csv",
    .title = "profile CSV of mlirgraph",
    .probe = probe,
    .read = read,
};
