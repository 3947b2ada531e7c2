/* SPDX-License-Identifier: Apache-2.0 */
/* compiling.h — records what torch.compile does as ranges of the thread that compiles. */
#ifndef VV_COLLECT_TORCH_COMPILING_H
#define VV_COLLECT_TORCH_COMPILING_H

#include "collect/python/api.h"

/* From the next audit event on, compiling is recorded, or not recorded any more. */
void vv_torch_compiling_want(bool wants);
/* Must vv_torch_compiling_look be called at this audit event? */
bool vv_torch_compiling_hears(const char *event);
/* Begins or ends recording, if PyTorch's compiler is there. The caller has the interpreter's lock,
 * in the main interpreter. Keeps `api`. */
void vv_torch_compiling_look(const struct vv_python_api *api);

#endif
