/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c — varve export: writes the trace as another tool's file. doc/chrome.md.
 *
 * An existing file of that name becomes NAME.old. The new file appears complete or not at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/former.h"
#include "cli/reading/output.h"
#include "cli/reading/reading.h"
#include "export/exporter.h"
#include "sheet/number.h"

/* The length without these ends of names. */
static size_t without_ends(const char *name, size_t length)
{
    static const char *const ends[] = { ".gz", ".zst", ".tgz", ".tar", ".json", ".pb", ".pftrace",
                                        ".sqlite", ".rpd" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t bytes = strlen(ends[i]);
        if (length > bytes && memcmp(name + length - bytes, ends[i], bytes) == 0)
            length -= bytes;
    }
    return length;
}

/* Turns "dir/train.varve" into "train.json", and "rank0.json.gz" into "rank0.chrome.json", in the
 * current folder. NULL if there is no memory. */
static char *standard_name(const char *trace, const struct vv_exporter *exporter)
{
    size_t end = strlen(trace);
    while (end > 1 && trace[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && trace[begin - 1] != '/')
        begin--;
    static const char suffix[] = ".varve";
    size_t suffix_length = sizeof suffix - 1;
    if (end - begin > suffix_length &&
        memcmp(trace + end - suffix_length, suffix, suffix_length) == 0)
        end -= suffix_length;
    const char *base = strcmp(trace, "-") == 0 ? "trace" : trace + begin;
    size_t length = base == trace + begin ? end - begin : strlen(base);
    size_t stem = without_ends(base, length);
    bool is_same_kind = stem < length;
    char *name;
    if (asprintf(&name, "%.*s%s%s%s", (int)stem, base, is_same_kind ? "." : "",
                 is_same_kind ? exporter->name : "", exporter->extension) < 0)
        return NULL;
    return name;
}

static void say_plural(FILE *line, uint64_t count, const char *noun)
{
    char text[VV_NUMBER_BYTES];
    if (count == 0)
        return;
    vv_number_count((int64_t)count, text, sizeof text);
    fprintf(line, "  %s %s%s", text, noun, count == 1 ? "" : "s");
}

static void say_written(const char *path, bool kept_former, const struct vv_export_counts *counts)
{
    struct stat status;
    char size[VV_NUMBER_BYTES];
    FILE *line = vv_say_begin("varve: ");
    if (line == NULL)
        return;
    fprintf(line, "wrote %s", path);
    if (stat(path, &status) == 0) {
        vv_number_bytes((int64_t)status.st_size, size, sizeof size);
        fprintf(line, "  %s", size);
    }
    if (counts->slices == 0 && counts->costs == 0)
        fputs("  no slices", line);
    say_plural(line, counts->slices, "slice");
    say_plural(line, counts->flows, "flow");
    say_plural(line, counts->marks, "mark");
    say_plural(line, counts->counter_values, "counter value");
    say_plural(line, counts->memory_events, "memory event");
    say_plural(line, counts->costs, "cost");
    if (kept_former)
        fprintf(line, "  (former: %s.old)", path);
    vv_say_end(line);
}

static void say_left_out(const struct vv_export_counts *counts)
{
    if (counts->shared_names > 0)
        vv_say("%" PRIu64 " cost%s of an instruction's name that several programs have: without "
               "fingerprints of programs, one mean for all",
               counts->shared_names, counts->shared_names == 1 ? " is" : "s are");
    if (counts->flows_left_out > 0)
        vv_say("left out %" PRIu64 " flow%s that begin or end outside any slice",
                counts->flows_left_out, counts->flows_left_out == 1 ? "" : "s");
    if (counts->counter_values_left_out > 0)
        vv_say("left out %" PRIu64
                " counter value%s that JSON cannot hold (NaN, infinity)",
                counts->counter_values_left_out, counts->counter_values_left_out == 1 ? "" : "s");
}

static enum varve_code write_file(const struct vv_model *model, const struct vv_exporter *exporter,
                                  const char *path, bool quiet, struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    struct vv_export_counts counts = { 0 };
    bool to_stdout = strcmp(path, "-") == 0, kept = false;
    enum varve_code code = vv_refuse_compressed(path, "varve export", error);
    if (code == VARVE_OK)
        code = vv_output_open(&output, path, error);
    if (code == VARVE_OK)
        code = exporter->write(model, path, output.stream, &counts, error);
    if (code == VARVE_OK)
        code = vv_output_commit_beside(&output, &kept, error);
    vv_output_abandon(&output);
    if (code != VARVE_OK)
        return code;
    if (!quiet && !to_stdout)
        say_written(path, kept, &counts);
    if (!quiet)
        say_left_out(&counts);
    return VARVE_OK;
}

vv_run_verb vv_cmd_export;

int vv_cmd_export(const struct vv_arguments *arguments)
{
    const struct vv_exporter *exporter;
    struct vv_reading reading;
    struct varve_error error;
    char *standard = NULL;
    if (vv_exporter_find(arguments->to != NULL ? arguments->to : "chrome", &exporter, &error) !=
        VARVE_OK)
        return vv_print_error(&error);
    int status = vv_reading_open(arguments, &reading);
    if (status == VV_EXIT_DONE) {
        const char *path = arguments->output;
        if (path == NULL)
            path = standard = standard_name(reading.path, exporter);
        enum varve_code code =
            path == NULL ? vv_fail(&error, VARVE_NO_MEMORY, "no memory for a file name")
                         : write_file(reading.model, exporter, path, arguments->quiet, &error);
        status = code == VARVE_OK         ? VV_EXIT_DONE
                 : vv_is_output_failure(code) ? vv_output_complain(path, &error)
                                           : vv_print_error(&error);
        status = vv_reading_verdict(arguments, &reading, status);
    }
    free(standard);
    vv_reading_close(&reading);
    return status;
}
