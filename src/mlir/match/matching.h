/* SPDX-License-Identifier: Apache-2.0 */
/* matching.h — shared by the files that match. */
#ifndef VV_MLIR_MATCH_MATCHING_H
#define VV_MLIR_MATCH_MATCHING_H

#include "mlir/hlo/arguments.h"
#include "mlir/match/lists.h"
#include "mlir/match/match.h"
#include "mlir/match/types.h"

/* The kind of a type, and the ids of its texts in `kinds`; 0 = says nothing. */
struct vv_mlir_type { uint32_t exact, family; bool is_fused, is_known; };

/* Operations that a record was found on. Equal ones have one row. */
struct vv_mlir_set {
    uint32_t first, count; /* in set_ops                                                        */
    uint32_t family;       /* all are of this type; 0 = they were not chosen by type            */
    const uint32_t *from;  /* where they were found, which is known by its address              */
    size_t from_count;
    bool is_type_equal;    /* to the record's, or it says none                                  */
};

/* What is known of one record. */
struct vv_mlir_finding {
    uint32_t set;       /* row in sets; VV_MLIR_NONE = nothing found                            */
    uint32_t all;       /* row in sets + 1: it measures all of these, not one of them; 0 = none  */
    uint32_t first_extra, extra_count; /* in extras: operations that it measures besides        */
    uint8_t level;
    bool is_certain;    /* the level needs no type                                              */
    bool is_part;       /* the set's operation is one of a pattern that the record measures     */
};

/* What an operation is made from, in one call of its function. */
struct vv_mlir_anchor {
    struct vv_mlir_arguments of;
    uint32_t owner; /* text: path of the module whose weight is an operand; 0 = none, several    */
    uint32_t next;  /* row in anchors + 1: in another call; 0 = none                             */
};

/* A chain of calls: elements, innermost first. */
struct vv_mlir_call {
    uint32_t place;     /* "linear.py:134" in texts                                             */
    uint32_t file;      /* the whole path, in texts                                             */
};
struct vv_mlir_calls { uint32_t first, count; /* in calls */ };

struct vv_mlir_matching {
    const struct vv_mlir_module *module;
    const struct vv_mlir_profile *profile;
    const struct vv_mlir_match_options *options;
    struct vv_scratch *scratch;
    struct vv_intern *texts;            /* made of names: parts, joined ones, places            */
    struct vv_intern *kinds;
    uint32_t *name_of_place;            /* string of the module: outermost name; 0              */
    bool *is_recorded;                  /* by string of the module: a record has this name       */
    struct vv_mlir_type *type_of_op, *type_of_record;
    /* Indexes: by string of the module … */
    struct vv_mlir_list names, children, uses, definitions;
    /* … by text … */
    struct vv_mlir_list called, normal, joined, lines, paths;
    /* … and by number. */
    struct vv_mlir_list tags, keys, chain_ops, chain_starts;
    struct vv_mlir_calls *chains;       /* of the module; chain_starts has rows of them by their
                                           innermost element */
    struct vv_mlir_call *calls;
    size_t chain_count, chain_capacity, call_count, call_capacity;
    uint32_t *chain_of_place;           /* row; _NONE. NULL = the profile has no chains          */
    struct vv_slots chain_slots;
    uint32_t frames_asked, frames_count; /* the record's chain that was asked for last, …       */
    uint32_t *frames_found;              /* … and the answer: rows of chains                     */
    size_t frames_found_count, frames_found_capacity;
    uint32_t *suffixes;                 /* names, sorted by their ends                          */
    size_t suffix_count;
    struct vv_intern *value_names;      /* "%0"; NULL = not read yet                            */
    struct vv_mlir_list values;         /* by name of a value: what defines it                  */
    struct vv_mlir_anchor *anchors;
    size_t anchor_count, anchor_capacity;
    uint32_t *anchor_of;                /* by op: row in anchors + 1; 0 = not known. NULL = they  */
                                        /* are not needed                                       */
    bool has_one_entry;                 /* one function runs first                              */
    struct vv_mlir_list anchored, owned; /* by text: of type and arguments; path of a weight     */
    struct vv_mlir_ops dispatches;      /* of the kind that has as many as the profile           */
    /* Results. */
    struct vv_mlir_set *sets;
    uint32_t *set_ops, *extras;
    size_t set_count, set_capacity, set_op_count, set_op_capacity, extra_count, extra_capacity;
    struct vv_slots set_slots;
    struct vv_mlir_finding *findings;   /* by record                                            */
    uint32_t *buffer;                   /* of one level                                         */
    size_t buffer_capacity;
};

