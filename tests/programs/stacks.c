/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c — records where there is little stack, and says how much recording took.
 *
 * stacks FILE: a thread with the smallest stack there is tells slot 0 (ctf/count_records.h); a
 * handler on the smallest alternate stack tells slot 1, 10 times each, from its first record on.
 * Then 64 threads tell slots 0 to 63 10 times at one instant. Prints "thread BYTES" and "handler
 * BYTES": how far down the records reached, beside what the thread or the kernel's frame took
 * before.
 *
 * stacks FILE BYTES: a handler on an alternate stack of what the kernel asks for and BYTES, below
 * which nothing is mapped, tells slot 0 10 times, from the process's first record on. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tally.h"

#define PAINT 0xA5
#define PAINTED_BYTES 8192u

static pthread_barrier_t together;
static size_t handler_bytes, thread_bytes;

/* How many of `bytes` below this frame are used by tally_tell_times(slot, 10): they are painted,
 * and looked at again. */
__attribute__((noinline)) static size_t measure(unsigned slot, size_t bytes)
{
    unsigned char *mark = __builtin_frame_address(0);
    volatile unsigned char *bottom = mark - 256 - bytes; /* this frame, and the red zone, are left
                                                            alone */
    for (size_t i = 0; i < bytes; i++)
        bottom[i] = PAINT;
    tally_tell_times(slot, 10);
    size_t clean = 0;
    while (clean < bytes && bottom[clean] == PAINT)
        clean++;
    return bytes + 256 - clean;
}

static void on_user(int signal)
{
    (void)signal;
    handler_bytes = measure(1, PAINTED_BYTES);
}

static void *tell_on_small_stack(void *unused)
{
    thread_bytes = measure(0, PAINTED_BYTES);
    return unused;
}

static void *tell_in_handler(void *stack)
{
    const stack_t alternate = { .ss_sp = stack, .ss_size = (size_t)MINSIGSTKSZ + 6144 };
    if (sigaltstack(&alternate, NULL) != 0)
        exit(98);
    raise(SIGUSR1);
    return NULL;
}

static void tell_documented(int signal)
{
    (void)signal;
    tally_tell_times(0, 10);
}

static int tell_above_a_guard(size_t bytes)
{
    const struct sigaction action = { .sa_handler = tell_documented, .sa_flags = SA_ONSTACK };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 size = (size_t)sysconf(_SC_MINSIGSTKSZ) + bytes;
    const size_t mapped = page + (size + page - 1) / page * page;
    char *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        return 97;
    const stack_t alternate = { .ss_sp = memory + page, .ss_size = size };
    if (sigaltstack(&alternate, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        return 98;
    return raise(SIGUSR1);
}

static void *tell_together(void *slot)
{
    pthread_barrier_wait(&together);
    tally_tell_times((unsigned)(uintptr_t)slot, 10);
    return NULL;
}

static void in_thread(void *(*run)(void *), void *argument, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, stack_bytes) != 0 ||
        pthread_create(&thread, &attributes, run, argument) != 0)
        exit(99);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_user, .sa_flags = SA_ONSTACK };
    pthread_t threads[TALLY_SLOTS];
    if (argc < 2)
        return 2;
    tally_open(argv[1]);
    if (argc > 2)
        return tell_above_a_guard((size_t)strtoull(argv[2], NULL, 10));
    sigaction(SIGUSR1, &action, NULL);
    in_thread(tell_on_small_stack, NULL, (size_t)PTHREAD_STACK_MIN);
    in_thread(tell_in_handler, malloc((size_t)MINSIGSTKSZ + 6144), 1 << 20);
    pthread_barrier_init(&together, NULL, TALLY_SLOTS);
    for (uintptr_t i = 0; i < TALLY_SLOTS; i++)
        if (pthread_create(&threads[i], NULL, tell_together, (void *)i) != 0)
            return 99;
    for (unsigned i = 0; i < TALLY_SLOTS; i++)
        pthread_join(threads[i], NULL);
    printf("thread %zu\nhandler %zu\n", thread_bytes, handler_bytes);
    return 0;
}
