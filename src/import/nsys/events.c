/* SPDX-License-Identifier: Apache-2.0 */
/* events.c — the tables of events in an Nsight Systems export, except NVTX's: device work, calls,
 * MPI. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "varve/varve.h"

#define NO_ACTIVITY (-1)

struct table {
    const char *name;     /* with '*' at its end: the begin of several names                     */
    const char *category; /* the word that other producers use for it                            */
    uint16_t layer;
    int activity;         /* enum vv_activity_kind                                              */
    const char *title;    /* name for rows without a name                                        */
};

#define CUPTI "CUPTI_ACTIVITY_KIND_"
static const struct table tables[] = {
    { CUPTI "KERNEL", "kernel", VARVE_LAYER_DEVICE, VV_ACTIVITY_KERNEL, "kernel" },
    { CUPTI "MEMCPY", "gpu_memcpy", VARVE_LAYER_DEVICE, VV_ACTIVITY_COPY, "Memcpy" },
    { CUPTI "MEMSET", "gpu_memset", VARVE_LAYER_DEVICE, VV_ACTIVITY_SET, "Memset" },
    { CUPTI "SYNCHRONIZATION", "cuda_sync", VARVE_LAYER_DEVICE, VV_ACTIVITY_SYNC, "Sync" },
    { CUPTI "GRAPH_TRACE", "cuda_graph", VARVE_LAYER_DEVICE, VV_ACTIVITY_KERNEL, "CUDA graph" },
    { CUPTI "CUDA_EVENT", "cuda_event", VARVE_LAYER_DEVICE, VV_ACTIVITY_OTHER, "cudaEvent" },
    { CUPTI "RUNTIME", "cuda_runtime", VARVE_LAYER_RUNTIME, VV_ACTIVITY_CALL, "" },
    { CUPTI "DRIVER", "cuda_driver", VARVE_LAYER_RUNTIME, VV_ACTIVITY_CALL, "" },
    { CUPTI "OPENACC_*", "openacc", VARVE_LAYER_RUNTIME, NO_ACTIVITY, "OpenACC" },
    { "OPENMP_EVENT_KIND_*", "openmp", VARVE_LAYER_RUNTIME, NO_ACTIVITY, "OpenMP" },
    { "MPI_*", "mpi", VARVE_LAYER_COMM, NO_ACTIVITY, "MPI" },
    { "OSRT_API", "osrt", VARVE_LAYER_HOST, NO_ACTIVITY, "" },
    { "CUDNN_EVENTS", "cudnn", VARVE_LAYER_HOST, NO_ACTIVITY, "" },
    { "CUBLAS_EVENTS", "cublas", VARVE_LAYER_HOST, NO_ACTIVITY, "" },
    { "PROFILER_OVERHEAD", "overhead", VARVE_LAYER_HOST, NO_ACTIVITY, "" },
};

/* Any other table whose rows have a begin, an end, a thread and a name. */
static const struct table other = { "", NULL, VARVE_LAYER_HOST, NO_ACTIVITY, "" };

struct reading {
    const struct table *table;
    uint32_t category, title;
};

static bool is_on_device(const struct table *table)
{
    return table->activity != NO_ACTIVITY && table->activity != VV_ACTIVITY_CALL;
}

/* "cudaLaunchKernel_v7000" becomes cudaLaunchKernel; the full name is kept as an argument. */
static enum varve_code strip_version(struct vv_nsys *nsys, uint32_t *name, uint32_t slice_name_key,
                                     uint32_t slice, struct varve_error *error)
{
    const char *whole = vv_intern_text(&nsys->model->strings, *name);
    const char *version = strrchr(whole, '_');
    uint32_t former = *name;
    if (version == NULL || version == whole || version[1] != 'v' || version[2] == '\0' ||
        strspn(version + 2, "0123456789") != strlen(version + 2))
        return VARVE_OK;
    VV_TRY(vv_model_add_text(nsys->model, whole, (size_t)(version - whole), name, error));
    return vv_attribute_to_slice(nsys->model, slice, slice_name_key, vv_attribute_text(former),
                                 error);
}

/* Makes "Memcpy HtoD", as in Kineto. */
static enum varve_code name_copy(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                 uint32_t *out_name, struct varve_error *error)
{
    static const char *const kinds[] = { [1] = "HtoD", [2] = "DtoH", [3] = "HtoA", [4] = "AtoH",
                                         [5] = "AtoA",
                                         [6] = "AtoD", [7] = "DtoA", [8] = "DtoD", [9] = "HtoH",
                                         [10] = "PtoP" };
    int64_t kind = row->values[VV_NSYS_COPY_KIND];
    char name[32];
    if (kind < 1 || kind >= (int64_t)(sizeof kinds / sizeof *kinds))
        return VARVE_OK;
    snprintf(name, sizeof name, "Memcpy %s", kinds[kind]);
    return vv_model_text(nsys->model, name, out_name, error);
}

