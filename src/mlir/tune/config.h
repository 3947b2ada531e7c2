/* SPDX-License-Identifier: Apache-2.0 */
/* config.h — how the compiler has decided to lower one dispatch of IREE, as
 * --iree-hal-dump-executable-configurations-to writes it, and what it could decide instead.
 *
 * The tile of the innermost loops is `vector_common_parallel` of the root operation's
 * lowering_config. Two of its numbers matter, the last two above 1: alternatives are divisors of
 * the loops' extents and powers of two, those first that fill registers and leave no rest. All
 * texts are the caller's. Thread-safe. */
#ifndef VV_MLIR_TUNE_CONFIG_H
#define VV_MLIR_TUNE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum { VV_TUNE_LOOPS_MAX = 12, VV_TUNE_CHOICES_MAX = 64 };

struct vv_tune_config {
    const char *text;      /* borrowed; NUL-terminated                                          */
    size_t bytes;
    uint32_t loops;        /* of the root operation                                             */
    int64_t tile[VV_TUNE_LOOPS_MAX], distribution[VV_TUNE_LOOPS_MAX], extent[VV_TUNE_LOOPS_MAX];
    uint32_t outer, inner; /* the two loops whose tile can be chosen                            */
};

/* Two numbers in place of tile[outer] and tile[inner]. */
struct vv_tune_choice { int64_t outer, inner; };

/* False: there is nothing to choose; *out_why says why (static). */
bool vv_tune_config_read(const char *text, size_t bytes, struct vv_tune_config *out_config,
                         const char **out_why);
/* Alternatives to what the compiler has chosen, the most promising first. */
size_t vv_tune_choices(const struct vv_tune_config *config,
                       struct vv_tune_choice choices[VV_TUNE_CHOICES_MAX]);
/* Writes the configuration with this choice. */
enum varve_code vv_tune_config_write(const struct vv_tune_config *config,
                                     struct vv_tune_choice choice, FILE *out,
                                     struct varve_error *error);
/* "[1, 8, 1, 7]": the whole tile. */
void vv_tune_choice_text(const struct vv_tune_config *config, struct vv_tune_choice choice,
                         char *text, size_t bytes);

#endif
