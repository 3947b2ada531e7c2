/* SPDX-License-Identifier: Apache-2.0 */
/* alias.c — finds aliases of locations by their names. */
#include "mlir/module/module.h"
#include "mlir/module/read.h"

static bool is_alias(const void *table, uint32_t row, const void *key)
{
    const struct vv_mlir_module *module = table;
    return module->aliases[row].name == *(const uint32_t *)key;
}

static uint64_t hash_name(uint32_t name)
{
    return name * UINT64_C(0x9E3779B97F4A7C15) >> 20;
}

static uint64_t hash_alias(const void *table, uint32_t row)
{
    return hash_name(((const struct vv_mlir_module *)table)->aliases[row].name);
}

enum varve_code vv_mlir_index_aliases(struct vv_mlir_module *module, struct varve_error *error)
{
    for (uint32_t row = 0; row < module->alias_count; row++) {
        if (vv_slots_are_full(&module->slots, row))
            VV_TRY(vv_slots_grow(&module->slots, row, hash_alias, module, "aliases", error));
        uint32_t *slot = vv_slots_at(&module->slots, hash_alias(module, row), is_alias, module,
                                     &module->aliases[row].name);
        *slot = row + 1; /* the last one of a name counts */
    }
    return VARVE_OK;
}

uint32_t vv_mlir_find_alias(const struct vv_mlir_module *module, uint64_t begin, uint64_t end)
{
    uint32_t name = vv_intern_find(&module->strings, module->text + begin, end - begin);
    if (name == UINT32_MAX)
        return VV_MLIR_NONE;
    return vv_slots_find(&module->slots, hash_name(name), is_alias, module, &name);
}
