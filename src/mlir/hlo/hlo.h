/* SPDX-License-Identifier: Apache-2.0 */
/* hlo.h — the programs that XLA ran, as it kept them beside its profile: which instruction came
 * from which operation of the source, and what is inside a fusion.
 *
 * A profile names an instruction ("fusion.3") of a program ("jit_f", 12); its plane of metadata has
 * the HloProto of every program, which importers keep as facts. Only the fields that say where an
 * instruction comes from are read; others are passed over.
 *
 *     vv_hlo_read(model, &hlo, error);
 *     program = vv_hlo_program(&hlo, "jit_f", 12);
 *     instruction = vv_hlo_instruction(&hlo, program, "fusion.3");
 *     vv_hlo_inner(&hlo, instruction, &rows, error);   with all that is inside
 *
 * Texts are ids in hlo->strings; 0 = not known. Thread-compatible; several threads may ask one that
 * nobody adds to. */
#ifndef VV_MLIR_HLO_HLO_H
#define VV_MLIR_HLO_HLO_H

#include "base/bytes.h"
#include "base/intern.h"
#include "base/slots.h"
#include "model/model.h"

#define VV_HLO_NONE UINT32_MAX

struct vv_hlo_instruction {
    uint32_t name;           /* "fusion.3", without "%"                                         */
    uint32_t opcode;         /* "fusion", "dot"                                                 */
    uint32_t op_type;        /* of its metadata: "varve#7" if the source was tagged              */
    uint32_t op_name;        /* of its metadata: "jit(f)/block0/dot_general"                     */
    uint32_t source_file;    /* of its metadata, or of its innermost frame                      */
    uint32_t source_line;    /* 0 = not known                                                   */
    uint32_t frame;          /* row in frames: innermost of its call stack; or VV_HLO_NONE       */
    uint32_t computation;    /* row: where it stands                                            */
    uint32_t first_called, called_count; /* in called: rows of computations                     */
    uint32_t first_operand, operand_count; /* in operands: rows of instructions; VV_HLO_NONE =    */
                             /* not known                                                       */
    int64_t number;          /* of a parameter; of a tuple's element; otherwise 0                */
    int64_t id;              /* in its program                                                  */
};

struct vv_hlo_computation {
    uint32_t name;
    uint32_t program;        /* row                                                             */
    uint32_t first_instruction, instruction_count;
    uint32_t root;           /* row: what it gives back; or VV_HLO_NONE                          */
    uint32_t called_count;   /* how often it is called                                          */
    int64_t id;              /* in its program                                                  */
};

struct vv_hlo_frame {
    uint32_t function, file; /* strings                                                         */
    uint32_t line, column;   /* 0 = not known                                                   */
    uint32_t parent;         /* row: its caller; or VV_HLO_NONE. They form no circle            */
};

struct vv_hlo_program {
    uint32_t name;           /* "jit_f"                                                         */
    uint32_t fingerprint;    /* "fingerprint_before_lhs" among its frontend attributes; or 0    */
    int64_t id;              /* the profile's program_id; -1 = not known                        */
    uint32_t first_computation, computation_count;
    uint32_t first_instruction, instruction_count;
    uint32_t entry;          /* row: the computation that the program runs; or VV_HLO_NONE       */
};

struct vv_hlo {
    struct vv_intern strings;
    struct vv_hlo_program *programs;
    struct vv_hlo_computation *computations;
    struct vv_hlo_instruction *instructions;
    struct vv_hlo_frame *frames;
    uint32_t *called, *operands;
    size_t program_count, computation_count, instruction_count, frame_count, called_count,
        operand_count;
    size_t program_capacity, computation_capacity, instruction_capacity, frame_capacity,
        called_capacity, operand_capacity;
    uint64_t damaged;        /* programs of which only the begin could be read                  */
    struct vv_slots by_name; /* private: instructions by program and name                       */
};

struct vv_hlo_rows { uint32_t *items; size_t count, capacity; }; /* zeroed = empty; free(items) */

/* Reads all programs of a model. A model without any gives none. A damaged program is kept as far
 * as it could be read, and counted. */
enum varve_code vv_hlo_read(const struct vv_model *model, struct vv_hlo *out_hlo,
                            struct varve_error *error);
enum varve_code vv_hlo_init(struct vv_hlo *hlo, struct varve_error *error);
void vv_hlo_deinit(struct vv_hlo *hlo); /* of a zeroed one, too */
/* Adds the program of an HloProto. `title` "NAME(ID)" gives its id; NULL: -1. VARVE_CORRUPT, with
 * the offset: what was read before is kept. */
enum varve_code vv_hlo_add(struct vv_hlo *hlo, struct vv_bytes proto, const char *title,
                           struct varve_error *error);

/* Makes rows of the ids that point forward: ids[k] is that of hlo->operands[first + k], root_ids[k]
 * that of the program's computation k. For vv_hlo_add. */
enum varve_code vv_hlo_resolve_operands(struct vv_hlo *hlo, uint32_t program, const int64_t *ids,
                                        size_t first, const int64_t *root_ids,
                                        struct varve_error *error);
/* Gives instructions that XLA has split off without a name the name of the operation that they are
 * of. For vv_hlo_add, when all rows are known. split.c */
enum varve_code vv_hlo_name_parts(struct vv_hlo *hlo, uint32_t program, struct varve_error *error);
/* Puts the instructions of a program that has just been added where their names are found. Names
 * are unique in a program; of equal ones the first is found. For vv_hlo_add. */
enum varve_code vv_hlo_index(struct vv_hlo *hlo, uint32_t program, struct varve_error *error);

/* The newest program with this name and id. Name NULL or id -1: whichever it has. VV_HLO_NONE:
 * there is none. */
uint32_t vv_hlo_program(const struct vv_hlo *hlo, const char *name, int64_t id);
/* The instruction with this name, with or without "%"; or VV_HLO_NONE. `program` may be that,
 * too. */
uint32_t vv_hlo_instruction(const struct vv_hlo *hlo, uint32_t program, const char *name);
/* Appends the rows of all instructions in the computations that this one calls, and that those
 * call: each once, in order. */
enum varve_code vv_hlo_inner(const struct vv_hlo *hlo, uint32_t instruction,
                             struct vv_hlo_rows *rows, struct varve_error *error);

static inline const char *vv_hlo_text(const struct vv_hlo *hlo, uint32_t id)
{
    return vv_intern_text(&hlo->strings, id);
}

#endif
