/* SPDX-License-Identifier: Apache-2.0 */
/* libc.h — declares weakly the functions that only glibc has.
 *
 * libvarve is built for glibc. Because LD_PRELOAD is inherited, it also gets into programs that use
 * musl, and musl's loader ends a program if one symbol is missing. With weak symbols libvarve loads
 * there, finds that the C library is another one, and does nothing. A single strong reference would
 * break this, so every file is compiled with this header (CMakeLists.txt). */
#ifndef VV_BASE_SYSTEM_LIBC_H
#define VV_BASE_SYSTEM_LIBC_H

#include <stdbool.h>
#include <string.h>

extern __typeof__(strerrordesc_np) strerrordesc_np __attribute__((weak));
extern __typeof__(sigabbrev_np) sigabbrev_np __attribute__((weak));

/* The functions that _FORTIFY_SOURCE calls instead; the compiler declares them itself. */
#if defined(_FORTIFY_SOURCE)
__asm__(".weak __dprintf_chk\n.weak __memcpy_chk\n.weak __openat_2\n.weak __realpath_chk\n.weak "
        "__snprintf_chk\n.weak __vsnprintf_chk");
#endif

/* False: this process has another C library than the one that libvarve was built for. */
bool vv_libc_is_ours(void);

/* Like pthread_atfork; ENOSYS if the process has another C library. */
VV_MUST_USE int vv_libc_at_fork(void (*before)(void), void (*in_parent)(void),
                                void (*in_child)(void));
/* Like at_quick_exit; ENOSYS if the process has another C library. */
VV_MUST_USE int vv_libc_at_quick_exit(void (*function)(void *ignored));

#endif
