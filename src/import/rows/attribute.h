/* SPDX-License-Identifier: Apache-2.0 */
/* attribute.h — a single value from a producer, of any type, and the place where the model keeps
 * it: an argument of a slice, or a fact of a process or of the run. For importers.
 * Thread-compatible. */
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

/* Reads the rest of the JSON value whose first token was just read. An array or object becomes its
 * compact text. */
enum varve_code vv_attribute_take(struct vv_json *json, struct vv_model *model,
                                  struct vv_attribute *out_attribute, struct varve_error *error);

/* Reads the array or object whose first token was just read, as compact JSON text. The caller frees
 * it. */
enum varve_code vv_attribute_json_text(struct vv_json *json, char **out_text,
                                       struct varve_error *error);

/* Attributes of a record that has no slice yet. */
struct vv_attribute_list {
    struct vv_attribute_named { uint32_t key; struct vv_attribute attribute; } *items;
    size_t count, capacity;
};
enum varve_code vv_attribute_list_add(struct vv_attribute_list *list, uint32_t key,
                                      struct vv_attribute attribute, struct varve_error *error);
enum varve_code vv_attribute_list_to_slice(const struct vv_attribute_list *list,
                                           struct vv_model *model, uint32_t slice,
                                           struct varve_error *error);
void vv_attribute_list_deinit(struct vv_attribute_list *list); /* idempotent */

/* Adds an argument. All arguments of a slice must be added before those of another slice. Beyond 65
 * 535 for one slice, it is counted in health.ignored instead. */
enum varve_code vv_attribute_to_slice(struct vv_model *model, uint32_t slice, uint32_t key,
                                      struct vv_attribute attribute, struct varve_error *error);
/* Adds a fact of a process; VV_NONE = of the run. */
enum varve_code vv_attribute_to_fact(struct vv_model *model, uint32_t process, const char *key,
                                     struct vv_attribute attribute, struct varve_error *error);

/* A vv_json_source; its context is `source`. */
enum varve_code vv_attribute_source(void *source, void *buffer, size_t bytes, size_t *out_bytes,
                                    struct varve_error *error);

#endif
