/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h — PyTorch, from 1.13 on, as it is installed. */
#ifndef VV_COLLECT_TORCH_TORCH_H
#define VV_COLLECT_TORCH_TORCH_H

/* Attaches if PyTorch is loaded, as vv_wishes_have says; again where that changed. Called whenever a library was
 * loaded, by the thread that loaded it; not from two threads at once, as the next. */
void vv_torch_look(void);

/* No operator that begins from now on comes by here. */
void vv_torch_leave(void);

#endif
