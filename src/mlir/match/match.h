/* SPDX-License-Identifier: Apache-2.0 */
/* match.h — finds for each record of a profile the operations of a module that it measures.
 *
 * Levels are tried in the order of the table; the first that finds operations of the record's type
 * decides (types.h). If only operations of other types are found, those of the first level that
 * found any are the record's group, never a plain match: is_type_equal says so. Tags and keys say
 * which operation it is, so they need no type.
 *
 * A record that is found on several operations measures some of them, not each: they are a group.
 * Records on common operations are in one group, and their times add up there, so no time is
 * counted twice. Groups have no operation in common (law, tested).
 *
 * With n operations and r records: O((n + r) log n), besides the sizes of the groups. Thread-safe
 * on shared arguments; the result is read-only. */
#ifndef VV_MLIR_MATCH_MATCH_H
#define VV_MLIR_MATCH_MATCH_H

#include "mlir/module/module.h"
#include "mlir/profile/profile.h"

/* X(LEVEL, word): the best first. */
#define VV_MLIR_LEVELS(X)                                                                      \
    X(TAG, "tag")             /* varve#N in the profile                                      */ \
    X(KEY, "key")             /* an attribute: varve.id, onnx_node_name, or one that is named */ \
    X(NAME, "name")           /* the location's outermost name, but for those ending in ':'   */ \
    X(CALLS, "call chain")    /* names joined with '/' over calls of functions               */ \
    X(NORMAL, "normal name")  /* without @function and [parameters]                          */ \
    X(FUSED, "fused name")    /* from the last operation of a pattern back to its first; the  */ \
                              /* longest part of a path that is a name                       */ \
    X(JOINED, "joined names") /* names of a fused location, joined with ';' or each alone     */ \
    X(COMMAND, "command index") /* the nth dispatch                                          */ \
    X(SYMBOL, "symbol")       /* kernel, callee, dispatch                                    */ \
    X(LINE, "source line")    /* file and line, and column if both have one                  */ \
    X(PATH, "module path")                                                                     \
    X(FRAMES, "call stack")   /* the module's call chain is part of the profile's            */ \
    X(SUFFIX, "unique suffix")                                                                 \
    X(ARGUMENTS, "arguments") /* made from the same ones; also one of several that another    */ \
                              /* level found                                                  */ \
    X(ORDER, "order")         /* the nth of its type, only if both have as many              */

enum vv_mlir_level {
#define VV_MLIR_LEVEL(name, word) VV_MLIR_LEVEL_##name,
    VV_MLIR_LEVELS(VV_MLIR_LEVEL)
#undef VV_MLIR_LEVEL
    VV_MLIR_LEVEL_COUNT, /* also: no match */
};
extern const char *const vv_mlir_level_words[VV_MLIR_LEVEL_COUNT];

/* Of one record. */
struct vv_mlir_match {
    uint8_t level;        /* enum vv_mlir_level; VV_MLIR_LEVEL_COUNT = none                     */
    bool is_type_equal;   /* the operations are of the record's type, or it says none           */
    bool is_fused;        /* it measures the operations together                                */
    uint32_t operations;  /* that the record itself was found on                                */
    uint32_t group;       /* row in groups; VV_MLIR_NONE                                         */
};

struct vv_mlir_group {
    uint32_t primary;                    /* operation that has the whole annotation              */
    uint32_t first_member, member_count; /* in members, in order; the primary is one of them     */
    uint32_t first_record, record_count; /* in records, in order                                 */
    uint8_t level;                       /* the weakest of its records'                          */
    bool is_plain;                       /* one operation, of the type of all its records        */
    bool is_ambiguous;                   /* some record was found on several operations, or on one
                                            of another type */
};

struct vv_mlir_matches {
    struct vv_mlir_match *of_record;     /* profile->record_count                                */
    struct vv_mlir_group *groups;        /* in order of their primaries                          */
    uint32_t *members;                   /* rows of module->ops                                  */
    uint32_t *records;                   /* rows of profile->records                             */
    uint32_t *group_of_op;               /* module->op_count; VV_MLIR_NONE = none                */
    size_t group_count, member_count, record_count;
    int64_t matched_ns;                  /* self time of records that found operations           */
    int64_t ambiguous_ns;                /* that of those whose group is ambiguous               */
};

struct vv_mlir_match_options {
    const char *key_attribute;  /* borrowed; or NULL                                             */
    enum vv_mlir_level weakest; /* levels behind it are not tried                                */
};
#define VV_MLIR_MATCH_ALL { NULL, VV_MLIR_LEVEL_COUNT }

enum varve_code vv_mlir_match(const struct vv_mlir_module *module,
                              const struct vv_mlir_profile *profile,
                              const struct vv_mlir_match_options *options,
                              struct vv_mlir_matches *out_matches, struct varve_error *error);
void vv_mlir_matches_deinit(struct vv_mlir_matches *matches); /* of zeroed ones, too */

/* The records of a group, added up: counts, totals and self times; least, greatest, first; the
 * percentiles of the record with most time. */
void vv_mlir_group_sum(const struct vv_mlir_profile *profile,
                       const struct vv_mlir_matches *matches, uint32_t group,
                       struct vv_mlir_record *out_sum);

#endif
