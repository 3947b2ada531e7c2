/* SPDX-License-Identifier: Apache-2.0 */
/* database.c — traces that are SQLite databases: whose one is, its tables say. */
#include "import/convert.h"
#include "import/formats.h"
#include "import/nsys/nsys.h"
#include "import/rpd/rpd.h"
#include "import/sqlite/database.h"

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && vv_database_begins(head, head_bytes);
}

#ifdef VV_HAVE_SQLITE

/* rocprofv3 writes databases too: "rocpd", with other tables than rocmProfileData's. */
static enum varve_code refuse(struct vv_database *database, const char *path,
                              struct varve_error *error)
{
    bool is_rocpd;
    VV_TRY(vv_database_has(database,
                           "SELECT 1 FROM sqlite_master WHERE name LIKE 'rocpd_info_%' OR "
                           "name LIKE 'rocpd_kernel_dispatch%'",
                           &is_rocpd, error));
    if (is_rocpd)
        return vv_refuse_rocpd(path, error);
    VV_FAIL(error, VARVE_UNSUPPORTED,
            "'%s' is not a trace that varve knows (a SQLite database without tables of "
            "Nsight Systems or rocmProfileData)",
            path);
}

static enum varve_code read_tables(struct vv_database *database, const struct vv_import_job *job,
                                   struct varve_error *error)
{
    bool is_rpd, is_nsys;
    VV_TRY(vv_rpd_is(database, &is_rpd, error));
    if (is_rpd && job->format != NULL)
        *job->format = "rpd";
    if (is_rpd)
        return vv_rpd_read(database, job, error);
    VV_TRY(vv_nsys_is(database, &is_nsys, error));
    return is_nsys ? vv_nsys_read(database, job, error) : refuse(database, job->path, error);
}

static enum varve_code read_database(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_database database;
    VV_TRY(vv_database_open(&database, job, error));
    enum varve_code code = read_tables(&database, job, error);
    if (code == VARVE_OK && database.is_torn)
        job->model->health.truncated_files++;
    vv_database_close(&database);
    return code;
}

static enum varve_code look(const char *path, struct vv_model *model, bool *out_is)
{
    struct vv_import_job job = { .path = path, .model = model };
    struct vv_database database;
    struct varve_error ignored;
    VV_TRY(vv_source_open(path, &job.source, &ignored));
    enum varve_code code = vv_database_open(&database, &job, &ignored);
    if (code == VARVE_OK) {
        code = vv_rpd_is(&database, out_is, &ignored);
        if (code == VARVE_OK && !*out_is)
            code = vv_nsys_is(&database, out_is, &ignored);
        vv_database_close(&database);
    }
    vv_source_close(job.source);
    return code;
}

static bool is_recording(const char *path)
{
    struct vv_model *model;
    bool is = false;
    if (vv_model_create(&model, NULL) != VARVE_OK)
        return false;
    is = look(path, model, &is) == VARVE_OK && is;
    vv_model_destroy(model);
    return is;
}

#else

static bool is_recording(const char *path)
{
    (void)path;
    return false;
}

static enum varve_code read_database(const struct vv_import_job *job, struct varve_error *error)
{
    VV_FAIL(error, VARVE_UNSUPPORTED,
            "'%s' is an SQLite database (of Nsight Systems or rocmProfileData, if it is a trace), "
            "and this varve was built without SQLite",
            job->path);
}

#endif

const struct vv_importer vv_importer_database = {
    .name = "nsys",
    .title = "Nsight Systems SQLite, rocmProfileData SQLite",
    .probe = probe,
    .read = read_database,
    .is_recording = is_recording,
};
