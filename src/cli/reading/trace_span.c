/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/trace_span.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "ctf/record_length.h"
#include "ctf/stream_file.h"
#include "import/input/input_file.h"
#include "import/varve/metadata/metadata.h"
#include "import/varve/packets/timeline.h"

#define PATH_BYTES 4096

struct span {
    uint64_t first, last; /* in ticks; first > last: no record yet                                */
};

/* The full clock value of the last record (doc/format.md §5) of a packet with `count` words. */
static uint64_t last_ticks(const uint64_t *words, size_t count, uint64_t begin_ticks)
{
    uint64_t ticks = begin_ticks;
    for (size_t at = sizeof(struct vv_packet_header) / 8, length; at < count; at += length) {
        uint64_t ahead = ((words[at] >> VV_ID_BITS) - ticks) & VV_TICKS_MASK;
        if (ahead < UINT64_C(1) << (VV_TICKS_BITS - 1))
            ticks += ahead;
        length = vv_record_length(words + at, count - at);
        if (length == 0)
            break;
    }
    return ticks;
}

static void add_part(int file, struct span *span)
{
    static uint64_t packet[VV_PACKET_BYTES / 8];
    struct vv_packet_header header, next;
    uint64_t offset = 0;
    if (!vv_stream_file_packet(file, 0, &header))
        return;
    if (header.content_bits > 8 * sizeof header && header.begin_ticks < span->first)
        span->first = header.begin_ticks;
    while (vv_stream_file_packet(file, offset + header.packet_bits / 8, &next) &&
           next.content_bits > 8 * sizeof next) {
        offset += header.packet_bits / 8;
        header = next;
    }
    ssize_t bytes = pread(file, packet, sizeof packet, (off_t)offset);
    size_t content = (size_t)(header.content_bits / 8);
    if (bytes < (ssize_t)sizeof header || content > sizeof packet)
        return;
    if (content > (size_t)bytes)
        content = (size_t)bytes;
    uint64_t last = last_ticks(packet, content / 8, header.begin_ticks);
    if (content > sizeof header && last > span->last)
        span->last = last;
}

static struct span span_of(const char *folder)
{
    struct span span = { UINT64_MAX, 0 };
    DIR *files = opendir(folder);
    for (struct dirent *entry; files != NULL && (entry = readdir(files)) != NULL;) {
        int file;
        if (strncmp(entry->d_name, "thread.", 7) != 0 ||
            vv_folder_open_file(dirfd(files), entry->d_name, O_RDONLY, &file) != 0)
            continue;
        add_part(file, &span);
        close(file);
    }
    if (files != NULL)
        closedir(files);
    return span;
}

static bool times_of(const char *folder, const struct span *span, int64_t *out_begin_ns,
                     int64_t *out_end_ns)
{
    char path[PATH_BYTES], *text;
    size_t length;
    struct vv_metadata metadata = { 0 };
    struct vv_timeline timeline = { 0 };
    snprintf(path, sizeof path, "%s/metadata", folder);
    if (vv_input_read_all(path, VV_METADATA_BYTES_MAX, &text, &length, NULL) != VARVE_OK)
        return false;
    bool is_read = vv_metadata_read(text, length, &metadata, NULL) == VARVE_OK;
    bool is_known = is_read &&
                    vv_timeline_init(&timeline, metadata.frequency_hz, metadata.offset_s,
                                     metadata.offset_ticks, NULL) == VARVE_OK &&
                    vv_timeline_ns(&timeline, span->first, out_begin_ns, NULL) == VARVE_OK &&
                    vv_timeline_ns(&timeline, span->last, out_end_ns, NULL) == VARVE_OK;
    if (is_read)
        vv_metadata_deinit(&metadata);
    free(text);
    return is_known;
}

bool vv_coverage(const char *trace, int64_t *out_begin_ns, int64_t *out_end_ns)
{
    bool found = false;
    DIR *folders = opendir(trace);
    for (struct dirent *entry; folders != NULL && (entry = readdir(folders)) != NULL;) {
        char folder[PATH_BYTES - 16];
        int64_t begin_ns = 0, end_ns = 0;
        int length = snprintf(folder, sizeof folder, "%s/%s", trace, entry->d_name);
        if (vv_stream_folder_pid(entry->d_name) == 0 || length >= (int)sizeof folder)
            continue;
        struct span span = span_of(folder);
        if (span.first > span.last || !times_of(folder, &span, &begin_ns, &end_ns))
            continue;
        *out_begin_ns = found && *out_begin_ns < begin_ns ? *out_begin_ns : begin_ns;
        *out_end_ns = found && *out_end_ns > end_ns ? *out_end_ns : end_ns;
        found = true;
    }
    if (folders != NULL)
        closedir(folders);
    return found;
}
