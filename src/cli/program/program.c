/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/line/say.h"
#include "mlir/vmfb/vmfb.h"

struct vv_mlir_engine_options vv_program_engine(const struct vv_arguments *arguments)
{
    struct vv_mlir_engine_options options = { .library = arguments->mlir_lib };
    for (int engine = 0; engine < VV_MLIR_ENGINE_COUNT && arguments->engine != NULL; engine++)
        if (strcmp(vv_mlir_engine_words[engine], arguments->engine) == 0)
            options.engine = (enum vv_mlir_engine)engine;
    return options;
}

/* ---- .vmfb ---- */

static enum varve_code map_vmfb(const char *path, int file, struct vv_program *program,
                                struct varve_error *error)
{
    struct stat status;
    uint64_t bytes;
    if (fstat(file, &status) != 0 || status.st_size <= 0)
        VV_FAIL(error, VARVE_IO, "cannot read '%s'", path);
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED)
        VV_FAIL(error, VARVE_NO_MEMORY, "cannot map '%s'", path);
    enum varve_code code = vv_mlir_vmfb_text(path, map, (uint64_t)status.st_size,
                                             &program->locations, &bytes, error);
    munmap(map, (size_t)status.st_size);
    if (code == VARVE_OK)
        code = vv_mlir_read(path, program->locations, bytes, &program->module, error);
    return code;
}

/* False: the file is no .vmfb, or cannot be opened; the engine then says what it is. A pipe is left
 * to the engine unopened: its writer writes once. */
static bool open_vmfb(const char *path, struct vv_program *program, enum varve_code *out_code,
                      struct varve_error *error)
{
    char head[4096];
    struct stat status;
    bool is_file = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    int file = is_file ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    ssize_t bytes = pread(file, head, sizeof head, 0);
    bool is_vmfb = bytes > 0 && vv_mlir_is_vmfb(head, (uint64_t)bytes);
    if (is_vmfb)
        *out_code = map_vmfb(path, file, program, error);
    close(file);
    return is_vmfb;
}

/* ---- modules ---- */

static enum varve_code open_module(const struct vv_arguments *arguments, struct vv_program *program,
                                   struct varve_error *error)
{
    struct vv_mlir_engine_options options = vv_program_engine(arguments);
    VV_TRY(vv_mlir_source_open(program->path, &options, &program->source, error));
    return vv_mlir_read(program->path, program->source.text, program->source.bytes,
                        &program->module, error);
}

int vv_program_open(const struct vv_arguments *arguments, const char *path, bool takes_vmfb,
                    struct vv_program *out_program)
{
    struct varve_error error;
    enum varve_code code;
    *out_program = (struct vv_program){ .path = path };
    if (!takes_vmfb || !open_vmfb(path, out_program, &code, &error))
        code = open_module(arguments, out_program, &error);
    if (code == VARVE_OK && out_program->module.cut_places > 0)
        vv_say("%s: %u locations are longer than is read of one; what stands first in them counts",
               path, out_program->module.cut_places);
    if (code == VARVE_OK)
        return VV_EXIT_DONE;
    vv_program_close(out_program);
    return vv_print_error(&error);
}

void vv_program_close(struct vv_program *program)
{
    vv_mlir_deinit(&program->module);
    vv_mlir_source_close(&program->source);
    free(program->locations);
    *program = (struct vv_program){ .path = NULL };
}

enum varve_code vv_program_keeps(const char *input, const char *output, struct varve_error *error)
{
    struct stat in, out;
    char *former;
    if (strcmp(output, "-") == 0 || strcmp(input, "-") == 0 || stat(input, &in) != 0)
        return VARVE_OK;
    if (stat(output, &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        VV_FAIL_SAID(error, VARVE_INVALID, "'%s' is the input, which is never changed: name "
                     "another file behind -o", output);
    if (asprintf(&former, "%s.old", output) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a file name");
    bool is_former = stat(former, &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    free(former);
    if (is_former)
        VV_FAIL_SAID(error, VARVE_INVALID, "the former '%s' would be kept as '%s.old', which is "
                     "the input: name another file behind -o", output, output);
    return VARVE_OK;
}

/* ---- modules without locations ---- */

void vv_program_say_bare(const struct vv_program *program)
{
    static const struct {
        const char *dialect, *says;
    } producers[] = {
        { "torch.", "torch-mlir prints them:  module.operation.get_asm(enable_debug_info=True)" },
        { "onnx.", "torch-mlir prints them:  module.operation.get_asm(enable_debug_info=True)" },
        { "stablehlo.", "JAX prints them:  lowered.as_text(debug_info=True)" },
        { "mhlo.", "JAX prints them:  lowered.as_text(debug_info=True)" },
        { "tf.", "TensorFlow prints them:  tf.mlir.experimental.convert_function(f, "
                 "show_debug_info=True)" },
        { "tf_executor.", "TensorFlow prints them:  "
                          "tf.mlir.experimental.convert_function(f, show_debug_info=True)" },
        { "", "mlir-opt, iree-compile and their like print them:  --mlir-print-debuginfo" },
    };
    const struct vv_mlir_module *module = &program->module;
    size_t best = sizeof producers / sizeof producers[0] - 1;
    for (uint32_t row = 0; row < module->op_count; row++)
        for (size_t i = 0; i < best; i++)
            if (strncmp(vv_mlir_string(module, module->ops[row].name), producers[i].dialect,
                        strlen(producers[i].dialect)) == 0)
                best = i;
    vv_say("no operation of %s has a location: names and source lines cannot be matched",
           program->path);
    vv_say_more("%s", producers[best].says);
}
