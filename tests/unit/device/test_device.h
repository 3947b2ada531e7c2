/* SPDX-License-Identifier: Apache-2.0 */
/* test_device.h — what the tests of this room share. */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Drivers run code of their own that no sanitizer was told of. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_SANITIZERS(what)                                \
    do {                                                           \
        printf(what " is not built for the sanitizer: skipped\n"); \
        skip();                                                    \
    } while (0)
#else
#define SKIP_UNDER_SANITIZERS(what) (void)0
#endif

#endif
