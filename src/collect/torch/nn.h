/* SPDX-License-Identifier: Apache-2.0 */
/* nn.h — each call of an nn.Module as a range of the thread that makes it. */
#ifndef VV_COLLECT_TORCH_NN_H
#define VV_COLLECT_TORCH_NN_H

#include "collect/python/api.h"

/* Is something to be done at this audit event? */
bool vv_torch_nn_hears(const char *event);
/* With the interpreter's lock, in the main interpreter: torch.nn may have come. `api` is kept. */
void vv_torch_nn_look(const struct vv_python_api *api);

#endif
