/* SPDX-License-Identifier: Apache-2.0 */
/* libc.h — what only the GNU C library has, named weakly.
 *
 * libvarve is built for glibc. LD_PRELOAD is inherited, and so it comes into programs of musl too, whose loader
 * ends a program for which one symbol is missing. With these it loads there, sees that it is not at home, and
 * does nothing. A single strong mention would undo it: every file is compiled with this header (CMakeLists.txt). */
#ifndef VV_BASE_SYSTEM_LIBC_H
#define VV_BASE_SYSTEM_LIBC_H

#include <stdbool.h>
#include <string.h>

extern __typeof__(strerrordesc_np) strerrordesc_np __attribute__((weak));
extern __typeof__(sigabbrev_np) sigabbrev_np __attribute__((weak));

/* What _FORTIFY_SOURCE makes of calls; the compiler declares them by itself. */
#if defined(_FORTIFY_SOURCE)
__asm__(".weak __dprintf_chk\n.weak __memcpy_chk\n.weak __openat_2\n.weak __realpath_chk\n.weak __snprintf_chk\n.weak __vsnprintf_chk");
#endif

/* False: this process has another C library than the one that this code was built for. */
bool vv_libc_is_ours(void);

/* As pthread_atfork; ENOSYS where the process has another C library. */
VV_MUST_USE int vv_libc_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

#endif
