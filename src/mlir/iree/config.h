/* SPDX-License-Identifier: Apache-2.0 */
/* config.h — how the compiler has decided to lower one dispatch of IREE, as
 * --iree-hal-dump-executable-configurations-to writes it, and what it could decide instead.
 *
 * The tile of the innermost loops is `vector_common_parallel` of the root operation's
 * lowering_config. Two of its numbers matter, the last two above 1: alternatives are divisors of
 * the loops' extents and powers of two, those first that fill registers and leave no rest.
 *
 * The compiler takes another choice in two ways: the whole configuration in place of its own
 * (--iree-hal-substitute-executable-configuration), or a tuning spec that names the root operation
 * (src/mlir/iree/spec.h). The dump leaves constants out, so a dispatch with constants has the
 * second way alone. All texts are the caller's. Thread-safe. */
#ifndef VV_MLIR_IREE_CONFIG_H
#define VV_MLIR_IREE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { VV_IREE_LOOPS_MAX = 12, VV_IREE_CHOICES_MAX = 64 };

struct vv_iree_text { const char *at; size_t length; };

/* The root operation, as far as a spec says it. */
struct vv_iree_root {
    struct vv_iree_text kind;   /* "linalg.matmul"; empty: no spec can name it                   */
    struct vv_iree_text inputs; /* types                                                        */
    /* Of linalg.generic alone: "{indexing_maps = …}", the type of its result, "{\n^bb0…}". */
    struct vv_iree_text loops, result, body;
    struct vv_iree_text lowering, translation; /* what decides for it; for its function          */
};

struct vv_iree_config {
    const char *text;      /* borrowed; NUL-terminated                                          */
    size_t bytes;
    bool has_constants;
    struct vv_iree_root root;
    uint32_t loops;        /* of the root operation                                             */
    int64_t tile[VV_IREE_LOOPS_MAX], distribution[VV_IREE_LOOPS_MAX], extent[VV_IREE_LOOPS_MAX];
    uint32_t outer, inner; /* the two loops whose tile can be chosen                            */
};

/* Two numbers in place of tile[outer] and tile[inner]. */
struct vv_iree_choice { int64_t outer, inner; };

/* False: there is nothing to choose; *out_why says why (static). */
bool vv_iree_config_read(const char *text, size_t bytes, struct vv_iree_config *out_config,
                         const char **out_why);
/* Alternatives to what the compiler has chosen, the most promising first. */
size_t vv_iree_choices(const struct vv_iree_config *config,
                       struct vv_iree_choice choices[VV_IREE_CHOICES_MAX]);
static inline bool vv_iree_has_spec(const struct vv_iree_config *config)
{
    return config->root.kind.length > 0;
}
/* Writes the root's lowering_config alone, with this choice. */
void vv_iree_config_write_lowering(const struct vv_iree_config *config,
                                   struct vv_iree_choice choice, FILE *out);
/* Writes the configuration with this choice; the caller asks the stream whether that failed. */
void vv_iree_config_write(const struct vv_iree_config *config, struct vv_iree_choice choice,
                          FILE *out);
/* "[1, 8, 1, 7]": the whole tile. */
void vv_iree_choice_text(const struct vv_iree_config *config, struct vv_iree_choice choice,
                         char *text, size_t bytes);

#endif
