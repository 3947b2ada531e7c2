/* SPDX-License-Identifier: Apache-2.0 */
/* tensors.h — tensors as Ascend's runtimes describe them. Thread-safe. */
#ifndef VARVE_COMPAT_TENSORS_H
#define VARVE_COMPAT_TENSORS_H

#include "profapi/payloads.h"
#include "varve/past.h"

/* Tells a tensor_info. False: its size does not fit. */
bool vv_tensors_tell(const struct vv_detail *detail, struct varve_past_note_info *note);

#endif
