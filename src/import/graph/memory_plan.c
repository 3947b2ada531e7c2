/* SPDX-License-Identifier: Apache-2.0 */
/* memory_plan.c — reads static memory plans as CSV: where each buffer lies, and from which operator
 * to which it is used. doc/formats.md.
 *
 * The header names the columns, in any order. The only known unit is "(KB)"; otherwise sizes are in
 * bytes. Ascend's static_op_mem tables are such files, without offsets. Uses are numbers of
 * operators in order of execution; a last use of 4294967295 is the end of the graph. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/input/format.h"
#include "varve/varve.h"

#define FIELDS_MAX 32
/* Replaces NUL in the text. It is invalid UTF-8 too, so it is repaired and counted like that. */
#define NO_TEXT '\xff'
#define TO_THE_END INT64_C(4294967295)

enum meaning { NAME, OFFSET, SIZE, FIRST, LAST, GRAPH, DEVICE, MEANINGS };

/* Names of columns, without case, blanks and punctuation. */
static const struct { const char *word; enum meaning meaning; } words[] = {
    { "operator", NAME },        { "opname", NAME },        { "name", NAME },
    { "offset", OFFSET },        { "offsetbytes", OFFSET }, { "offsetkb", OFFSET },
    { "size", SIZE },            { "sizebytes", SIZE },     { "sizekb", SIZE },
    { "firstuse", FIRST },       { "lifestart", FIRST },    { "nodeindexstart", FIRST },
    { "lastuse", LAST },         { "lifeend", LAST },       { "nodeindexend", LAST },
    { "graph", GRAPH },          { "graphid", GRAPH },      { "device", DEVICE },
    { "deviceid", DEVICE },
};

struct layout {
    int column[MEANINGS];       /* -1 = there is no such column                                 */
    bool is_kb[MEANINGS];
};

struct reading {
    const struct vv_import_job *job;
    struct layout layout;
    char *text;                 /* text of the whole file                                       */
    size_t length, capacity;
    uint64_t line;
    uint32_t process;
};

/* ---- fields ---- */

/* Cuts the line at *cursor into fields, in place, with quotes as in RFC 4180. Returns the number of
 * fields, at most FIELDS_MAX; *cursor moves to the next line. */
static int cut_line(char **cursor, char *end, char **fields)
{
    char *at = *cursor;
    int count = 0;
    for (;;) {
        char *to = at, *from = at;
        bool is_quoted = from < end && *from == '"';
        from += is_quoted;
        while (from < end && (is_quoted ? *from != '"' || (from + 1 < end && from[1] == '"')
                                        : *from != ',' && *from != '\n')) {
            from += is_quoted && *from == '"';
            *to++ = *from != '\0' ? *from : NO_TEXT;
            from++;
        }
        while (is_quoted && from < end && *from != ',' && *from != '\n')
            from++;
        bool is_last = from >= end || *from == '\n';
        char *next = from < end ? from + 1 : end;
        if (to > at && !is_quoted && to[-1] == '\r')
            to--;
        *to = '\0'; /* the text has room for one more byte */
        if (count < FIELDS_MAX)
            fields[count++] = at;
        at = next;
        if (is_last)
            break;
    }
    *cursor = at;
    return count;
}

/* The meaning of a heading; MEANINGS = the column is not read. */
static enum meaning meaning_of(const char *heading, bool *out_is_kb)
{
    char word[32];
    size_t length = 0;
    for (; *heading != '\0' && length + 1 < sizeof word; heading++)
        if (isalnum((unsigned char)*heading))
            word[length++] = (char)tolower((unsigned char)*heading);
    word[length] = '\0';
    *out_is_kb = length > 2 && strcmp(word + length - 2, "kb") == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && *heading == '\0'; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].meaning;
    return MEANINGS;
}

static bool read_header(char **fields, int count, struct layout *out_layout)
{
    for (int m = 0; m < MEANINGS; m++)
        out_layout->column[m] = -1;
    for (int i = 0; i < count; i++) {
        bool is_kb;
        enum meaning meaning = meaning_of(fields[i], &is_kb);
        if (meaning != MEANINGS && out_layout->column[meaning] < 0) {
            out_layout->column[meaning] = i;
            out_layout->is_kb[meaning] = is_kb;
        }
    }
    return out_layout->column[NAME] >= 0 && out_layout->column[SIZE] >= 0 &&
           out_layout->column[FIRST] >= 0 && out_layout->column[LAST] >= 0;
}

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    const char *end = memchr(head, '\n', head_bytes);
    size_t length = end != NULL ? (size_t)(end - head) : head_bytes;
    char line[2048], *fields[FIELDS_MAX], *cursor = line;
    struct layout layout;
    (void)path;
    if (is_folder || length + 1 > sizeof line || memchr(head, ',', length) == NULL)
        return false;
    memcpy(line, head, length);
    line[length] = '\0';
    int count = cut_line(&cursor, line + length, fields);
    return read_header(fields, count, &layout);
}

/* ---- rows ---- */

