/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/libc.h"

#include <errno.h>
#include <stddef.h>

/* The function behind pthread_atfork. pthread_atfork itself is linked into each library, and refers
 * to this one strongly. */
extern int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                             void *library) __attribute__((weak));
/* The same of at_quick_exit. */
extern int __cxa_at_quick_exit(void (*function)(void *), void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

bool vv_libc_is_ours(void)
{
    return __register_atfork != NULL;
}

int vv_libc_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return vv_libc_is_ours() ? __register_atfork(before, in_parent, in_child, __dso_handle)
                             : ENOSYS;
}

int vv_libc_at_quick_exit(void (*function)(void *ignored))
{
    return __cxa_at_quick_exit != NULL ? __cxa_at_quick_exit(function, __dso_handle) : ENOSYS;
}
