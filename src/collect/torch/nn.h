/* SPDX-License-Identifier: Apache-2.0 */
/* nn.h — records each call of an nn.Module as a range of the thread that makes it. */
#ifndef VV_COLLECT_TORCH_NN_H
#define VV_COLLECT_TORCH_NN_H

#include "collect/python/api.h"

/* Must vv_torch_nn_look be called at this audit event? */
bool vv_torch_nn_hears(const char *event);
/* Begins or ends recording calls, if torch.nn is there. The caller has the interpreter's lock, in
 * the main interpreter. Keeps `api`. */
void vv_torch_nn_look(const struct vv_python_api *api);

#endif
