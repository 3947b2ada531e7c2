/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/peak_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/folder.h"
#include "base/text/json.h"
#include "base/text/json_write.h"
#include "cache/folder.h"
#include "machine/machine.h"

#define MACHINES_MAX 64u      /* with more, the oldest is dropped */
#define FILE_BYTES_MAX 65536u

struct entry {
    char machine[256];
    int64_t cpus;
    double f32, f64, bytes;
};

struct entries {
    struct entry items[MACHINES_MAX];
    size_t count;
};

static char *name_file(void)
{
    char *folder = vv_cache_folder(), *path = NULL;
    if (folder != NULL && asprintf(&path, "%s/peaks.json", folder) < 0)
        path = NULL;
    free(folder);
    return path;
}

static enum varve_code read_member(struct vv_json *json, struct entry *entry,
                                   struct varve_error *error)
{
    const struct { const char *name; double *value; } numbers[] = {
        { "f32_flop_per_s", &entry->f32 }, { "f64_flop_per_s", &entry->f64 },
        { "bytes_per_s", &entry->bytes },
    };
    bool is_machine = vv_json_is(json, "machine"), is_cpus = vv_json_is(json, "cpus");
    double *value = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        value = vv_json_is(json, numbers[i].name) ? numbers[i].value : value;
    VV_TRY(vv_json_next(json, error));
    bool is_number = json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL;
    if (is_machine && json->token == VV_JSON_STRING)
        snprintf(entry->machine, sizeof entry->machine, "%s", json->text);
    else if (is_cpus && json->token == VV_JSON_INTEGER)
        entry->cpus = json->integer;
    else if (value != NULL && is_number)
        *value = json->real;
    else if (json->token != VV_JSON_ARRAY) /* "machines": its entries follow */
        return vv_json_skip(json, error);
    return VARVE_OK;
}

static enum varve_code read_entries(struct vv_json *json, struct entries *entries,
                                    struct varve_error *error)
{
    struct entry entry = { .cpus = 0 };
    while (json->token != VV_JSON_END) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT)
            entry = (struct entry){ .cpus = 0 };
        else if (json->token == VV_JSON_NAME)
            VV_TRY(read_member(json, &entry, error));
        else if (json->token == VV_JSON_OBJECT_END && entry.machine[0] != '\0' &&
                 entries->count < MACHINES_MAX) {
            entries->items[entries->count++] = entry;
            entry.machine[0] = '\0';
        }
    }
    return VARVE_OK;
}

/* A file that cannot be read counts as empty: it only holds results of measurements. */
static void read_file(const char *path, struct entries *entries)
{
    char *text = malloc(FILE_BYTES_MAX); /* more than a small stack has                          */
    struct vv_json json;
    size_t length;
    entries->count = 0;
    if (path != NULL && text != NULL &&
        vv_folder_read(AT_FDCWD, path, text, FILE_BYTES_MAX, &length) == 0) {
        vv_json_init_text(&json, text, length);
        if (read_entries(&json, entries, NULL) != VARVE_OK)
            entries->count = 0;
        vv_json_deinit(&json);
    }
    free(text);
}

static struct entry *find_entry(struct entries *entries, const char *machine, int64_t cpus)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->items[i].machine, machine) == 0 && entries->items[i].cpus == cpus)
            return &entries->items[i];
    return NULL;
}

bool vv_peak_file_load(const char *machine, int64_t cpus, struct vv_peaks *out_peaks)
{
    char *path = name_file();
    struct entries entries;
    read_file(path, &entries);
    free(path);
    const struct entry *entry = find_entry(&entries, machine, cpus);
    if (entry == NULL || entry->bytes <= 0)
        return false;
    *out_peaks = (struct vv_peaks){ .matrix_f64 = entry->f64,
                                    .matrix_f32 = entry->f32,
                                    .vector_f64 = entry->f64,
                                    .vector_f32 = entry->f32,
                                    .bytes = entry->bytes };
    return true;
}

bool vv_peak_file_of_run(const struct vv_model *model, struct vv_peaks *out_peaks)
{
    char machine[256];
    if (model->run.machine != 0)
        return vv_peak_file_load(vv_intern_text(&model->strings, model->run.machine),
                                 model->run.cpus, out_peaks);
    vv_machine_name(machine, sizeof machine);
    bool is_known = vv_peak_file_load(machine, vv_machine_cpus(), out_peaks);
    out_peaks->is_assumed = true;
    return is_known;
}

static void write_entries(FILE *stream, const struct entries *entries)
{
    fputs("{\"schema\": \"varve.peaks/1\", \"machines\": [", stream);
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        fprintf(stream, "%s\n{\"machine\": ", i > 0 ? "," : "");
        vv_json_write_text(stream, entry->machine);
        fputs(", \"cpus\": ", stream);
        vv_json_write_int(stream, entry->cpus);
        const struct { const char *name; double value; } numbers[] = {
            { "f32_flop_per_s", entry->f32 }, { "f64_flop_per_s", entry->f64 },
            { "bytes_per_s", entry->bytes },
        };
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            fprintf(stream, ", \"%s\": ", numbers[n].name);
            vv_json_write_real(stream, numbers[n].value);
        }
        fputc('}', stream);
    }
    fputs("\n]}\n", stream);
}

enum varve_code vv_peak_file_place(char **out_path, struct varve_error *error)
{
    char *path = name_file();
    if (path == NULL)
        VV_FAIL(error, VARVE_IO,
                "no place for caches: neither XDG_CACHE_HOME nor HOME is a folder's whole name");
    if (!vv_cache_make_folders(path)) {
        (void)vv_fail(error, VARVE_IO,
                      "no place for caches: '%s' would not lie in a folder that is yours alone",
                      path);
        free(path);
        return VARVE_IO;
    }
    *out_path = path;
    return VARVE_OK;
}

void vv_peak_file_put(const char *machine, int64_t cpus, const struct vv_peaks *peaks, FILE *stream)
{
    struct entries entries;
    char *path = name_file();
    read_file(path, &entries);
    free(path);
    struct entry *entry = find_entry(&entries, machine, cpus);
    if (entry == NULL && entries.count == MACHINES_MAX)
        memmove(entries.items, entries.items + 1, --entries.count * sizeof *entries.items);
    if (entry == NULL)
        entry = &entries.items[entries.count++];
    *entry = (struct entry){
        .cpus = cpus, .f32 = peaks->vector_f32, .f64 = peaks->vector_f64, .bytes = peaks->bytes
    };
    snprintf(entry->machine, sizeof entry->machine, "%s", machine);
    write_entries(stream, &entries);
}
