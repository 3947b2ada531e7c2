/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mlir/engine/convert.h"
#include "mlir/engine/form.h"

#define FIRST_BYTES (UINT64_C(1) << 20)

const char *const vv_mlir_engine_words[VV_MLIR_ENGINE_COUNT] = {
#define VV_MLIR_ENGINE(name, word) word,
    VV_MLIR_ENGINES(VV_MLIR_ENGINE)
#undef VV_MLIR_ENGINE
};

void vv_mlir_source_close(struct vv_mlir_source *source)
{
    if (source->map != NULL)
        munmap(source->map, source->bytes);
    else
        free((char *)(uintptr_t)source->text);
    *source = (struct vv_mlir_source){ 0 };
}

/* A pipe, or standard input: into memory. */
static enum varve_code read_all(int file, const char *path, struct vv_mlir_source *out_source,
                                struct varve_error *error)
{
    char *text = NULL;
    uint64_t count = 0, capacity = 0;
    for (;;) {
        if (count == capacity) {
            capacity = capacity == 0 ? FIRST_BYTES : capacity * 2;
            char *grown = realloc(text, capacity);
            if (grown == NULL) {
                free(text);
                VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the %llu bytes of %s",
                        (unsigned long long)capacity, path);
            }
            text = grown;
        }
        ssize_t bytes = read(file, text + count, capacity - count);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0) {
            int failure = errno;
            free(text);
            return vv_fail_errno(error, failure, "cannot read %s", path);
        }
        if (bytes == 0)
            break;
        count += (uint64_t)bytes;
    }
    *out_source = (struct vv_mlir_source){ .text = text, .bytes = count };
    return VARVE_OK;
}

static enum varve_code hold(int file, const char *path, struct vv_mlir_source *out_source,
                            struct varve_error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return vv_fail_errno(error, errno, "cannot read %s", path);
    if (S_ISDIR(about.st_mode))
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "%s is a folder; of a SavedModel of TensorFlow make a module first: "
                     "tf.mlir.experimental.convert_saved_model(FOLDER, \"\", show_debug_info=True)",
                     path);
    if (S_ISCHR(about.st_mode) && !isatty(file)) /* some, as /dev/zero, have no end */
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED, "%s is a device: give a file, or a pipe", path);
    if (!S_ISREG(about.st_mode) || about.st_size == 0)
        return read_all(file, path, out_source, error);
    void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED)
        return vv_fail_errno(error, errno, "cannot map %s", path);
    *out_source = (struct vv_mlir_source){ .text = map, .bytes = (uint64_t)about.st_size,
                                           .map = map };
    return VARVE_OK;
}

/* A file for a converter: the one that is mapped, or one in memory. -1: none. */
static int input_file(const char *path, const struct vv_mlir_source *source)
{
    if (source->map != NULL)
        return strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                      : open(path, O_RDONLY | O_CLOEXEC);
    int file = memfd_create("module", MFD_CLOEXEC);
    for (uint64_t done = 0; file >= 0 && done < source->bytes;) {
        ssize_t bytes = write(file, source->text + done, source->bytes - done);
        if (bytes < 0 && errno != EINTR) {
            close(file);
            return -1;
        }
        done += bytes > 0 ? (uint64_t)bytes : 0;
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* Replaces the file's bytes by their text. */
static enum varve_code convert(const char *path, const char *name,
                               const struct vv_mlir_engine_options *options,
                               struct vv_mlir_source *source, struct varve_error *error)
{
    struct vv_mlir_source text;
    struct vv_mlir_conversion conversion = { .name = name, .form = VV_MLIR_TEXT };
    enum varve_code code = VARVE_OK;
    conversion.from = input_file(path, source);
    conversion.to = memfd_create("text", MFD_CLOEXEC);
    if (conversion.from < 0 || conversion.to < 0)
        code = vv_fail_errno(error, errno, "cannot convert %s", name);
    if (code == VARVE_OK)
        code = vv_mlir_convert_by(&conversion, options, &source->engine, error);
    if (code == VARVE_OK)
        code = hold(conversion.to, name, &text, error);
    if (conversion.from >= 0)
        close(conversion.from);
    if (conversion.to >= 0)
        close(conversion.to);
    if (code != VARVE_OK)
        return code;
    text.form = source->form;
    text.engine = source->engine;
    vv_mlir_source_close(source);
    *source = text;
    return VARVE_OK;
}

static enum varve_code open_file(const char *path, struct vv_mlir_source *out_source,
                                 struct varve_error *error)
{
    if (strcmp(path, "-") == 0)
        return hold(STDIN_FILENO, "standard input", out_source, error);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return vv_fail_errno(error, errno, "cannot open %s", path);
    enum varve_code code = hold(file, path, out_source, error);
    close(file);
    return code;
}

static enum varve_code to_text(const char *path, const char *name,
                               const struct vv_mlir_engine_options *options,
                               struct vv_mlir_source *source, struct varve_error *error)
{
    enum vv_mlir_engine engine = options != NULL ? options->engine : VV_MLIR_ENGINE_AUTO;
    bool is_text = source->form == VV_MLIR_TEXT;
    source->engine = VV_MLIR_ENGINE_OWN;
    if (is_text && (engine == VV_MLIR_ENGINE_AUTO || engine == VV_MLIR_ENGINE_OWN))
        return VARVE_OK;
    if (engine == VV_MLIR_ENGINE_OWN)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "%s is MLIR bytecode, which the engine \"text\" does not read; print it as "
                     "text with the tool that wrote it: X-opt --mlir-print-debuginfo",
                     name);
    return convert(path, name, options, source, error);
}

enum varve_code vv_mlir_source_open(const char *path, const struct vv_mlir_engine_options *options,
                                    struct vv_mlir_source *out_source, struct varve_error *error)
{
    struct vv_mlir_source source;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    VV_TRY(open_file(path, &source, error));
    enum varve_code code = vv_mlir_form_of(name, source.text, source.bytes, &source.form, error);
    if (code == VARVE_OK)
        code = to_text(path, name, options, &source, error);
    if (code != VARVE_OK) {
        vv_mlir_source_close(&source);
        return code;
    }
    *out_source = source;
    return VARVE_OK;
}
