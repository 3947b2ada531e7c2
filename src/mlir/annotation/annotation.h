/* SPDX-License-Identifier: Apache-2.0 */
/* annotation.h — what is written onto an operation of a program, and read back from it.
 *
 *     loc(fused<{varve.profile = "count=3, total=81000"}>[OLD])    in locations
 *     {varve.profile = {count = 3 : i64, total = 81000 : i64}}     as an attribute
 *
 * In a location it is a string, because MLIR reads, keeps and prints that four times as fast: each
 * number of a dictionary is an attribute. Varve reads both in both places.
 *
 * Times are whole ns. A field that is not known is not written: zero never stands for "not matched"
 * or "not known". Of a group (one record, many operations) the primary operation has all fields;
 * the others have `group` and `members` alone, so that sums count a group once. */
#ifndef VV_MLIR_ANNOTATION_ANNOTATION_H
#define VV_MLIR_ANNOTATION_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_MLIR_KEY "varve.profile"

/* X(FIELD, unit): the word in the dictionary, and the member. */
#define VV_MLIR_FIELDS(X)                                                              \
    X(count, COUNT)   /* executions                                                 */ \
    X(total, NS)      /* of all executions                                          */ \
    X(self, NS)       /* without what ran inside                                    */ \
    X(mean, NS)                                                                        \
    X(min, NS)                                                                         \
    X(max, NS)                                                                         \
    X(p50, NS)                                                                         \
    X(p95, NS)                                                                         \
    X(first, NS)      /* from the begin of the trace to the first execution's begin  */ \
    X(group, NONE)    /* operations of one group share a record; from 1             */ \
    X(members, COUNT) /* operations of the group                                    */

enum vv_mlir_field {
#define VV_MLIR_FIELD(name, unit) VV_MLIR_FIELD_##name,
    VV_MLIR_FIELDS(VV_MLIR_FIELD)
#undef VV_MLIR_FIELD
    VV_MLIR_FIELD_COUNT
};

struct vv_mlir_annotation {
    int64_t values[VV_MLIR_FIELD_COUNT]; /* by enum vv_mlir_field                                 */
    uint32_t known;  /* bit i: values[i] is known                                                */
    bool is_fused;   /* the record is of several operations together; written as "fused"          */
    char match[19];  /* how it was found: "name", "order" …; "" = not said                       */
};

static inline void vv_mlir_set(struct vv_mlir_annotation *annotation, enum vv_mlir_field field,
                               int64_t value)
{
    annotation->values[field] = value;
    annotation->known |= UINT32_C(1) << field;
}

static inline bool vv_mlir_knows(const struct vv_mlir_annotation *annotation,
                                 enum vv_mlir_field field)
{
    return annotation->known >> field & 1;
}

/* Which fields are written, under which words: in the order of the words, as MLIR prints them. */
struct vv_mlir_fields {
    struct { const char *word; uint8_t field; } entries[VV_MLIR_FIELD_COUNT]; /* static words     */
    size_t count;
    bool says_how; /* `match` and `fused`, too                                                   */
};

/* "ts,dur": words with commas; ts is first, dur is total, as the thesis called them. NULL: all.
 * VARVE_INVALID: a word that is none; the message lists them. */
enum varve_code vv_mlir_fields_choose(const char *list, struct vv_mlir_fields *out_fields,
                                      struct varve_error *error);

#define VV_MLIR_ANNOTATION_BYTES 768

/* Writes "{count = 3 : i64, match = "name", total = 81000 : i64}" and NUL. Returns the length; 0 if
 * none of the fields is known. */
size_t vv_mlir_annotation_print(const struct vv_mlir_annotation *annotation,
                                const struct vv_mlir_fields *fields,
                                char out_text[VV_MLIR_ANNOTATION_BYTES]);
/* The same as a string, with its quotes: "count=3, match=name, total=81000". */
size_t vv_mlir_annotation_print_string(const struct vv_mlir_annotation *annotation,
                                       const struct vv_mlir_fields *fields,
                                       char out_text[VV_MLIR_ANNOTATION_BYTES]);

/* Reads the entry `key` of the dictionary text[0..bytes), which begins with '{'. Other entries may
 * stand there, and other words in ours. False: there is no such entry, or none of our fields. */
bool vv_mlir_annotation_read(const char *text, uint64_t bytes, const char *key,
                             struct vv_mlir_annotation *out_annotation);

#endif
