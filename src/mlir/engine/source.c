/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (!S_ISREG(about.st_mode) || about.st_size == 0)
        return read_all(file, path, out_source, error);
    void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED)
        return vv_fail_errno(error, errno, "cannot map %s", path);
    *out_source = (struct vv_mlir_source){ .text = map, .bytes = (uint64_t)about.st_size,
                                           .map = map };
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

enum varve_code vv_mlir_source_open(const char *path, const struct vv_mlir_engine_options *options,
                                    struct vv_mlir_source *out_source, struct varve_error *error)
{
    struct vv_mlir_source source;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    VV_TRY(open_file(path, &source, error));
    enum varve_code code = vv_mlir_form_of(name, source.text, source.bytes, &source.form, error);
    if (code == VARVE_OK && source.form == VV_MLIR_BYTECODE)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_UNSUPPORTED,
                                    "%s is MLIR bytecode; print it as text with the tool that "
                                    "wrote it: X-opt --mlir-print-debuginfo FILE",
                                    name));
    if (code != VARVE_OK) {
        vv_mlir_source_close(&source);
        return code;
    }
    source.engine = VV_MLIR_ENGINE_OWN;
    (void)options;
    *out_source = source;
    return VARVE_OK;
}