/* What a level finds: operations in order, or none. They may lie in matching->buffer. */
typedef enum varve_code vv_mlir_level_fn(struct vv_mlir_matching *matching, uint32_t record,
                                         struct vv_mlir_ops *out_ops, struct varve_error *error);

vv_mlir_level_fn vv_mlir_find_tag, vv_mlir_find_key;                           /* keys.c     */
vv_mlir_level_fn vv_mlir_find_name, vv_mlir_find_called, vv_mlir_find_normal,  /* names.c    */
    vv_mlir_find_joined;
vv_mlir_level_fn vv_mlir_find_fused;                                           /* fused.c    */
vv_mlir_level_fn vv_mlir_find_command, vv_mlir_find_symbol;                    /* symbols.c  */
vv_mlir_level_fn vv_mlir_find_line, vv_mlir_find_path;                         /* places.c   */
vv_mlir_level_fn vv_mlir_find_frames;                                          /* frames.c   */
vv_mlir_level_fn vv_mlir_find_suffix;                                          /* suffix.c   */
vv_mlir_level_fn vv_mlir_find_anchored;                                        /* anchors.c  */

/* Builds the indexes. Each level reads its own. */
enum varve_code vv_mlir_index_names(struct vv_mlir_matching *matching, struct varve_error *error);
enum varve_code vv_mlir_index_calls(struct vv_mlir_matching *matching, struct varve_error *error);
enum varve_code vv_mlir_index_keys(struct vv_mlir_matching *matching, struct varve_error *error);
enum varve_code vv_mlir_index_symbols(struct vv_mlir_matching *matching,
                                      struct varve_error *error);
enum varve_code vv_mlir_index_places(struct vv_mlir_matching *matching, struct varve_error *error);
enum varve_code vv_mlir_index_frames(struct vv_mlir_matching *matching, struct varve_error *error);
enum varve_code vv_mlir_index_suffixes(struct vv_mlir_matching *matching,
                                       struct varve_error *error);

/* Of several operations, which are not in the buffer but have room there, those whose innermost
 * calls are the record's, as many as in any of them. Where the program was called, outermost, need
 * not be where the module was made. frames.c */
enum varve_code vv_mlir_choose_by_frames(struct vv_mlir_matching *matching, uint32_t record,
                                         struct vv_mlir_ops of, struct vv_mlir_ops *out,
                                         struct varve_error *error);

/* The operations of this name, or else those of this name with "@function" behind it. names.c */
struct vv_mlir_ops vv_mlir_ops_named(const struct vv_mlir_matching *matching, const char *text,
                                     size_t bytes);

/* Finds the anchors, if any record could need them. arguments.c */
enum varve_code vv_mlir_index_arguments(struct vv_mlir_matching *matching,
                                        struct varve_error *error);
/* Records that were found on several operations are of those that are made from the same arguments,
 * or of the weights of the same module. anchors.c */
enum varve_code vv_mlir_pair_by_arguments(struct vv_mlir_matching *matching,
                                          struct varve_error *error);
/* The operations of the type that are made from these arguments. arguments.c */
struct vv_mlir_ops vv_mlir_ops_made_of(const struct vv_mlir_matching *matching, uint32_t family,
                                       const struct vv_mlir_arguments *of);
/* Gives the operation its operand another form? made_from.c */
bool vv_mlir_is_form(const struct vv_mlir_matching *matching, uint32_t op);
/* Text of the module whose weight it is; 0. */
enum varve_code vv_mlir_read_owner(struct vv_mlir_matching *matching, uint32_t op,
                                   uint32_t *out_owner, struct varve_error *error);
/* The operation is made from this, too: it has an anchor for each call of its function. */
enum varve_code vv_mlir_add_anchor(struct vv_mlir_matching *matching, uint32_t op,
                                   const struct vv_mlir_anchor *anchor, struct varve_error *error);

static inline const struct vv_mlir_anchor *
vv_mlir_anchor_of(const struct vv_mlir_matching *matching, uint32_t op)
{
    uint32_t row = matching->anchor_of != NULL ? matching->anchor_of[op] : 0;
    return row != 0 ? &matching->anchors[row - 1] : NULL;
}

static inline const struct vv_mlir_anchor *
vv_mlir_next_anchor(const struct vv_mlir_matching *matching, const struct vv_mlir_anchor *anchor)
{
    return anchor->next != 0 ? &matching->anchors[anchor->next - 1] : NULL;
}

/* NEAR: of the same operands that are arguments; EQUAL: and it depends on the same; EXACT: and so
 * does each operand. */
