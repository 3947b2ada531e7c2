/* SPDX-License-Identifier: Apache-2.0 */
/* build.h — shared by the files that make a profile of a model. */
#ifndef VV_MLIR_PROFILE_BUILD_H
#define VV_MLIR_PROFILE_BUILD_H

#include "derive/select/scope.h"
#include "derive/select/traits.h"
#include "mlir/hlo/hlo.h"
#include "mlir/profile/profile.h"
#include "mlir/profile/words.h"

/* What a thing is: equal in all of its executions. Texts are those of the profile. */
struct vv_mlir_key {
    uint32_t name, type, scope, function, path, symbol, file, line;
    uint32_t chain;       /* row in chains + 1; 0 = no call chain                               */
    uint32_t instruction; /* row in hlo->instructions + 1; 0 = none                             */
    uint32_t process, device;
    uint32_t command;     /* command_index + 1; 0 = none                                        */
};

struct vv_mlir_thing {
    struct vv_mlir_key key;
    /* Executions in a step, to tell those apart that have a type alone. */
    uint32_t step, in_step, each_step;
    bool has_step, is_uneven;
    uint32_t first_record; /* of each_step; VV_NONE = not made yet                               */
};

struct vv_mlir_execution {
    uint32_t thing, slice, step;
    uint32_t place;      /* among its equals in the step                                        */
    bool is_inside;      /* of another one of the same thing                                    */
    int64_t begin_ns, duration_ns, self_ns;
};

/* One call in a chain of calls. */
struct vv_mlir_chain {
    uint32_t caller;              /* row in chains + 1; 0 = none                                */
    uint32_t function, file, line;
};

/* What the words say of a string of the model. */
struct vv_mlir_spoken {
    uint32_t name, type;
    uint8_t producer;
    bool is_known, is_nothing, is_node;
};

struct vv_mlir_build {
    const struct vv_model *model;
    const struct vv_scope *scope;
    struct vv_scratch *scratch;
    struct vv_mlir_profile *profile;
    struct vv_hlo hlo;
    struct vv_hlo_arguments *made_from;    /* by program; those of NULL are not found yet        */
    struct vv_traits traits;
    uint32_t arguments[VV_MLIR_ARGUMENTS]; /* strings of the model; UINT32_MAX = it has none     */
    struct vv_mlir_spoken *spoken[2];      /* by string of the model; 1: as a node               */
    uint32_t *chain_of;                    /* by slice: row in chains + 1                       */
    uint32_t *range_of;                    /* by slice: innermost range with a path, its name   */
    uint32_t *function_of;                 /* by slice: of the profile's texts; NULL = none says */
    struct vv_mlir_chain *chains;
    size_t chain_count, chain_capacity;
    struct vv_mlir_thing *things;
    size_t thing_count, thing_capacity;
    struct vv_mlir_execution *executions;
    size_t execution_count, execution_capacity;
    struct vv_slots thing_slots, chain_slots;
    uint32_t *frames_of;                   /* by chain: first frame + 1; 0 = not copied yet     */
    int64_t producer_ns[VV_MLIR_PRODUCERS];
    bool is_by_line;                       /* a source line is what a slice executes            */
};

/* Finds the call chains and ranges of all slices. chains.c */
enum varve_code vv_mlir_chains(struct vv_mlir_build *build, struct varve_error *error);

/* Finds the functions in which all slices ran. functions.c */
enum varve_code vv_mlir_functions(struct vv_mlir_build *build, struct varve_error *error);

/* The thing that a slice executes, as a row in things; VV_NONE: it is nothing that a program could
 * name. things.c */
enum varve_code vv_mlir_thing_of(struct vv_mlir_build *build, uint32_t slice, uint32_t device,
                                 uint32_t *out_thing, struct varve_error *error);
enum varve_code vv_mlir_add_thing(struct vv_mlir_build *build, const struct vv_mlir_key *key,
                                  uint32_t *out_thing, struct varve_error *error);
/* Is it called by its type alone, so that only its place tells it from others? */
static inline bool vv_mlir_is_typed_only(const struct vv_mlir_key *key)
{
    return key->name == 0 && key->type != 0 && key->instruction == 0 && key->command == 0;
}
enum varve_code vv_mlir_add_execution(struct vv_mlir_build *build,
                                      const struct vv_mlir_execution *execution,
                                      struct varve_error *error);
/* A text of the model in the profile. 0 stays 0. */
enum varve_code vv_mlir_copy_text(struct vv_mlir_build *build, uint32_t string, uint32_t *out_id,
                                  struct varve_error *error);
enum varve_code vv_mlir_add_text(struct vv_mlir_build *build, const char *text, size_t bytes,
                                 uint32_t *out_id, struct varve_error *error);

/* From which arguments of its program an instruction is made: row in the profile's + 1, or 0.
 * arguments.c */
enum varve_code vv_mlir_arguments_of(struct vv_mlir_build *build, uint32_t instruction,
                                     uint32_t *out_arguments, struct varve_error *error);
/* Those of all instructions in the record's that do what its op_name says; `frame` is the record's
 * call chain. arguments.c */
enum varve_code vv_mlir_add_arguments_of(struct vv_mlir_build *build, uint32_t instruction,
                                         uint32_t frame, struct vv_mlir_record *record,
                                         struct varve_error *error);

/* The executions on threads; those of devices' work. threads.c, devices.c. *out_named: a program
 * could name some of this work. If not, nothing is added. */
enum varve_code vv_mlir_of_threads(struct vv_mlir_build *build, struct varve_error *error);
enum varve_code vv_mlir_of_devices(struct vv_mlir_build *build, const char *device,
                                   bool *out_named, struct varve_error *error);
/* Records of a graph that is the input. graph.c */
enum varve_code vv_mlir_of_graph(struct vv_mlir_build *build, struct varve_error *error);

/* Makes records of the executions, or of things, and says what is known of them beyond their keys.
 * records.c, describe.c */
enum varve_code vv_mlir_make_records(struct vv_mlir_build *build, struct varve_error *error);
enum varve_code vv_mlir_add_record(struct vv_mlir_build *build, const struct vv_mlir_key *key,
                                   uint32_t place, struct varve_error *error);

#endif
