/* SPDX-License-Identifier: Apache-2.0 */
/* core.h — the C core as the plugin calls it: a trace and the text of a module become annotations,
 * by the same code as in `varve annotate`. */
#ifndef VARVE_MLIR_CORE_H
#define VARVE_MLIR_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct varve_core;

/* Of one operation: its place in the order of the text, its name, and the fields of an annotation
 * by their words. */
struct varve_core_mark {
    uint32_t op;
    const char *match; /* level                                                                 */
    int is_fused;
    size_t field_count;
    const char *words[11];
    int64_t values[11];
};

struct varve_core_coverage {
    uint32_t ops, marked;
    int64_t profile_ns, matched_ns; /* of the records                                            */
};

/* Reads the trace at `path` (all that `varve` reads) and finds its records in the text. NULL:
 * `message` says why. The text is borrowed until the core is closed. */
struct varve_core *varve_core_open(const char *path, const char *text, size_t bytes,
                                   char *message, size_t message_bytes);
void varve_core_close(struct varve_core *core); /* NULL-safe */

size_t varve_core_mark_count(const struct varve_core *core);
void varve_core_get_mark(const struct varve_core *core, size_t row,
                         struct varve_core_mark *out_mark);
struct varve_core_coverage varve_core_get_coverage(const struct varve_core *core);
/* Of the module as it was read: "linalg.matmul"; NULL behind the last. */
const char *varve_core_op_name(const struct varve_core *core, uint32_t op);

#ifdef __cplusplus
}
#endif
#endif