enum vv_mlir_closeness { VV_MLIR_OTHER_ARGUMENTS, VV_MLIR_NEAR, VV_MLIR_EQUAL, VV_MLIR_EXACT };
/* Of the operation's anchors the closest. made_from.c */
enum vv_mlir_closeness vv_mlir_compare_made_of(const struct vv_mlir_matching *matching, uint32_t op,
                                               const struct vv_mlir_arguments *wanted);
/* Has the operation the arguments of the record's row in arguments? made_from.c */
bool vv_mlir_is_made_of(const struct vv_mlir_matching *matching, uint32_t op, uint32_t arguments);

/* "func.call", and a function with a body. calls.c */
bool vv_mlir_is_call(const char *name);
bool vv_mlir_is_function(const struct vv_mlir_module *module, uint32_t op);

/* The types of operations and records. kinds.c */
enum varve_code vv_mlir_read_types(struct vv_mlir_matching *matching, struct varve_error *error);
/* Is the operation of the record's type? Not if either says none. */
static inline bool vv_mlir_is_of_type(const struct vv_mlir_matching *matching, uint32_t record,
                                      uint32_t op)
{
    uint32_t family = matching->type_of_record[record].family;
    return family != 0 && family == matching->type_of_op[op].family;
}

/* The set of these operations; of those of the record's type alone, if there are any. sets.c */
enum varve_code vv_mlir_set_of(struct vv_mlir_matching *matching, uint32_t record,
                               struct vv_mlir_ops ops, uint32_t *out_set,
                               struct varve_error *error);
/* A set that is a single operation. */
enum varve_code vv_mlir_set_of_one(struct vv_mlir_matching *matching, uint32_t op,
                                   bool is_type_equal, uint32_t *out_set,
                                   struct varve_error *error);
/* Where records that come in the order of the program were found on as many operations as they are
 * themselves, the nth record is that of the nth operation; and level ORDER. order.c */
enum varve_code vv_mlir_pair_in_order(struct vv_mlir_matching *matching,
                                      struct varve_error *error);
enum varve_code vv_mlir_find_by_order(struct vv_mlir_matching *matching,
                                      struct varve_error *error);
/* The record measures this operation, too. Those of one record are added together. extras.c */
enum varve_code vv_mlir_add_extra(struct vv_mlir_matching *matching, uint32_t record, uint32_t op,
                                  struct varve_error *error);
/* What a fusion measures besides: the operations of its inner instructions. extras.c */
enum varve_code vv_mlir_add_extras(struct vv_mlir_matching *matching, struct varve_error *error);
/* Groups of all findings. groups.c */
enum varve_code vv_mlir_make_groups(struct vv_mlir_matching *matching,
                                    struct vv_mlir_matches *matches, struct varve_error *error);

/* The operation that leads the record's group, among those that the record was found on: of its
 * type, else the one that its name ends with, else the last that does work; outer ones come first.
 * sets.c */
uint32_t vv_mlir_leader(const struct vv_mlir_matching *matching, uint32_t record,
                        uint32_t group, const uint32_t *group_of_op);

/* Of several operations those in the function in which the record ran, if it says one and any of
 * them is. They lie in matching->buffer then. scopes.c */
enum varve_code vv_mlir_in_function(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *ops, struct varve_error *error);

/* One operation alone. */
enum varve_code vv_mlir_one_op(struct vv_mlir_matching *matching, uint32_t op,
                               struct vv_mlir_ops *out_ops, struct varve_error *error);
/* Where the operands of an operation end. operands.c */
uint64_t vv_mlir_operands_end(const struct vv_mlir_op *row);
/* Reads the names of values, once. */
enum varve_code vv_mlir_read_values(struct vv_mlir_matching *matching, struct varve_error *error);
/* The operations, in regions around this one's or its own, that define its operands, in order, at
 * most `limit`. Operands that are arguments of a region are left out. operands.c */
enum varve_code vv_mlir_definers(struct vv_mlir_matching *matching, uint32_t op, uint32_t limit,
                                 uint32_t *out_ops, uint32_t *out_count,
                                 struct varve_error *error);

static inline const char *vv_mlir_record_text(const struct vv_mlir_matching *matching,
                                              uint32_t string)
{
    return vv_intern_text(&matching->profile->strings, string);
}

/* What a record is called: by the program of XLA, if that says it; otherwise by itself. Names of
 * instructions are XLA's own. */
static inline uint32_t vv_mlir_called(const struct vv_mlir_record *record)
{
    return record->op_name != 0 ? record->op_name : record->scope == 0 ? record->name : 0;
}

/* What follows the last '/'. */
const char *vv_mlir_base_name(const char *path);

#endif
