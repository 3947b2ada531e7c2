/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/engine/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where Python packages have them, below site-packages. The first reads most. */
static const char *const in_packages[VV_MLIR_LIBRARIES_MAX] = {
    "torch_mlir/_mlir_libs/libTorchMLIRAggregateCAPI.so",
    "iree/compiler/_mlir_libs/libIREECompiler.so",
    "mlir/_mlir_libs/libMLIRPythonCAPI.so",
};

static const char *environment(void)
{
    const char *folder = getenv("VIRTUAL_ENV");
    if (folder == NULL || folder[0] == '\0')
        folder = getenv("CONDA_PREFIX");
    return folder != NULL && folder[0] == '/' ? folder : NULL;
}

static void find_in(const char *folder, struct vv_mlir_libraries *libraries)
{
    for (size_t i = 0; i < VV_MLIR_LIBRARIES_MAX; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        int bytes = snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/%s", folder,
                             in_packages[i]);
        if (bytes >= (int)sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
            continue;
        snprintf(libraries->paths[libraries->count++], PATH_MAX, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
}

enum varve_code vv_mlir_find_libraries(const struct vv_mlir_engine_options *options,
                                       struct vv_mlir_libraries *out_libraries,
                                       struct varve_error *error)
{
    const char *named = options->library, *folder = environment();
    out_libraries->count = 0;
    if (named != NULL && strcmp(named, "python") != 0) {
        if (strlen(named) >= PATH_MAX || access(named, R_OK) != 0)
            VV_FAIL_SAID(error, VARVE_NOT_FOUND,
                         "there is no library %s; give the path of one, or --mlir-lib=python",
                         named);
        snprintf(out_libraries->paths[0], PATH_MAX, "%s%s", strchr(named, '/') ? "" : "./", named);
        out_libraries->count = 1;
        return VARVE_OK;
    }
    if (folder != NULL)
        find_in(folder, out_libraries);
    if (named == NULL || out_libraries->count > 0)
        return VARVE_OK;
    if (folder == NULL)
        VV_FAIL_SAID(error, VARVE_NOT_FOUND,
                     "--mlir-lib=python: no Python environment is active (VIRTUAL_ENV and "
                     "CONDA_PREFIX are not set); activate one, or give the library's path");
    VV_FAIL_SAID(error, VARVE_NOT_FOUND,
                 "--mlir-lib=python: %s has neither torch-mlir nor iree-base-compiler; install the "
                 "one that wrote the module, or give the library's path",
                 folder);
}

bool vv_mlir_find_converter(const struct vv_mlir_engine_options *options, const char *name,
                            char out_path[PATH_MAX])
{
    static const char *const beside[] = { "varve", "mlir" }; /* installed; in the build folder */
    Dl_info here;
    if (options->converters != NULL) {
        int bytes = snprintf(out_path, PATH_MAX, "%s/%s", options->converters, name);
        return bytes < PATH_MAX && access(out_path, X_OK) == 0;
    }
    if (dladdr((const void *)in_packages, &here) == 0 || here.dli_fname == NULL)
        return false;
    const char *slash = strrchr(here.dli_fname, '/');
    int length = slash == NULL ? 0 : (int)(slash - here.dli_fname);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        int bytes = snprintf(out_path, PATH_MAX, "%.*s/%s/%s", length == 0 ? 1 : length,
                             length == 0 ? "." : here.dli_fname, beside[i], name);
        if (bytes < PATH_MAX && access(out_path, X_OK) == 0)
            return true;
    }
    return false;
}
