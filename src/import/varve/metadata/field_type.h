/* SPDX-License-Identifier: Apache-2.0 */
/* field_type.h — measures the fields of event classes that this reader does not know.
 *
 * The TSDL text of a class describes its fields (doc/format.md §9). This reader can measure
 * integer, floating_point, string, struct, arrays and sequences of these, and aliases, all in whole
 * bytes. Any other type gets the kind VV_FIELD_UNSIZED. That type, and all types around it, keep
 * the word that stopped the reader. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_METADATA_FIELD_TYPE_H
#define VV_IMPORT_VARVE_METADATA_FIELD_TYPE_H

#include "base/bytes.h"
#include "import/varve/metadata/tsdl.h"

enum vv_field_kind {
    VV_FIELD_NUMBER, VV_FIELD_STRING, VV_FIELD_STRUCT, VV_FIELD_LIST, VV_FIELD_UNSIZED
};

struct vv_field_type {
    enum vv_field_kind kind;
    uint32_t size_bytes, align_bytes;  /* NUMBER: its size; all: alignment, at least 1           */
    uint32_t depth;                    /* levels of types inside; limits every recursion         */
    const char *name;                  /* name of the member of a struct, or of the alias        */
    const char *bad_word;              /* not NULL: the word that it cannot be measured for      */
    struct vv_field_type *members;     /* STRUCT: first member; LIST: the element                */
    struct vv_field_type *next;        /* the next member or alias                               */
    uint64_t count;                    /* length of a LIST, if fixed                             */
    const char *count_name;            /* earlier field with the length of a LIST; else NULL     */
};

/* Reads a type at the reader's position. *out_type is in the arena; NULL arguments are not allowed.
 * `aliases` is a list linked by `next`. Fails only if there is no memory. */
enum varve_code vv_field_type_read(struct vv_tsdl_reader *reader,
                                   const struct vv_field_type *aliases, struct vv_arena *arena,
                                   struct vv_field_type **out_type, struct varve_error *error);

/* Reads "name", "name[3]", "name[length]" … after a type, and makes a member of that name. */
enum varve_code vv_field_declarator_read(struct vv_tsdl_reader *reader, struct vv_arena *arena,
                                         struct vv_field_type **type, struct varve_error *error);

/* Measures a value whose type has a size. The value begins at bytes.data[0], which is at an 8-byte
 * boundary of its packet. False if the bytes end before the value does, or if measuring would take
 * absurdly long. */
VV_MUST_USE bool vv_field_type_measure(const struct vv_field_type *type, struct vv_bytes bytes,
                                       size_t *out_bytes);

#endif
