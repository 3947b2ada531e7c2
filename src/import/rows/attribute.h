/* SPDX-License-Identifier: Apache-2.0 */
/* attribute.h — one thing that a producer said, of any type, and where the model keeps it: an argument of a
 * slice, or a fact of a process or of the run. For importers. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_ATTRIBUTE_H
#define VV_IMPORT_ROWS_ATTRIBUTE_H

#include "base/text/json.h"
#include "import/input/source.h"
#include "model/model.h"

struct vv_attribute {
    enum vv_arg_kind kind;
    uint64_t value; /* as in the table args                                                     */
};

struct vv_attribute vv_attribute_int(int64_t value);
struct vv_attribute vv_attribute_real(double value);
struct vv_attribute vv_attribute_text(uint32_t string);

/* The JSON value whose first token is the next one; arrays and objects become their compact text. Passes
 * over it whole. */
enum varve_code vv_attribute_read(struct vv_json *json, struct vv_model *model,
                                  struct vv_attribute *out_attribute, struct varve_error *error);
/* The same, of the value whose first token was just read. */
enum varve_code vv_attribute_take(struct vv_json *json, struct vv_model *model,
                                  struct vv_attribute *out_attribute, struct varve_error *error);

/* The array or object whose first token was just read, as compact JSON text; it belongs to the caller. */
enum varve_code vv_attribute_json_text(struct vv_json *json, char **out_text, struct varve_error *error);

/* Attributes of a record whose slice is not yet there. */
struct vv_attribute_list {
    struct vv_attribute_named { uint32_t key; struct vv_attribute attribute; } *items;
    size_t count, capacity;
};
enum varve_code vv_attribute_list_add(struct vv_attribute_list *list, uint32_t key,
                                      struct vv_attribute attribute, struct varve_error *error);
enum varve_code vv_attribute_list_to_slice(const struct vv_attribute_list *list, struct vv_model *model,
                                           uint32_t slice, struct varve_error *error);
void vv_attribute_list_deinit(struct vv_attribute_list *list); /* idempotent */

/* Arguments of a slice must be added one after the other, before those of any other. Beyond 65 535 of one
 * slice: health.ignored + 1. */
enum varve_code vv_attribute_to_slice(struct vv_model *model, uint32_t slice, uint32_t key,
                                      struct vv_attribute attribute, struct varve_error *error);
/* `process` may be VV_NONE: the run. */
enum varve_code vv_attribute_to_fact(struct vv_model *model, uint32_t process, const char *key,
                                     struct vv_attribute attribute, struct varve_error *error);

/* `source` as a vv_json_source. */
enum varve_code vv_attribute_source(void *source, void *buffer, size_t bytes, size_t *out_bytes,
                                    struct varve_error *error);

#endif
