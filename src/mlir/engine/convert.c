/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/engine/convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mlir/engine/library.h"
#include "mlir/engine/run.h"
#include "mlir/file/bytecode.h"

static const char *const form_words[] = {
#define VV_MLIR_FORM(name, word) word,
    VV_MLIR_FORMS(VV_MLIR_FORM)
#undef VV_MLIR_FORM
};

/* ---- what must not be lost ---- */

/* `bytes` is 0 for an empty file, which has no map. */
struct view {
    char *map;
    size_t bytes;
};

static enum varve_code map_file(int file, struct view *out_view, struct varve_error *error)
{
    struct stat about;
    *out_view = (struct view){ 0 };
    if (fstat(file, &about) != 0)
        return vv_fail_errno(error, errno, "cannot read a converted module");
    if (about.st_size == 0)
        return VARVE_OK;
    void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED)
        return vv_fail_errno(error, errno, "cannot map a converted module");
    *out_view = (struct view){ map, (size_t)about.st_size };
    return VARVE_OK;
}

static enum varve_code list_resources(const struct view *view, struct vv_mlir_resources *out,
                                      struct varve_error *error)
{
    struct vv_mlir_bytecode bytecode;
    if (view->bytes < 4 || memcmp(view->map, "ML\xefR", 4) != 0)
        return vv_mlir_resources_read(view->map, view->bytes, out, error);
    VV_TRY(vv_mlir_bytecode_read(view->map, view->bytes, &bytecode, error));
    *out = bytecode.resources;
    bytecode.resources = (struct vv_mlir_resources){ 0 };
    vv_mlir_bytecode_deinit(&bytecode);
    return VARVE_OK;
}

static enum varve_code check_views(const char *name, const struct view *before,
                                   const struct view *after, struct varve_error *error)
{
    struct vv_mlir_resources had = { 0 }, has = { 0 };
    char list[256];
    enum varve_code code = list_resources(before, &had, error);
    if (code == VARVE_OK)
        code = list_resources(after, &has, error);
    if (code != VARVE_OK)
        vv_error_note(error, "%s", name);
    size_t all = had.count;
    size_t lost = code == VARVE_OK ? vv_mlir_resources_lost(&had, &has, list, sizeof list) : 0;
    vv_mlir_resources_deinit(&had);
    vv_mlir_resources_deinit(&has);
    if (lost > 0)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "%s: %zu of its %zu resources (weights) would be lost: %s; give --mlir-lib of "
                     "the library that wrote it, or its text",
                     name, lost, all, list);
    return code;
}

static enum varve_code check_loss(const char *name, int from, int to, struct varve_error *error)
{
    struct view before, after;
    VV_TRY(map_file(from, &before, error));
    enum varve_code code = map_file(to, &after, error);
    if (code == VARVE_OK)
        code = check_views(name, &before, &after, error);
    if (before.map != NULL)
        munmap(before.map, before.bytes);
    if (after.map != NULL)
        munmap(after.map, after.bytes);
    return code;
}

/* ---- by whom ---- */

struct attempt {
    const char *library; /* NULL: LLVM 19                                                        */
    char program[PATH_MAX];
};

static enum varve_code try_one(const struct vv_mlir_conversion *conversion,
                               const struct attempt *attempt,
                               const struct vv_mlir_engine_options *options,
                               struct varve_error *error)
{
    if (ftruncate(conversion->to, 0) != 0 || lseek(conversion->to, 0, SEEK_SET) != 0)
        return vv_fail_errno(error, errno, "cannot write the converted module");
    struct vv_mlir_run run = {
        .program = attempt->program,
        .library = attempt->library,
        .name = conversion->name,
        .form = form_words[conversion->form],
        .from = conversion->from,
        .to = conversion->to,
        .limit_ms = options->limit_ms > 0 ? options->limit_ms : VV_MLIR_CONVERTER_LIMIT_MS,
    };
    VV_TRY(vv_mlir_run(&run, error));
    return check_loss(conversion->name, conversion->from, conversion->to, error);
}

static enum varve_code find_attempts(const struct vv_mlir_conversion *conversion,
                                     const struct vv_mlir_engine_options *options,
                                     struct vv_mlir_libraries *libraries,
                                     struct attempt *attempts, size_t *out_count,
                                     struct varve_error *error)
{
    size_t count = 0;
    libraries->count = 0;
    if (options->engine != VV_MLIR_ENGINE_LLVM)
        VV_TRY(vv_mlir_find_libraries(options, libraries, error));
    for (size_t i = 0; i < libraries->count; i++) {
        attempts[count].library = libraries->paths[i];
        if (vv_mlir_find_converter(options, "varve-mlir-library", attempts[count].program))
            count++;
    }
    attempts[count].library = NULL;
    if (options->engine != VV_MLIR_ENGINE_LIBRARY && options->library == NULL &&
        vv_mlir_find_converter(options, "varve-mlir-llvm", attempts[count].program))
        count++;
    if (count == 0 && options->engine == VV_MLIR_ENGINE_LLVM)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "this build of varve has no LLVM inside; build it with libmlir-19-dev and "
                     "llvm-19-dev, or give --mlir-lib");
    if (count == 0)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "%s needs MLIR itself: give --mlir-lib=PATH of the library that wrote it, or "
                     "activate a Python with torch-mlir or iree-base-compiler; or print it as text "
                     "with the tool that wrote it: X-opt --mlir-print-debuginfo",
                     conversion->name);
    *out_count = count;
    return VARVE_OK;
}

enum varve_code vv_mlir_convert_by(const struct vv_mlir_conversion *conversion,
                                   const struct vv_mlir_engine_options *options,
                                   enum vv_mlir_engine *out_engine, struct varve_error *error)
{
    static const struct vv_mlir_engine_options none;
    struct varve_error first = { 0 }, other = { 0 };
    if (options == NULL)
        options = &none;
    struct found {
        struct vv_mlir_libraries libraries;
        struct attempt attempts[VV_MLIR_LIBRARIES_MAX + 1];
    } *found = malloc(sizeof *found);
    if (found == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for paths");
    size_t count = 0;
    enum varve_code code = find_attempts(conversion, options, &found->libraries, found->attempts,
                                         &count, &first);
    for (size_t i = 0; i < count; i++) {
        code = try_one(conversion, &found->attempts[i], options, i == 0 ? &first : &other);
        if (code == VARVE_OK)
            *out_engine = found->attempts[i].library != NULL ? VV_MLIR_ENGINE_LIBRARY
                                                             : VV_MLIR_ENGINE_LLVM;
        if (code == VARVE_OK || code == VARVE_LIMIT)
            break;
    }
    free(found);
    if (code == VARVE_OK)
        return VARVE_OK;
    if (code == VARVE_LIMIT && other.code == VARVE_LIMIT)
        first = other;
    if (error != NULL)
        *error = first;
    return first.code; /* the first engine is the best */
}

enum varve_code vv_mlir_convert(const char *name, int from, int to, enum vv_mlir_form form,
                                const struct vv_mlir_engine_options *options,
                                struct varve_error *error)
{
    struct vv_mlir_conversion conversion = { name, from, to, form };
    enum vv_mlir_engine engine;
    return vv_mlir_convert_by(&conversion, options, &engine, error);
}
