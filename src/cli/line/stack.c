/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/stack.h"

#include <features.h>

#ifdef __GLIBC__
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)1 << 20) /* the deepest verb takes a sixteenth of it               */
#define GUARD_BYTES ((size_t)64 << 10)

static struct {
    vv_stack_function *run;
    int argc;
    char **argv;
    int status;
    ucontext_t before, own;
} call;

static bool is_small(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES;
}

static void give_to_threads(void)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
        (void)pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

static void run_call(void)
{
    call.status = call.run(call.argc, call.argv);
}

int vv_stack_run(vv_stack_function *run, int argc, char **argv)
{
    if (!is_small())
        return run(argc, argv);
    give_to_threads();
    char *memory = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || getcontext(&call.own) != 0)
        return run(argc, argv);
    (void)mprotect(memory, GUARD_BYTES, PROT_NONE);
    call.run = run;
    call.argc = argc;
    call.argv = argv;
    call.own.uc_stack.ss_sp = memory + GUARD_BYTES;
    call.own.uc_stack.ss_size = STACK_BYTES;
    call.own.uc_link = &call.before;
    makecontext(&call.own, run_call, 0);
    return swapcontext(&call.before, &call.own) == 0 ? call.status : run(argc, argv);
}

#else

int vv_stack_run(vv_stack_function *run, int argc, char **argv)
{
    return run(argc, argv);
}

#endif
