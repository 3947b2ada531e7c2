/* SPDX-License-Identifier: Apache-2.0 */
/* module.h — a program in MLIR text: where its operations stand, what they are called, and their
 * locations. Nothing of MLIR is needed: any dialect in any form, pretty or generic, is read by the
 * rules that all share (MLIR Language Reference: strings, brackets, regions, locations, aliases).
 *
 * A module borrows its text, and says places in it as byte offsets. It is read-only once it has
 * been read; several threads may use it. */
#ifndef VV_MLIR_MODULE_MODULE_H
#define VV_MLIR_MODULE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/intern.h"
#include "base/slots.h"

#define VV_MLIR_NONE UINT32_MAX

/* A piece of the text: bytes [begin, end). */
struct vv_mlir_span { uint64_t begin, end; };

struct vv_mlir_op {
    struct vv_mlir_span text;     /* from its first byte to its last, with regions and location   */
    struct vv_mlir_span location; /* "loc(…)"; empty = it has none                              */
    struct vv_mlir_span attributes; /* its last dictionary, "{…}"; empty: none                  */
    uint64_t name_at;             /* where its name begins                                      */
    uint64_t types_at;            /* after its last ':' outside of brackets; 0 = it has none     */
    uint64_t body_at;             /* where its first region begins; 0 = it has none              */
    uint32_t name;                /* string: "stablehlo.add", never without its dialect. Of       */
                                  /* tf_executor.island wraps "tf.X" and torch.operator "onnx.X"  */
                                  /* it is what stands in quotes                                 */
    uint32_t symbol;              /* string: what it defines or calls, "f" of @exe::@f; or 0      */
    uint32_t parent;              /* row: the operation in whose region it stands; or _NONE      */
    uint32_t results;             /* how many values it defines                                 */
    uint32_t place;               /* row in places: what its location says; or _NONE             */
    uint32_t alias;               /* row in aliases, if its location is an alias; or _NONE       */
};

/* "#loc7 = loc(…)". */
struct vv_mlir_alias {
    struct vv_mlir_span name;     /* "#loc7"                                                    */
    struct vv_mlir_span inside;   /* what stands in loc( )                                      */
    uint32_t place;               /* row in places, if an operation's location is this; or _NONE */
    uint32_t first_part, part_count; /* where its parts stand inside another's; 0: nowhere       */
    uint16_t depth;               /* there, of the first                                        */
    bool is_open;                 /* it is being read                                           */
};

/* A location is read as the list of its parts, outermost first, aliases resolved. */
enum vv_mlir_part_kind {
    VV_MLIR_NAME,      /* "block0/attn/MatMul"                                                  */
    VV_MLIR_FILE,      /* "model.py":9:43                                                       */
    VV_MLIR_CALLSITE,  /* callsite(A at B): its callee A follows, one deeper, then its caller B  */
    VV_MLIR_FUSED,     /* fused<metadata>[A, B …]: its parts follow, one deeper                 */
    VV_MLIR_UNKNOWN
};

struct vv_mlir_part {
    uint32_t text;                /* string: the name, the file; of FUSED its metadata; or 0     */
    uint32_t line, column;        /* of FILE; 0 = not known                                     */
    uint32_t depth : 14;          /* how many parts it stands in                                */
    uint32_t caller : 14;         /* depth of the last part around it, or itself, that stands     */
                                  /* behind the "at" of a call site; 0 = none does              */
    uint32_t kind : 4;            /* enum vv_mlir_part_kind                                     */
};

struct vv_mlir_place { uint32_t first_part, part_count; };

struct vv_mlir_module {
    const char *path;             /* borrowed; for messages                                     */
    const char *text;             /* borrowed                                                   */
    uint64_t bytes;
    uint64_t resources_at;        /* where a last "{-#" begins, or the end of the text            */
    struct vv_intern strings;
    struct vv_slots slots;        /* aliases by name                                            */
    struct vv_mlir_op *ops;       /* in order of their begins: a parent before its children      */
    struct vv_mlir_alias *aliases;
    struct vv_mlir_part *parts;
    struct vv_mlir_place *places;
    uint32_t op_count, alias_count, part_count, place_count;
    uint32_t located;             /* operations that have a location other than unknown          */
    uint32_t cut_places;          /* locations with more parts than are kept                     */
    size_t op_capacity, alias_capacity, part_capacity, place_capacity;
};

/* Reads a text. Text and path are borrowed. VARVE_CORRUPT: it is no MLIR text; the message says
 * "path:line:col: …". On failure nothing is held. */
enum varve_code vv_mlir_read(const char *path, const char *text, uint64_t bytes,
                             struct vv_mlir_module *out_module, struct varve_error *error);
void vv_mlir_deinit(struct vv_mlir_module *module); /* of a zeroed one, too */

static inline const char *vv_mlir_string(const struct vv_mlir_module *module, uint32_t id)
{
    return vv_intern_text(&module->strings, id);
}

/* The alias whose name is text[begin, end), "#loc7"; or _NONE. */
uint32_t vv_mlir_find_alias(const struct vv_mlir_module *module, uint64_t begin, uint64_t end);

/* An entry of a dictionary: "name = value", or "name" alone, whose value is empty. */
struct vv_mlir_entry { struct vv_mlir_span whole, name, value; };

/* The next entry of the dictionary text[span), which begins with '{'. What is no entry is passed
 * over, up to its comma. *at is 0 at first. False: there is none. */
bool vv_mlir_next_entry(const char *text, struct vv_mlir_span dictionary, uint64_t *at,
                        struct vv_mlir_entry *out_entry);
/* The entry of this name. False: there is none. */
bool vv_mlir_find_entry(const char *text, struct vv_mlir_span dictionary, const char *name,
                        struct vv_mlir_entry *out_entry);

/* The lines of all operations, in one pass; the caller frees them. */
enum varve_code vv_mlir_number_lines(const struct vv_mlir_module *module, uint32_t **out_lines,
                                     struct varve_error *error);

/* Fails with "path:line:col: message". */
enum varve_code vv_mlir_fail(const struct vv_mlir_module *module, uint64_t offset,
                             struct varve_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
