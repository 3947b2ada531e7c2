/* SPDX-License-Identifier: Apache-2.0 */
/* field_type.h — how long the fields of an event class are that this reader does not know.
 *
 * The TSDL of the class says it (doc/format.md §9). Known here: integer, floating_point, string,
 * struct, arrays and sequences of them, and aliases, all of whole bytes. A type that is none of these
 * has the kind VV_FIELD_UNSIZED; it and all around it keep the word that stopped us. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_FIELD_TYPE_H
#define VV_IMPORT_VARVE_FIELD_TYPE_H

#include "base/bytes.h"
#include "import/varve/tsdl.h"

enum vv_field_kind {
    VV_FIELD_NUMBER, VV_FIELD_STRING, VV_FIELD_STRUCT, VV_FIELD_LIST, VV_FIELD_UNSIZED
};

struct vv_field_type {
    enum vv_field_kind kind;
    uint32_t size_bytes, align_bytes;  /* NUMBER: its size; all: alignment, at least 1           */
    uint32_t depth;                    /* levels of types inside; bounds every recursion         */
    const char *name;                  /* as a member of a struct, or of the alias               */
    const char *bad_word;              /* not NULL: it, or something inside it, cannot be sized  */
    struct vv_field_type *members;     /* STRUCT: the first; LIST: the element                   */
    struct vv_field_type *next;        /* the next member, or alias                              */
    uint64_t count;                    /* LIST of fixed length                                   */
    const char *count_name;            /* LIST whose length an earlier field holds; else NULL    */
};

/* Reads a type at the reader's position. *out_type is in the arena; NULL arguments are not allowed.
 * `aliases` is a list by `next`. Fails only without memory. */
enum varve_code vv_field_type_read(struct vv_tsdl_reader *reader,
                                   const struct vv_field_type *aliases, struct vv_arena *arena,
                                   struct vv_field_type **out_type, struct varve_error *error);

/* Reads "name", "name[3]", "name[length]" … after a type: a member of that name. */
enum varve_code vv_field_declarator_read(struct vv_tsdl_reader *reader, struct vv_arena *arena,
                                         struct vv_field_type **type, struct varve_error *error);

/* The length of a sized type whose value begins at bytes.data[0], at an 8-byte boundary of its packet.
 * False if the bytes end before the value does, or if it would take absurdly long to tell. */
VV_MUST_USE bool vv_field_type_measure(const struct vv_field_type *type, struct vv_bytes bytes,
                                       size_t *out_bytes);

#endif
