/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/trim.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/record_length.h"
#include "ctf/stream_file.h"

#define PATH_BYTES 4096

/* ---- one file ---- */

/* False: the file is not a sequence of packets up to its end. */
static bool find_last_packet(int file, uint64_t size, uint64_t *out_offset,
                             struct vv_packet_header *out_header)
{
    for (uint64_t offset = 0; offset < size;) {
        if (!vv_stream_file_packet(file, offset, out_header) ||
            out_header->packet_bits / 8 > size - offset)
            return false;
        *out_offset = offset;
        offset += out_header->packet_bits / 8;
    }
    return size > 0;
}

/* The file is cut before its header is changed: readers accept a packet whose file ends early, but
 * bytes after the last packet would be no packet. */
static enum varve_code cut(int file, const char *path, struct varve_error *error)
{
    struct stat status;
    struct vv_packet_header header;
    uint64_t offset = 0;
    if (fstat(file, &status) != 0)
        return vv_fail_errno(error, errno, "cannot examine '%s'", path);
    if (!S_ISREG(status.st_mode) ||
        !find_last_packet(file, (uint64_t)status.st_size, &offset, &header) ||
        vv_stream_file_use(file) == VV_STREAM_IN_USE || header.packet_bits == header.content_bits)
        return VARVE_OK; /* if the file system cannot tell, it is enough that the process is dead */
    uint64_t bytes = header.content_bits / 8 + vv_hidden_bytes(&header),
             packet_bits = htole64(bytes * 8);
    if (ftruncate(file, (off_t)(offset + bytes)) != 0)
        return vv_fail_errno(error, errno, "cannot shorten '%s'", path);
    off_t place = (off_t)(offset + offsetof(struct vv_packet_header, packet_bits));
    if (pwrite(file, &packet_bits, sizeof packet_bits, place) != (ssize_t)sizeof packet_bits)
        return vv_fail_errno(error, errno, "cannot shorten '%s'", path);
    return VARVE_OK;
}

static enum varve_code trim_stream(int folder, const char *name, const char *path,
                                   struct varve_error *error)
{
    int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return vv_fail_errno(error, errno, "cannot open '%s'", path);
    enum varve_code code = cut(file, path, error);
    close(file);
    return code;
}

enum varve_code vv_trim_stream(const char *path, struct varve_error *error)
{
    return trim_stream(AT_FDCWD, path, path, error);
}

/* ---- the trace ---- */

/* Is this a hidden file: a stream without a packet, a spare one, the control page? They are the
 * recorder's own, and its process is dead. */
static bool is_left_behind(const struct dirent *entry)
{
    return entry->d_name[0] == '.' && entry->d_type == DT_REG;
}

/* Lists a folder; takes over the descriptor. */
static DIR *list(int folder)
{
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    if (entries == NULL && folder >= 0)
        close(folder);
    return entries;
}

static enum varve_code trim_process(int trace, const char *name, const char *path,
                                    struct varve_error *error)
{
    enum varve_code first = VARVE_OK;
    DIR *files = list(openat(trace, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (files == NULL)
        return vv_fail_errno(error, errno, "cannot open '%s'", path);
    for (struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        char file[PATH_BYTES];
        int length = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (length >= (int)sizeof file)
            continue;
        if (is_left_behind(entry))
            unlinkat(dirfd(files), entry->d_name, 0);
        if (!vv_stream_file_is(entry->d_name))
            continue;
        enum varve_code code =
            trim_stream(dirfd(files), entry->d_name, file, first == VARVE_OK ? error : NULL);
        first = first == VARVE_OK ? code : first;
    }
    closedir(files);
    return first;
}

enum varve_code vv_trim_trace(int folder, const char *trace, struct varve_error *error)
{
    enum varve_code first = VARVE_OK;
    DIR *folders = list(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folders == NULL)
        return vv_fail_errno(error, errno, "cannot open '%s'", trace);
    for (struct dirent *entry = readdir(folders); entry != NULL; entry = readdir(folders)) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s/%s", trace, entry->d_name);
        long pid = vv_stream_folder_pid(entry->d_name);
        if (pid == 0 || length >= (int)sizeof path || vv_stream_writer_runs(pid))
            continue;
        enum varve_code code =
            trim_process(dirfd(folders), entry->d_name, path, first == VARVE_OK ? error : NULL);
        first = first == VARVE_OK ? code : first;
    }
    closedir(folders);
    return first;
}
