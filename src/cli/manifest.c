/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json_write.h"
#include "cli/machine.h"
#include "cli/process_facts.h"
#include "ctf/layout.h"
#include "ctf/stream_file.h"
#include "varve/varve.h"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define VERSION STRING(VARVE_VERSION_MAJOR) "." STRING(VARVE_VERSION_MINOR) "." STRING(VARVE_VERSION_PATCH)

static void put_text(FILE *stream, const char *key, const char *value)
{
    fprintf(stream, ",\n  \"%s\": ", key);
    vv_json_write_text(stream, value);
}

static void put_int(FILE *stream, const char *key, int64_t value)
{
    fprintf(stream, ",\n  \"%s\": ", key);
    vv_json_write_int(stream, value);
}

static void put_machine(FILE *stream)
{
    struct utsname names;
    char kernel[2 * sizeof names.release], processor[256];
    if (uname(&names) != 0)
        return;
    snprintf(kernel, sizeof kernel, "%s %s", names.sysname, names.release);
    put_text(stream, "host", names.nodename);
    put_text(stream, "kernel", kernel);
    vv_machine_name(processor, sizeof processor);
    put_text(stream, "machine", processor);
    put_int(stream, "cpus", vv_machine_cpus());
}

static int is_process_folder(const struct dirent *entry)
{
    return vv_stream_folder_pid(entry->d_name) != 0;
}

/* Those that could not record as usual, and why: mostly none. */
static void put_processes(FILE *stream, const char *trace)
{
    struct dirent **names;
    bool has_one = false;
    int count = scandir(trace, &names, is_process_folder, versionsort);
    for (int i = 0; i < count; i++) {
        struct vv_process_facts facts = { .storage = "" };
        char *folder;
        if (asprintf(&folder, "%s/%s", trace, names[i]->d_name) >= 0) {
            vv_process_facts_read(folder, &facts);
            free(folder);
        }
        if (facts.storage[0] != '\0') {
            fprintf(stream, "%s{\"process\": ", has_one ? ", " : ",\n  \"processes\": [");
            vv_json_write_text(stream, names[i]->d_name);
            fputs(", \"storage\": ", stream);
            vv_json_write_text(stream, facts.storage);
            putc('}', stream);
            has_one = true;
        }
        free(names[i]);
    }
    if (has_one)
        putc(']', stream);
    if (count >= 0)
        free(names);
}

static void put_collectors(FILE *stream, const struct vv_manifest *manifest)
{
    fputs(",\n  \"collectors\": [", stream);
    if (manifest->end != NULL) {
        fprintf(stream, "{\"name\": \"varve\", \"attached\": %s, \"why\": ",
                manifest->attached ? "true" : "false");
        vv_json_write_text(stream, manifest->why != NULL ? manifest->why : "");
        putc('}', stream);
    }
    fputs("]\n}\n", stream);
}

static void put_manifest(FILE *stream, const char *trace, const struct vv_manifest *manifest)
{
    char directory[PATH_MAX];
    fprintf(stream, "{\n  \"varve_format\": %d", VV_CTF_FORMAT_VERSION);
    put_text(stream, "varve_version", VERSION);
    fputs(",\n  \"command\": [", stream);
    for (size_t i = 0; manifest->command[i] != NULL; i++) {
        fputs(i > 0 ? ", " : "", stream);
        vv_json_write_text(stream, manifest->command[i]);
    }
    putc(']', stream);
    if (getcwd(directory, sizeof directory) != NULL)
        put_text(stream, "directory", directory);
    put_machine(stream);
    put_int(stream, "begin_realtime_ns", manifest->begin_realtime_ns);
    if (manifest->end != NULL) {
        put_int(stream, "end_realtime_ns", manifest->end->end_realtime_ns);
        put_int(stream, "exit_code", manifest->end->exit_code);
        put_int(stream, "signal", manifest->end->signal);
        put_processes(stream, trace);
    }
    put_collectors(stream, manifest);
}

enum varve_code vv_manifest_write(const char *trace, const struct vv_manifest *manifest,
                                  struct varve_error *error)
{
    char *path = NULL, *temporary = NULL;
    enum varve_code code = VARVE_OK;
    if (asprintf(&path, "%s/manifest.json", trace) < 0)
        path = NULL;
    if (asprintf(&temporary, "%s/.manifest.json", trace) < 0)
        temporary = NULL;
    FILE *stream = path != NULL && temporary != NULL ? fopen(temporary, "we") : NULL;
    if (stream == NULL)
        code = vv_fail_errno(error, errno, "cannot write '%s/manifest.json'", trace);
    else {
        put_manifest(stream, trace, manifest);
        bool has_failed = ferror(stream) != 0;
        has_failed = fclose(stream) != 0 || has_failed;
        if (has_failed || rename(temporary, path) != 0)
            code = vv_fail_errno(error, errno, "cannot write '%s'", path);
        if (code != VARVE_OK)
            unlink(temporary);
    }
    free(path);
    free(temporary);
    return code;
}
