/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/process/wishes.h"

#include "settings/sources.h"

static uint32_t wanted; /* bits of enum vv_collect_source; atomic */

void vv_wishes_set(uint32_t sources)
{
    __atomic_store_n(&wanted, sources, __ATOMIC_RELAXED);
}

bool vv_wishes_any(void)
{
    return __atomic_load_n(&wanted, __ATOMIC_RELAXED) != 0;
}

bool vv_wishes_have(const char *source)
{
    return (__atomic_load_n(&wanted, __ATOMIC_RELAXED) & vv_collect_bit(source)) != 0;
}
