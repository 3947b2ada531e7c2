/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/surroundings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES_MAX 200

/* By which other tools come into a process. */
static const char *const tools[] = {
    "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64", "INTEL_JIT_PROFILER64",
    "OMP_TOOL_LIBRARIES",    "ROCP_TOOL_LIBRARIES",   "KOKKOS_TOOLS_LIBS",    "OPENCL_LAYERS",
    "NCCL_PROFILER_PLUGIN",  "KINETO_USE_DAEMON",     "PYTHONPROFILEIMPORTTIME",
};

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

/* An outer varve record has put ours there already. */
static void say_preloaded(const char *preload)
{
    const size_t our_length = strcspn(preload, ":");
    bool is_first = true;
    for (const char *at = preload + our_length; *at != '\0';) {
        size_t length = strcspn(at, ": ");
        bool is_ours = length == our_length && strncmp(at, preload, length) == 0;
        if (length > 0 && !is_ours) {
            fprintf(stderr, "%s%.*s", is_first ? "varve: LD_PRELOAD had others; they stay, after ours: " : ", ",
                    (int)(length < PATH_BYTES_MAX ? length : PATH_BYTES_MAX), at);
            is_first = false;
        }
        at += length + (at[length] != '\0');
    }
    if (!is_first)
        putc('\n', stderr);
}

void vv_surroundings_say(const char *preload)
{
    bool is_first = true;
    say_preloaded(preload);
    if (is_set("VARVE_OUTPUT"))
        fputs("varve: another varve record runs around this one, and did not record this program\n", stderr);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (!is_set(tools[i]))
            continue;
        fprintf(stderr, "%s%s", is_first ? "varve: another tool may have looked on, and was let: " : ", ", tools[i]);
        is_first = false;
    }
    if (!is_first)
        putc('\n', stderr);
}
