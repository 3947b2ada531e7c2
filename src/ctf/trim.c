/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/trim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/layout.h"

#define PATH_BYTES 4096

/* ---- one file ---- */

/* A write lease is granted only to the sole opener, and a mapping counts as one. File systems without
 * leases say so; there the dead process is proof enough. */
static bool is_in_use(int file)
{
    fcntl(file, F_SETSIG, SIGURG); /* should somebody open it meanwhile: a signal that does nothing */
    if (fcntl(file, F_SETLEASE, F_WRLCK) == 0) {
        fcntl(file, F_SETLEASE, F_UNLCK);
        return false;
    }
    return errno == EAGAIN || errno == EBUSY;
}

static bool read_header(int file, uint64_t offset, struct vv_packet_header *out_header)
{
    return pread(file, out_header, sizeof *out_header, (off_t)offset) == (ssize_t)sizeof *out_header &&
           out_header->magic == VV_CTF_MAGIC && out_header->packet_bits % 64 == 0 &&
           out_header->content_bits % 64 == 0 &&
           out_header->content_bits >= 8 * sizeof *out_header &&
           out_header->content_bits <= out_header->packet_bits;
}

/* False: the file is not a sequence of packets up to its end. */
static bool find_last_packet(int file, uint64_t size, uint64_t *out_offset,
                             struct vv_packet_header *out_header)
{
    for (uint64_t offset = 0; offset < size;) {
        if (!read_header(file, offset, out_header) || out_header->packet_bits / 8 > size - offset)
            return false;
        *out_offset = offset;
        offset += out_header->packet_bits / 8;
    }
    return size > 0;
}

/* The file is cut before the header says so: a packet that ends early is read as far as it goes, but
 * bytes behind the last packet would not be a packet. */
static enum varve_code cut(int file, const char *path, struct varve_error *error)
{
    struct stat status;
    struct vv_packet_header header;
    uint64_t offset = 0;
    if (fstat(file, &status) != 0)
        return vv_fail_errno(error, errno, "cannot examine '%s'", path);
    if (!S_ISREG(status.st_mode) ||
        !find_last_packet(file, (uint64_t)status.st_size, &offset, &header) || is_in_use(file) ||
        header.packet_bits == header.content_bits)
        return VARVE_OK;
    header.packet_bits = header.content_bits;
    if (ftruncate(file, (off_t)(offset + header.content_bits / 8)) != 0)
        return vv_fail_errno(error, errno, "cannot shorten '%s'", path);
    off_t place = (off_t)(offset + offsetof(struct vv_packet_header, packet_bits));
    if (pwrite(file, &header.packet_bits, sizeof header.packet_bits, place) !=
        (ssize_t)sizeof header.packet_bits)
        return vv_fail_errno(error, errno, "cannot shorten '%s'", path);
    return VARVE_OK;
}

enum varve_code vv_trim_stream(const char *path, struct varve_error *error)
{
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return vv_fail_errno(error, errno, "cannot open '%s'", path);
    enum varve_code code = cut(file, path, error);
    close(file);
    return code;
}

/* ---- the trace ---- */

/* A zombie runs no longer. */
static bool is_running(long pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end == NULL || name_end[1] != ' ' || (name_end[2] != 'Z' && name_end[2] != 'X');
}

static bool is_stream_name(const char *name)
{
    return strncmp(name, "process.", 8) == 0 || strncmp(name, "thread.", 7) == 0;
}

static enum varve_code trim_process(const char *folder, struct varve_error *error)
{
    enum varve_code first = VARVE_OK;
    DIR *files = opendir(folder);
    if (files == NULL)
        return vv_fail_errno(error, errno, "cannot open '%s'", folder);
    for (struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!is_stream_name(entry->d_name) || length >= (int)sizeof path)
            continue;
        enum varve_code code = vv_trim_stream(path, first == VARVE_OK ? error : NULL);
        first = first == VARVE_OK ? code : first;
    }
    closedir(files);
    return first;
}

enum varve_code vv_trim_trace(const char *trace, struct varve_error *error)
{
    enum varve_code first = VARVE_OK;
    DIR *folders = opendir(trace);
    if (folders == NULL)
        return vv_fail_errno(error, errno, "cannot open '%s'", trace);
    for (struct dirent *entry = readdir(folders); entry != NULL; entry = readdir(folders)) {
        char path[PATH_BYTES], *end;
        long pid = strtol(entry->d_name, &end, 10);
        int length = snprintf(path, sizeof path, "%s/%s", trace, entry->d_name);
        if (pid <= 0 || (*end != '\0' && *end != '.') || length >= (int)sizeof path || is_running(pid))
            continue;
        enum varve_code code = trim_process(path, first == VARVE_OK ? error : NULL);
        first = first == VARVE_OK ? code : first;
    }
    closedir(folders);
    return first;
}
