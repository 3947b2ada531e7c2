/* SPDX-License-Identifier: Apache-2.0 */
/* slowest.c — a pass in C, without a header of MLIR's: says at each function which of its
 * operations took most time.
 *
 *     mlir-opt-19 --load-pass-plugin=varve-mlir-opt-19.so --load-pass-plugin=slowest.so
 *         --pass-pipeline='builtin.module(annotate-operations-profile{profile=p.json},slowest)'
 */
#include <stdio.h>
#include <string.h>

#include "varve/mlir/profile.h"

struct slowest {
    varve_mlir_operation *operation;
    int64_t self_ns, all_ns;
};

static void look(varve_mlir_operation *operation, void *context)
{
    struct slowest *slowest = context;
    struct varve_mlir_profile profile = { .struct_size = sizeof profile };
    if (!varve_mlir_get_profile(operation, &profile) || profile.self_ns == VARVE_MLIR_NOT_KNOWN)
        return;
    slowest->all_ns += profile.self_ns;
    if (profile.self_ns > slowest->self_ns) {
        slowest->self_ns = profile.self_ns;
        slowest->operation = operation;
    }
}

static void look_into(varve_mlir_operation *operation, void *context)
{
    struct slowest slowest = { 0 };
    size_t bytes;
    char text[160];
    const char *name = varve_mlir_operation_name(operation, &bytes);
    (void)context;
    if (bytes != strlen("func.func") || memcmp(name, "func.func", bytes) != 0)
        return;
    varve_mlir_walk(operation, look, &slowest);
    if (slowest.operation == NULL)
        return;
    name = varve_mlir_operation_name(slowest.operation, &bytes);
    snprintf(text, sizeof text, "the slowest: %.*s, %lld of %lld ns", (int)bytes, name,
             (long long)slowest.self_ns, (long long)slowest.all_ns);
    varve_mlir_remark(slowest.operation, text);
}

static int run(varve_mlir_operation *operation)
{
    varve_mlir_walk(operation, look_into, NULL);
    return 1;
}

static void register_passes(void)
{
    varve_mlir_register_pass("slowest", "Say which operation of a function took most time", run);
}

struct varve_mlir_plugin mlirGetPassPluginInfo(void);

struct varve_mlir_plugin mlirGetPassPluginInfo(void)
{
    return (struct varve_mlir_plugin){ VARVE_MLIR_PLUGIN_API, "slowest", "1", register_passes };
}
