/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.c — see optimizer.h. */
#include "optimizer.h"

#include <string.h>

#include <varve/varve.h>

#include "buffer.h"

bool optimizer_init(struct optimizer *optimizer, size_t count)
{
    *optimizer = (struct optimizer){ .rate = 0.02f, .momentum = 0.8f, .count = count };
    optimizer->velocity = buffer_create(count);
    if (optimizer->velocity == NULL)
        return false;
    memset(optimizer->velocity, 0, count * sizeof(*optimizer->velocity));
    return true;
}

void optimizer_deinit(struct optimizer *optimizer)
{
    buffer_destroy(optimizer->velocity);
    optimizer->velocity = NULL;
}

static void describe(const struct optimizer *optimizer)
{
    const int64_t dims[] = { (int64_t)optimizer->count };
    const struct varve_tensor all = { VARVE_F32, 1, dims };
    const struct varve_tensor inputs[] = { all, all, all };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.inputs = inputs;
    info.input_count = 3;
    info.flop = 4 * optimizer->count;
    info.bytes = 5 * sizeof(float) * optimizer->count;
    varve_op(&info);
}

void optimizer_apply(struct optimizer *optimizer, const float *gradients, float *parameters)
{
    VARVE_SCOPE("sgd_momentum");
    if (varve_layers() != 0)
        describe(optimizer);
    float *velocity = optimizer->velocity;
    for (size_t i = 0; i < optimizer->count; i++) {
        velocity[i] = optimizer->momentum * velocity[i] + gradients[i];
        parameters[i] -= optimizer->rate * velocity[i];
    }
}
