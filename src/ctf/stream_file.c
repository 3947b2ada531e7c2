/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/stream_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/descriptor.h"

bool vv_stream_file_is(const char *name)
{
    return strncmp(name, "process.", 8) == 0 || strncmp(name, "thread.", 7) == 0;
}

bool vv_stream_file_packet(int file, uint64_t offset, struct vv_packet_header *out_header)
{
    struct vv_packet_header header;
    if (pread(file, &header, sizeof header, (off_t)offset) != (ssize_t)sizeof header)
        return false;
    header.magic = le32toh(header.magic);
    header.stream_class = le32toh(header.stream_class);
    uint64_t *fields = &header.stream_instance;
    for (size_t i = 0; i < (sizeof header - 8) / 8; i++)
        fields[i] = le64toh(fields[i]);
    *out_header = header;
    return header.magic == VV_CTF_MAGIC && header.packet_bits % 64 == 0 &&
           header.content_bits % 64 == 0 && header.content_bits >= 8 * sizeof header &&
           header.content_bits <= header.packet_bits;
}

/* The kernel grants a write lease only if nobody else has the file open; a mapping counts as
 * open. */
enum vv_stream_use vv_stream_file_use(int file)
{
    /* If somebody opens the file meanwhile, the kernel sends a signal, which is ignored by
       default. */
    fcntl(file, F_SETSIG, SIGURG);
    if (fcntl(file, F_SETLEASE, F_WRLCK) == 0) {
        fcntl(file, F_SETLEASE, F_UNLCK);
        return VV_STREAM_FREE;
    }
    return errno == EAGAIN || errno == EBUSY ? VV_STREAM_IN_USE : VV_STREAM_UNKNOWN;
}

long vv_stream_folder_pid(const char *name)
{
    char *end;
    long pid = strtol(name, &end, 10);
    return pid > 0 && (*end == '\0' || *end == '.') ? pid : 0;
}

bool vv_stream_writer_runs(long pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int file = vv_descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
    if (file < 0)
        return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end == NULL || name_end[1] != ' ' || (name_end[2] != 'Z' && name_end[2] != 'X');
}
