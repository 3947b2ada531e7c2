/* SPDX-License-Identifier: Apache-2.0 */
/* alias.c — finds aliases of locations by their names. There may be as many as operations, so their
 * names are compared where they stand. */
#include "base/hash.h"
#include "mlir/module/module.h"
#include "mlir/module/read.h"

struct name {
    const char *text;
    uint64_t bytes;
};

static struct name name_of(const struct vv_mlir_module *module, uint32_t row)
{
    struct vv_mlir_span span = module->aliases[row].name;
    return (struct name){ module->text + span.begin, span.end - span.begin };
}

static bool is_alias(const void *table, uint32_t row, const void *key)
{
    const struct name *wanted = key;
    struct name name = name_of(table, row);
    return name.bytes == wanted->bytes && memcmp(name.text, wanted->text, name.bytes) == 0;
}

static uint64_t hash_name(struct name name)
{
    return vv_hash_text(&vv_hash_key, name.text, name.bytes);
}

static uint64_t hash_alias(const void *table, uint32_t row)
{
    return hash_name(name_of(table, row));
}

enum varve_code vv_mlir_index_aliases(struct vv_mlir_module *module, struct varve_error *error)
{
    for (uint32_t row = 0; row < module->alias_count; row++) {
        struct name name = name_of(module, row);
        if (vv_slots_are_full(&module->slots, row))
            VV_TRY(vv_slots_grow(&module->slots, row, hash_alias, module, "aliases", error));
        uint32_t *slot =
            vv_slots_at(&module->slots, hash_name(name), is_alias, module, &name);
        if (*slot == 0) /* the first one of a name counts */
            *slot = row + 1;
    }
    return VARVE_OK;
}

uint32_t vv_mlir_find_alias(const struct vv_mlir_module *module, uint64_t begin, uint64_t end)
{
    struct name name = { module->text + begin, end - begin };
    return vv_slots_find(&module->slots, hash_name(name), is_alias, module, &name);
}
