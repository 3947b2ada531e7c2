/* SPDX-License-Identifier: Apache-2.0 */
/* stream_folder.h — a trace of our own with one process, for fuzz targets: good metadata, and
 * stream files that the target writes. The folder is removed at exit. */
#ifndef VARVE_TESTS_STREAM_FOLDER_H
#define VARVE_TESTS_STREAM_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/memory_file.h"
#include "ctf/layout.h"
#include "import/importer.h"

static char stream_folder[64];

static const char stream_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 32; } := u32;\n"
    "typealias integer { size = 64; align = 64; } := u64;\n"
    "env { varve_format = 1; pid = 1; };\nclock { freq = 2445428000; offset_s = 1763700000; };\n"
    "event { id = 40; name = \"later\"; fields := struct { u32 n; u64 items[n]; string s; }; };\n"
    "event { id = 64; name = \"b\"; model.emf.uri = \"varve:begin?layer=OP&line=1&file=a.c\"; };\n"
    "event { id = 65; name = \"n\"; model.emf.uri = \"varve:next?layer=STEP\"; };\n"
    "event { id = 66; name = \"m\"; model.emf.uri = \"varve:mark?layer=API\"; };\n"
    "event { id = 67; name = \"c\"; model.emf.uri = \"varve:counter?layer=METRIC\"; };\n"
    "event { id = 68; name = \"a\"; model.emf.uri = \"varve:async_begin?layer=DEVICE\"; };\n"
    "event { id = 69; name = \"a\"; model.emf.uri = \"varve:async_end?layer=DEVICE\"; };\n"
    "event { id = 70; name = \"f\"; model.emf.uri = \"varve:flow_out?layer=COMM\"; };\n"
    "event { id = 71; name = \"f\"; model.emf.uri = \"varve:flow_in?layer=COMM\"; };\n";

static inline int stream_folder_remove_one(const char *path, const struct stat *status, int kind,
                                           struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void stream_folder_remove(void)
{
    nftw(stream_folder, stream_folder_remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

/* "thread.1.0" and so on. The folder is made with the first file. */
static inline void stream_folder_write(const char *name, const void *data, size_t size)
{
    const char *where = getenv("TMPDIR");
    char path[96];
    if (stream_folder[0] == '\0') {
        snprintf(stream_folder, sizeof stream_folder, "%s/varve-fuzz-XXXXXX",
                 where != NULL ? where : "/tmp");
        if (mkdtemp(stream_folder) == NULL)
            exit(1);
        atexit(stream_folder_remove);
        stream_folder_write("metadata", stream_metadata, strlen(stream_metadata));
    }
    snprintf(path, sizeof path, "%s/%s", stream_folder, name);
    /* cut after it, not before: its memory is used again */
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size || ftruncate(file, (off_t)size) != 0 ||
        close(file) != 0)
        exit(1);
}

/* `size`: of what the streams are made of. */
static inline enum varve_code stream_folder_import(size_t size, struct vv_model **out_model,
                                                   struct varve_error *error)
{
    const struct vv_import_options options = { .threads = memory_file_threads(size) };
    const char *const paths[] = { stream_folder };
    return vv_import_all(paths, 1, &options, out_model, error);
}

#endif
