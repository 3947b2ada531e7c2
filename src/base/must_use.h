/* SPDX-License-Identifier: Apache-2.0 */
/* must_use.h — results that must be looked at, told to the compiler: every enum varve_code, and what a function marked
 * VV_MUST_USE returns (an errno, whether it succeeded, memory). Every file is compiled with this header (CMakeLists.txt). */
#ifndef VV_BASE_MUST_USE_H
#define VV_BASE_MUST_USE_H

#pragma GCC system_header /* C17 does not know [[nodiscard]] yet, and says so */

#ifdef __clang__
#define VV_MUST_USE __attribute__((warn_unused_result))
#else
#define VV_MUST_USE [[nodiscard]] /* unlike the other, it takes (void) for an answer */
#endif
#ifndef VARVE_RESULT
#define VARVE_RESULT VV_MUST_USE
#endif

#endif
