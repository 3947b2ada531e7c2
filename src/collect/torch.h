/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h — PyTorch, from 1.13 on, as it is installed. */
#ifndef VV_COLLECT_TORCH_H
#define VV_COLLECT_TORCH_H

/* Attaches if PyTorch is loaded and was not there before; else returns at once. Called whenever a library was
 * loaded, by the thread that loaded it. Thread-safe. */
void vv_torch_look(void);

#endif