static enum varve_code read_number(const struct reading *reading, char *const *fields,
                                   enum meaning meaning, int64_t *out_value,
                                   struct varve_error *error)
{
    static const char *const what[] = { "name", "offset", "size", "first use", "last use", "graph",
                                        "device" };
    const char *text = fields[reading->layout.column[meaning]];
    char *end;
    double value = strtod(text, &end);
    while (isspace((unsigned char)*end))
        end++;
    if (reading->layout.is_kb[meaning])
        value *= 1024;
    if (end == text || *end != '\0' || !(value >= 0 && value < 9e15))
        VV_FAIL(error, VARVE_CORRUPT,
                "'%s', line %" PRIu64 ": '%.40s' is no %s: a number of 0 or more is wanted",
                reading->job->path, reading->line, text, what[meaning]);
    *out_value = llround(value);
    return VARVE_OK;
}

/* Reads a field that may be missing; then the value is `standard`. */
static enum varve_code read_optional(const struct reading *reading, char *const *fields,
                                     enum meaning meaning, int64_t *out_value,
                                     struct varve_error *error)
{
    if (reading->layout.column[meaning] < 0)
        return VARVE_OK;
    return read_number(reading, fields, meaning, out_value, error);
}

static enum varve_code add_row(struct reading *reading, char *const *fields,
                               struct varve_error *error)
{
    struct vv_model *model = reading->job->model;
    const char *name = fields[reading->layout.column[NAME]];
    int64_t bytes, first, last, offset = -1, graph = 0, device = 0;
    uint32_t row;
    if (strcmp(name, "TOTAL") == 0) /* Ascend's last row has the sums of the others */
        return VARVE_OK;
    VV_TRY(read_number(reading, fields, SIZE, &bytes, error));
    VV_TRY(read_number(reading, fields, FIRST, &first, error));
    VV_TRY(read_number(reading, fields, LAST, &last, error));
    VV_TRY(read_optional(reading, fields, OFFSET, &offset, error));
    VV_TRY(read_optional(reading, fields, GRAPH, &graph, error));
    VV_TRY(read_optional(reading, fields, DEVICE, &device, error));
    if (last < first)
        VV_FAIL(error, VARVE_CORRUPT,
                "'%s', line %" PRIu64 ": the last use %" PRId64 " lies before the first, %" PRId64,
                reading->job->path, reading->line, last, first);
    VV_TRY(vv_model_add_placement(model, &row, error));
    VV_TRY(vv_model_text(model, name, &model->placements.name[row], error));
    model->placements.bytes[row] = bytes;
    model->placements.offset_bytes[row] = offset;
    model->placements.first_use[row] = first;
    model->placements.last_use[row] = last == TO_THE_END ? INT64_MAX : last;
    model->placements.graph[row] = graph;
    model->placements.device[row] = (uint32_t)(device & 0xffff) | VARVE_DEVICE_KIND_OTHER << 16;
    model->placements.process[row] = reading->process;
    model->processes.events[reading->process]++;
    return VARVE_OK;
}

static enum varve_code load(struct reading *reading, struct varve_error *error)
{
    for (;;) {
        size_t got;
        VV_TRY(vv_array_reserve(&reading->text, &reading->capacity, reading->length + 65537, 1,
                                error));
        VV_TRY(vv_source_read(reading->job->source, reading->text + reading->length, 65536, &got,
                              error));
        reading->length += got;
        if (got == 0)
            return VARVE_OK;
        VV_TRY(vv_source_may_hold(reading->job->source, reading->length,
                                  reading->job->options->max_memory_bytes, error));
    }
}

static enum varve_code read_rows(struct reading *reading, struct varve_error *error)
{
    char *cursor = reading->text, *end = reading->text + reading->length, *fields[FIELDS_MAX];
    read_header(fields, cut_line(&cursor, end, fields), &reading->layout);
    int wanted = 0;
    for (int m = 0; m < MEANINGS; m++)
        wanted = reading->layout.column[m] >= wanted ? reading->layout.column[m] + 1 : wanted;
    for (reading->line = 2; cursor < end; reading->line++) {
        bool is_whole = memchr(cursor, '\n', (size_t)(end - cursor)) != NULL;
        int count = cut_line(&cursor, end, fields);
        if (count == 1 && fields[0][0] == '\0')
            continue;
        if (count < wanted && !is_whole) { /* the file is cut inside its last line */
            reading->job->model->health.truncated_files++;
            return VARVE_OK;
        }
        if (count < wanted)
            VV_FAIL(error, VARVE_CORRUPT,
                    "'%s', line %" PRIu64 ": %d fields, the header has %d or more",
                    reading->job->path, reading->line, count, wanted);
        VV_TRY(add_row(reading, fields, error));
    }
    return VARVE_OK;
}

static enum varve_code read(const struct vv_import_job *job, struct varve_error *error)
{
    struct reading reading = { .job = job };
    enum varve_code code = vv_model_add_process(job->model, &reading.process, error);
    if (code == VARVE_OK) {
        job->model->processes.scope[reading.process] = job->scope;
        job->model->processes.rank[reading.process] = -1;
        job->model->processes.clock_uncertainty_ns[reading.process] = -1;
        code = load(&reading, error);
    }
    if (code == VARVE_TRUNCATED) { /* a compressed file that is cut: use the lines before */
        job->model->health.truncated_files++;
        code = VARVE_OK;
    }
    if (code == VARVE_OK)
        code = read_rows(&reading, error);
    free(reading.text);
    return code;
}

const struct vv_importer vv_importer_memory_plan = {
    .name = "memory_plan",
    .title = "memory plan CSV",
    .probe = probe,
    .read = read,
};
