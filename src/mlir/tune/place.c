/* SPDX-License-Identifier: Apache-2.0 */
/* place.c — IREE's programs, and the work folder. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mlir/tune/tuning.h"

#define LLVM_CPU                                                                     \
    "--iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu " \
    "--iree-llvmcpu-target-cpu=host"
#define LIMIT_MS 300000

const char *vv_tuning_text(struct vv_tuning *tuning, const char *format, ...)
{
    char *text;
    va_list words;
    va_start(words, format);
    int length = vasprintf(&text, format, words);
    va_end(words);
    if (length < 0)
        return NULL;
    const char *kept = vv_arena_text(&tuning->tune->arena, text, (size_t)length);
    free(text);
    return kept;
}

void vv_tuning_tell(const struct vv_tuning *tuning, const char *format, ...)
{
    char text[256];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    if (tuning->options->tell != NULL)
        tuning->options->tell(tuning->options->context, text);
}

/* ---- programs ---- */

static bool is_program(const char *folder, size_t length, const char *name, char path[PATH_MAX])
{
    int bytes = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name);
    return bytes > 0 && bytes < PATH_MAX && access(path, X_OK) == 0;
}

/* In --iree, or in the active environment, or in PATH. */
static bool search(const struct vv_tuning *tuning, const char *name, char path[PATH_MAX])
{
    static const char *const environments[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
    const char *given = tuning->options->iree, *folders = getenv("PATH");
    char bin[PATH_MAX];
    if (given != NULL && is_program(given, strlen(given), name, path))
        return true;
    if (given != NULL) {
        int bytes = snprintf(bin, sizeof bin, "%s/bin", given);
        return bytes < PATH_MAX && is_program(bin, strlen(bin), name, path);
    }
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        const char *environment = getenv(environments[i]);
        if (environment == NULL || snprintf(bin, sizeof bin, "%s/bin", environment) >= PATH_MAX)
            continue;
        if (is_program(bin, strlen(bin), name, path))
            return true;
    }
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        if (length > 0 && is_program(folders, length, name, path))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static enum varve_code find_programs(struct vv_tuning *tuning, struct varve_error *error)
{
    const struct { const char *name; const char **path; } programs[] = {
        { "iree-compile", &tuning->compiler },
        { "iree-run-module", &tuning->runner },
        { "iree-benchmark-module", &tuning->benchmark },
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char path[PATH_MAX];
        if (!search(tuning, programs[i].name, path))
            VV_FAIL_SAID(error, VARVE_NOT_FOUND,
                         "there is no %s in %s: pip install iree-base-compiler iree-base-runtime, "
                         "then activate that environment or give --iree FOLDER",
                         programs[i].name,
                         tuning->options->iree != NULL ? tuning->options->iree
                                                       : "the active environment or PATH");
        VV_TUNING_TEXT(programs[i].path, tuning, "%s", path);
    }
    return VARVE_OK;
}

/* ---- the folder ---- */

enum varve_code vv_tuning_store(const char *path, const char *text, struct varve_error *error)
{
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s.part", path) >= (int)sizeof temporary)
        VV_FAIL(error, VARVE_INVALID, "'%s' is too long a path", path);
    FILE *stream = fopen(temporary, "w");
    if (stream == NULL)
        return vv_fail_errno(error, errno, "cannot write '%s'", temporary);
    bool is_written = fputs(text, stream) >= 0;
    is_written = fclose(stream) == 0 && is_written;
    if (!is_written || rename(temporary, path) != 0) {
        int failure = errno;
        unlink(temporary);
        return vv_fail_errno(error, failure, "cannot write '%s'", path);
    }
    return VARVE_OK;
}

/* True if the file has this text. *out_is_there: there is such a file. */
static bool has_text(const char *path, const char *text, bool *out_is_there)
{
    char found[PATH_MAX + 1024] = "";
    FILE *stream = fopen(path, "r");
    *out_is_there = stream != NULL;
    if (stream == NULL)
        return false;
    size_t bytes = fread(found, 1, sizeof found - 1, stream);
    fclose(stream);
    found[bytes] = '\0';
    return strcmp(found, text) == 0;
}

/* What the folder holds belongs to one module, compiler and set of flags. */
static enum varve_code claim(struct vv_tuning *tuning, const struct stat *module,
                             struct varve_error *error)
{
    const char *path, *claim;
    bool is_there;
    VV_TUNING_TEXT(&path, tuning, "%s/module", tuning->folder);
    VV_TUNING_TEXT(&claim, tuning, "%s\n%" PRId64 " bytes, %" PRId64 ".%09ld\n%s\n%s\n",
                   tuning->options->module, (int64_t)module->st_size,
                   (int64_t)module->st_mtim.tv_sec, module->st_mtim.tv_nsec, tuning->compiler,
                   tuning->flags);
    if (has_text(path, claim, &is_there))
        return VARVE_OK;
    if (is_there)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "'%s' holds the work for another module, version of it, compiler or flags: "
                     "remove it, or name another folder with --work",
                     tuning->folder);
    return vv_tuning_store(path, claim, error);
}

static enum varve_code open_folder(struct vv_tuning *tuning, struct varve_error *error)
{
    char absolute[PATH_MAX];
    struct stat module;
    if (stat(tuning->options->module, &module) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", tuning->options->module);
    if (mkdir(tuning->options->folder, 0700) != 0 && errno != EEXIST)
        return vv_fail_errno(error, errno, "cannot make '%s'", tuning->options->folder);
    if (realpath(tuning->options->folder, absolute) == NULL)
        return vv_fail_errno(error, errno, "cannot use '%s'", tuning->options->folder);
    if (strpbrk(absolute, " \t\n=,") != NULL)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "'%s': flags of the compiler cannot name this folder; name one without "
                     "blanks, commas and equals signs with --work",
                     absolute);
    VV_TUNING_TEXT(&tuning->folder, tuning, "%s", absolute);
    return claim(tuning, &module, error);
}

enum varve_code vv_tuning_place(struct vv_tuning *tuning, struct varve_error *error)
{
    const struct vv_tune_options *options = tuning->options;
    tuning->flags = options->flags != NULL ? options->flags : LLVM_CPU;
    tuning->function = options->function != NULL ? options->function : "main";
    tuning->device = options->device != NULL ? options->device : "local-task";
    tuning->limit_ms = options->limit_ms > 0 ? options->limit_ms : LIMIT_MS;
    VV_TRY(find_programs(tuning, error));
    return open_folder(tuning, error);
}
