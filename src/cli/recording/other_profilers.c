/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/other_profilers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/line/say.h"
#include "cli/recording/preload.h"

#define PATH_BYTES_MAX 200

/* Variables by which other tools get into a process. */
static const char *const tools[] = {
    "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64",
    "INTEL_JIT_PROFILER64",
    "OMP_TOOL_LIBRARIES",    "ROCP_TOOL_LIBRARIES",   "KOKKOS_TOOLS_LIBS",    "OPENCL_LAYERS",
    "NCCL_PROFILER_PLUGIN",  "KINETO_USE_DAEMON",     "PYTHONPROFILEIMPORTTIME",
};

static bool is_set(const char *name)
{
    const char *value = getenv(name), *slash = value != NULL ? strrchr(value, '/') : NULL;
    const char *file = slash != NULL ? slash + 1 : value;
    /* a varve record around this one sets a variable to its own library */
    return value != NULL && *value != '\0' && strncmp(file, "libvarve.so", 11) != 0;
}

static void say_preloaded(void)
{
    const char *at = getenv("LD_PRELOAD"), *name;
    FILE *line = NULL;
    size_t length;
    while (at != NULL && (name = vv_preload_next_other(&at, &length)) != NULL) {
        bool is_first = line == NULL;
        line = is_first ? vv_say_begin("varve: LD_PRELOAD had others; they stay, before ours: ")
                        : line;
        if (line == NULL)
            return;
        fprintf(line, "%s%.*s", is_first ? "" : ", ",
                (int)(length < PATH_BYTES_MAX ? length : PATH_BYTES_MAX), name);
    }
    if (line != NULL)
        vv_say_end(line);
}

void vv_surroundings_say(void)
{
    FILE *line = NULL;
    say_preloaded();
    if (is_set("VARVE_OUTPUT"))
        vv_say("another varve record runs around this one, and did not record this program");
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (!is_set(tools[i]))
            continue;
        bool is_first = line == NULL;
        line =
            is_first ? vv_say_begin("varve: another tool may have looked on, and was let: ") : line;
        if (line == NULL)
            return;
        fprintf(line, "%s%s", is_first ? "" : ", ", tools[i]);
    }
    if (line != NULL)
        vv_say_end(line);
}
