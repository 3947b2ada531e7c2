/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/advice/needs.h"

#include <string.h>

#include "meaning/autograd_links.h"
#include "model/find.h"
#include "varve/varve.h"

/* Has a forward operator several backward ones? True where there is no memory to know it. */
static bool has_second_passes(const struct vv_model *model)
{
    struct vv_autograd_links links;
    struct varve_error error;
    if (vv_autograd_links(model, &links, &error) != VARVE_OK)
        return true;
    for (size_t i = 0; i < links.count; i++)
        if (links.items[i].ordinal > 1)
            return true;
    return false;
}

bool vv_rule_has_needed(const struct vv_model *model, enum vv_rule_needs needs)
{
    const struct vv_tensors *tensors = &model->tensors;
    if (needs == VV_NEEDS_SECOND_PASSES)
        return has_second_passes(model);
    if (needs == VV_NEEDS_MODULES)
        for (uint32_t id = 0; id < model->strings.count; id++)
            if (strncmp(vv_intern_text(&model->strings, id), "nn.Module", 9) == 0)
                return true;
    if (needs == VV_NEEDS_DOUBLES)
        for (uint32_t row = 0; row < tensors->table.count; row++)
            if (tensors->dtype[row] == VARVE_F64 && tensors->rank[row] > 0)
                return true;
    return needs == VV_NEEDS_NOTHING;
}
