/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h — for passes in C: what was measured of an operation, and passes without a compiler of
 * C++.
 *
 * The functions are in the plugin varve-mlir-opt-19.so. Load it before your own, and leave them
 * undefined there:
 *
 *     cc -shared -fPIC -I INCLUDE my_pass.c -o my_pass.so
 *     mlir-opt-19 --load-pass-plugin=varve-mlir-opt-19.so --load-pass-plugin=./my_pass.so
 *         --pass-pipeline='builtin.module(annotate-operations-profile{profile=p.json},my-pass)'
 *
 * An operation is a pointer, the `ptr` of an MlirOperation of MLIR's C API: both can be used in one
 * pass. Functions belong to the thread that runs the pass. C99 and C++11. */
#ifndef VARVE_MLIR_PROFILE_H
#define VARVE_MLIR_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct varve_mlir_operation varve_mlir_operation;

#define VARVE_MLIR_NOT_KNOWN INT64_MIN

/* Of one operation. A number that is not known is VARVE_MLIR_NOT_KNOWN. Of operations that share
 * one measurement, a group, only one has times. */
struct varve_mlir_profile {
    size_t struct_size; /* sizeof(struct varve_mlir_profile), set by the caller                  */
    int64_t count;      /* executions                                                            */
    int64_t total_ns;   /* of all executions                                                     */
    int64_t self_ns;    /* without what ran inside                                               */
    int64_t mean_ns, min_ns, max_ns, p50_ns, p95_ns;
    int64_t first_ns;   /* from the begin of the trace to the begin of the first execution       */
    int64_t group;      /* number of the group, from 1                                           */
    int64_t members;    /* operations of the group                                               */
};

/* What was measured of the operation: from its attributes varve.profile or profiler_data, else from
 * its location. Returns 0 and writes nothing if there is nothing. */
int varve_mlir_get_profile(const varve_mlir_operation *operation,
                           struct varve_mlir_profile *out_profile);
int varve_mlir_has_profile(const varve_mlir_operation *operation);
/* Writes it into the operation's location, in the place of what was there. */
void varve_mlir_attach_profile(varve_mlir_operation *operation,
                               const struct varve_mlir_profile *profile);

/* "linalg.matmul", not NUL-terminated; lives as long as the context. */
const char *varve_mlir_operation_name(const varve_mlir_operation *operation, size_t *out_bytes);
/* Calls `visit` for the operation and all operations in its regions, at any depth, a parent before
 * its children. `visit` must not remove operations. */
void varve_mlir_walk(varve_mlir_operation *operation,
                     void (*visit)(varve_mlir_operation *, void *context), void *context);
/* Gives the operation an attribute without a value: "varve.hot". */
void varve_mlir_mark(varve_mlir_operation *operation, const char *attribute);
int varve_mlir_is_marked(const varve_mlir_operation *operation, const char *attribute);
void varve_mlir_remark(varve_mlir_operation *operation, const char *text);

/* What a plugin's mlirGetPassPluginInfo returns. */
struct varve_mlir_plugin {
    uint32_t api_version; /* VARVE_MLIR_PLUGIN_API */
    const char *name;
    const char *version;
    void (*register_passes)(void);
};
#define VARVE_MLIR_PLUGIN_API 1

/* Registers a pass under the word that stands in --pass-pipeline. `run` is called with the
 * operation that the pass is nested in, and returns 0 if the pass fails. Texts are borrowed for
 * ever. Call it from register_passes. */
void varve_mlir_register_pass(const char *argument, const char *description,
                              int (*run)(varve_mlir_operation *));

#ifdef __cplusplus
}
#endif
#endif
