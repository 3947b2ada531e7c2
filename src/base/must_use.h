/* SPDX-License-Identifier: Apache-2.0 */
/* must_use.h — makes the compiler warn if a result is ignored: every enum varve_code, and the
 * results of functions marked VV_MUST_USE (an errno, success, memory). Every file is compiled with
 * this header (CMakeLists.txt). */
#ifndef VV_BASE_MUST_USE_H
#define VV_BASE_MUST_USE_H

#pragma GCC system_header /* C17 has no [[nodiscard]], and the compiler would warn of it */

#ifdef __clang__
#define VV_MUST_USE __attribute__((warn_unused_result))
#else
#define VV_MUST_USE [[nodiscard]] /* unlike the attribute above, it accepts a cast to (void) */
#endif
#ifndef VARVE_RESULT
#define VARVE_RESULT VV_MUST_USE
#endif

#endif
