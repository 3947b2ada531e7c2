/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "base/text/json_write.h"
#include "cli/recording/process_facts.h"
#include "ctf/layout.h"
#include "ctf/stream_file.h"
#include "machine/machine.h"
#include "varve/varve.h"

#define TEMPORARY ".manifest.json"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define VERSION                                                                                    \
    STRING(VARVE_VERSION_MAJOR) "." STRING(VARVE_VERSION_MINOR) "." STRING(VARVE_VERSION_PATCH)

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

/* Lists the processes that could not record as usual, with the reason; mostly there are none. */
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

/* The file "lost" has this number too, and still counts if a process outlives the command. */
static void put_lost(FILE *stream, const struct vv_lost *lost)
{
    if (lost == NULL || lost->records == 0)
        return;
    const char *why = lost->os_errno != 0 ? strerrordesc_np(lost->os_errno) : NULL;
    fprintf(stream,
            ",\n  \"lost_homeless\": {\"records\": %" PRIu64 ", \"processes\": %" PRIu64
            ", \"why\": ",
            lost->records, lost->processes);
    vv_json_write_text(stream, why != NULL ? why : "");
    putc('}', stream);
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
    if (manifest->end != NULL && manifest->metrics != NULL) {
        fputs(", {\"name\": \"metrics\", \"attached\": true, \"why\": ", stream);
        vv_json_write_text(stream, manifest->metrics);
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
        put_int(stream, "cpu_ns", manifest->end->cpu_ns);
        put_processes(stream, trace);
        put_lost(stream, manifest->lost);
    }
    put_collectors(stream, manifest);
}

/* Whoever may write to the folder may have put a link at the name: it is removed, once. If the name
 * is taken again, the writing fails. */
static int open_temporary(int folder, mode_t mode, FILE **out_stream)
{
    int file = -1, failure = vv_folder_create(folder, TEMPORARY, mode, &file);
    if (failure == EEXIST && unlinkat(folder, TEMPORARY, 0) == 0)
        failure = vv_folder_create(folder, TEMPORARY, mode, &file);
    if (failure != 0)
        return failure;
    *out_stream = fdopen(file, "w");
    if (*out_stream != NULL)
        return 0;
    close(file);
    return ENOMEM;
}

enum varve_code vv_manifest_write(int folder, const char *trace, const struct vv_manifest *manifest,
                                  struct varve_error *error)
{
    FILE *stream = NULL;
    int failure =
        open_temporary(folder, manifest->is_shared ? VV_FILE_SHARED : VV_FILE_PRIVATE, &stream);
    if (failure == 0) {
        put_manifest(stream, trace, manifest);
        bool has_failed = ferror(stream) != 0;
        errno = EIO;
        has_failed = fclose(stream) != 0 || has_failed;
        if (has_failed || renameat(folder, TEMPORARY, folder, "manifest.json") != 0)
            failure = errno;
        if (failure != 0)
            unlinkat(folder, TEMPORARY, 0);
    }
    return failure == 0 ? VARVE_OK
                        : vv_fail_errno(error, failure, "cannot write '%s/manifest.json'", trace);
}
