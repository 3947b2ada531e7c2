/* SPDX-License-Identifier: Apache-2.0 */
/* short_name.h — C++ names as people call them. Thread-safe.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,
 *         at::detail::Array<char*, 3> >(int, …)
 *     VV_NAME_SHORT   vectorized_elementwise_kernel<CUDAFunctor_add<float>>
 *     VV_NAME_LONGER  vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, Array<char*, 3>>
 *
 * Return types, arguments of functions and namespaces are left out; of the arguments of a template,
 * the short form keeps the first that is no number. A lambda is called by the function that it is
 * in. An instruction of HLO that stands whole (%fusion.3 = …) is called fusion.3. Other names
 * (aten::add, model.py(12): forward, Memcpy HtoD (…)) stay as they are. */
#ifndef VV_BASE_TEXT_SHORT_NAME_H
#define VV_BASE_TEXT_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum vv_name_form { VV_NAME_SHORT, VV_NAME_LONGER };

/* Writes the short form, with its NUL. False: the name has none, or it takes `bytes` or more; then
 * nothing is written. */
bool vv_short_name(const char *name, enum vv_name_form form, char *out, size_t bytes);
/* Writes the short form, or else the name: one that takes `bytes` or more is cut after whole
 * characters, and ends in "…". */
void vv_name_write(const char *name, char *out, size_t bytes);

#endif
