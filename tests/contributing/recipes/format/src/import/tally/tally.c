/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c — tallies: a line "TALLY 1", then a line "NAME BEGIN_NS END_NS" for each slice of one
 * thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/input/format.h"

#define MAGIC "TALLY 1\n"

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && head_bytes >= sizeof MAGIC - 1 &&
           memcmp(head, MAGIC, sizeof MAGIC - 1) == 0;
}

static enum varve_code add_slice(struct vv_model *model, uint32_t track, const char *name,
                                 int64_t begin_ns, int64_t duration_ns, struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_slice(model, &row, error));
    model->slices.begin_ns[row] = begin_ns;
    model->slices.duration_ns[row] = duration_ns;
    model->slices.track[row] = track;
    return vv_model_text(model, name, &model->slices.name[row], error);
}

static enum varve_code read_tally(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_model *model = job->model;
    char text[4096];
    size_t bytes;
    uint32_t process, track;
    VV_TRY(vv_source_read(job->source, text, sizeof text - 1, &bytes, error));
    text[bytes] = '\0';
    VV_TRY(vv_model_add_process(model, &process, error));
    model->processes.scope[process] = job->scope;
    VV_TRY(vv_model_add_track(model, &track, error));
    model->tracks.process[track] = process;
    for (const char *line = strchr(text, '\n'); line != NULL && line[1] != '\0';
         line = strchr(line + 1, '\n')) {
        char name[64];
        int64_t begin_ns, end_ns;
        if (sscanf(line + 1, "%63s %" SCNd64 " %" SCNd64, name, &begin_ns, &end_ns) != 3 ||
            begin_ns < 0 || end_ns < begin_ns)
            return vv_fail_at(error, VARVE_CORRUPT, (uint64_t)(line + 1 - text),
                              "no line of a tally");
        VV_TRY(add_slice(model, track, name, begin_ns, end_ns - begin_ns, error));
    }
    return VARVE_OK;
}

const struct vv_importer vv_importer_tally = { .name = "tally", .title = "tally", .probe = probe,
                                               .read = read_tally };
