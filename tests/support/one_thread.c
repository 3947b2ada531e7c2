/* SPDX-License-Identifier: Apache-2.0 */
/* one_thread.c — makes no thread: linked to the tests that ThreadSanitizer does not run. A test of
 * threads must be in the list with_threads of tests/CMakeLists.txt. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    (void)thread, (void)attributes, (void)start, (void)argument;
    fputs("no thread is made here: this test is not in the list with_threads of "
          "tests/CMakeLists.txt\n", stderr);
    return EAGAIN;
}
