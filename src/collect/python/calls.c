/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/python/calls.h"

_Thread_local uint32_t vv_python_depth;
uint32_t vv_python_depth_max = UINT32_MAX;
