/* SPDX-License-Identifier: Apache-2.0 */
/* peek.c — lets the kernel copy the memory. The kernel returns EFAULT where a read would raise
 * SIGSEGV. If a sandbox forbids process_vm_readv, write() to a pipe does the same. */
#include "collect/process/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/system/descriptor.h"

/* A write of up to PIPE_BUF bytes to an empty pipe does not block. Such a write is done whole, or
 * fails. */
static bool peek_by_pipe(const uint8_t *address, uint8_t *out, size_t bytes)
{
    int ends[2];
    bool whole = true;
    if (vv_descriptor_pipe(ends, O_NONBLOCK) != 0)
        return false;
    for (size_t done = 0; whole && done < bytes;) {
        size_t piece = bytes - done < PIPE_BUF ? bytes - done : PIPE_BUF;
        whole = write(ends[1], address + done, piece) == (ssize_t)piece &&
                read(ends[0], out + done, piece) == (ssize_t)piece;
        done += piece;
    }
    close(ends[0]);
    close(ends[1]);
    return whole;
}

bool vv_peek(const void *address, void *out, size_t bytes)
{
    int saved_errno = errno;
    struct iovec from = { (void *)(uintptr_t)address, bytes }, to = { out, bytes };
    ssize_t length = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    bool whole = length == (ssize_t)bytes;
    if (length < 0 && (errno == ENOSYS || errno == EPERM))
        whole = peek_by_pipe(address, out, bytes);
    errno = saved_errno;
    return whole;
}