static enum varve_code add_activity(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                    enum vv_activity_kind kind, uint32_t slice,
                                    struct varve_error *error)
{
    struct vv_activities *activities = &nsys->model->activities;
    const int64_t *values = row->values;
    uint32_t activity;
    VV_TRY(vv_model_add_activity(nsys->model, &activity, error));
    nsys->model->slices.activity[slice] = activity;
    activities->kind[activity] = (uint8_t)kind;
    if (values[VV_NSYS_CORRELATION] != VV_SPAN_ABSENT)
        activities->correlation[activity] = (uint64_t)values[VV_NSYS_CORRELATION];
    if (values[VV_NSYS_CONTEXT] != VV_SPAN_ABSENT)
        activities->context[activity] = values[VV_NSYS_CONTEXT];
    if (values[VV_NSYS_STREAM] != VV_SPAN_ABSENT)
        activities->stream[activity] = values[VV_NSYS_STREAM];
    if (values[VV_NSYS_BYTES] != VV_SPAN_ABSENT)
        activities->bytes[activity] = (uint64_t)values[VV_NSYS_BYTES];
    if (values[VV_NSYS_DEVICE] != VV_SPAN_ABSENT)
        activities->device[activity] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, values[VV_NSYS_DEVICE]);
    return VARVE_OK;
}

static enum varve_code take_event(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  const void *context, struct varve_error *error)
{
    const struct reading *reading = context;
    const struct table *table = reading->table;
    const int64_t *values = row->values;
    struct vv_span event = { values[VV_NSYS_START], values[VV_NSYS_END], 0, reading->title,
                                   reading->category, table->layer };
    uint32_t slice, key;
    if (is_on_device(table))
        VV_TRY(vv_nsys_stream(nsys, row, &event.track, error));
    else
        VV_TRY(vv_nsys_thread(nsys, values[VV_NSYS_TID] == VV_SPAN_ABSENT ? 0 : values[VV_NSYS_TID],
                              &event.track, error));
    if (values[VV_NSYS_NAME] != VV_SPAN_ABSENT && values[VV_NSYS_NAME] != 0)
        event.name = (uint32_t)values[VV_NSYS_NAME];
    else if (values[VV_NSYS_TEXT] != VV_SPAN_ABSENT)
        event.name = (uint32_t)values[VV_NSYS_TEXT];
    VV_TRY(name_copy(nsys, row, &event.name, error));
    VV_TRY(vv_spans_add(&nsys->spans, &event, &slice, error));
    if (table->activity != NO_ACTIVITY)
        VV_TRY(add_activity(nsys, row, (enum vv_activity_kind)table->activity, slice, error));
    else if (values[VV_NSYS_BYTES] != VV_SPAN_ABSENT) {
        VV_TRY(vv_model_text(nsys->model, "bytes", &key, error));
        VV_TRY(vv_attribute_to_slice(nsys->model, slice, key,
                                     vv_attribute_int(values[VV_NSYS_BYTES]), error));
    }
    if (table->activity == VV_ACTIVITY_CALL) {
        VV_TRY(vv_model_text(nsys->model, "nameId", &key, error));
        VV_TRY(strip_version(nsys, &event.name, key, slice, error));
        nsys->model->slices.name[slice] = event.name;
    }
    return vv_nsys_arguments(nsys, row, slice, error);
}

/* ---- the list of tables ---- */

static const struct table *find_table(struct vv_database *database, const char *name)
{
    static const char *const instant[] = { "start", NULL };
    static const char *const by_name[] = { "start", "end", "globalTid", "nameId", NULL };
    static const char *const by_text[] = { "start", "end", "globalTid", "textId", NULL };
    static const char *const device[] = { "deviceId", NULL };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t length = strlen(tables[i].name);
        bool is_several = tables[i].name[length - 1] == '*';
        if (is_several ? strncmp(tables[i].name, name, length - 1) == 0 &&
                             vv_database_has_columns(database, name, instant)
                       : strcmp(tables[i].name, name) == 0 &&
                             vv_database_has_columns(database, name,
                                                     is_on_device(&tables[i]) ? device : instant))
            return &tables[i];
    }
    return vv_database_has_columns(database, name, by_name) ||
                   vv_database_has_columns(database, name, by_text)
               ? &other
               : NULL;
}

enum varve_code vv_nsys_read_events(struct vv_nsys *nsys, const char *name, bool *out_is_known,
                                    struct varve_error *error)
{
    struct reading reading = { .table = find_table(nsys->database, name) };
    char category[64];
    *out_is_known = reading.table != NULL;
    if (reading.table == NULL)
        return VARVE_OK;
    snprintf(category, sizeof category, "%s",
             reading.table->category != NULL ? reading.table->category : name);
    for (char *letter = category; *letter != '\0'; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    VV_TRY(vv_model_text(nsys->model, category, &reading.category, error));
    VV_TRY(vv_model_text(nsys->model, reading.table->title, &reading.title, error));
    return vv_nsys_each(nsys, name, take_event, &reading, error);
}

#endif
