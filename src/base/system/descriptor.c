/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST 3 /* lowest number of a descriptor of libvarve */

struct held {
    int numbers[FIRST];
    int count;
};

static bool is_free(int number)
{
    return fcntl(number, F_GETFD) < 0;
}

/* Fills the free numbers below FIRST. Any folder will do for that. */
static void hold_low(struct held *held)
{
    held->count = 0;
    for (int number = 0; number < FIRST; number++) {
        if (!is_free(number))
            continue;
        int folder = openat(AT_FDCWD, "/", O_PATH | O_CLOEXEC);
        if (folder >= FIRST) /* another thread took the number first */
            close(folder);
        else if (folder >= 0)
            held->numbers[held->count++] = folder;
    }
}

static void let_go(const struct held *held)
{
    int saved_errno = errno;
    for (int i = 0; i < held->count; i++)
        close(held->numbers[i]);
    errno = saved_errno;
}

/* Moves a descriptor to FIRST or above: the program may have closed a low number after hold_low. */
static int lift(int descriptor)
{
    if (descriptor < 0 || descriptor >= FIRST)
        return descriptor;
    int lifted = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST), saved_errno = errno;
    close(descriptor);
    errno = saved_errno;
    return lifted;
}

int vv_descriptor_open(int at, const char *name, int flags, mode_t mode)
{
    struct held held;
    hold_low(&held);
    int opened = lift(openat(at, name, flags | O_CLOEXEC, mode));
    let_go(&held);
    return opened;
}

int vv_descriptor_look(int at, const char *name, int flags)
{
    return openat(at, name, flags | O_PATH | O_CLOEXEC);
}

int vv_descriptor_open_in(int folder, const char *name, int flags, mode_t mode)
{
    if (folder < FIRST)
        return vv_descriptor_open(folder, name, flags, mode);
    return lift(openat(folder, name, flags | O_CLOEXEC, mode));
}

int vv_descriptor_pipe(int out_ends[2], int flags)
{
    struct held held;
    int ends[2] = { -1, -1 };
    hold_low(&held);
    int failed = pipe2(ends, flags | O_CLOEXEC);
    for (int i = 0; i < 2 && failed == 0; i++)
        ends[i] = lift(ends[i]);
    let_go(&held);
    if (failed == 0 && (ends[0] < 0 || ends[1] < 0)) {
        failed = -1;
        for (int i = 0; i < 2; i++)
            if (ends[i] >= 0)
                close(ends[i]);
        errno = EMFILE;
    }
    out_ends[0] = ends[0];
    out_ends[1] = ends[1];
    return failed;
}

int vv_descriptor_event(struct perf_event_attr *event)
{
    struct held held;
    hold_low(&held);
    int opened = lift((int)syscall(SYS_perf_event_open, event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    let_go(&held);
    return opened;
}
