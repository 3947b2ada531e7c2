/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/count_records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "ctf/layout.h"
#include "ctf/record_length.h"
#include "ctf/stream_file.h"

#define HEADER_BYTES sizeof(struct vv_packet_header)

struct tally {
    uint64_t records, lost;
    uint64_t *packet; /* room for one packet                                                    */
};

static bool count_records(struct tally *tally, size_t words)
{
    for (size_t at = HEADER_BYTES / 8; at < words;) {
        size_t length = vv_record_length(tally->packet + at, words - at);
        if (length == 0 || length > words - at)
            return false;
        at += length;
        tally->records++;
    }
    return true;
}

static enum varve_code count_part(struct tally *tally, int file, const char *path,
                                  uint64_t *out_lost, struct varve_error *error)
{
    const struct vv_packet_header *header = (const void *)tally->packet;
    for (uint64_t offset = 0;; offset += header->packet_bits / 8) {
        ssize_t bytes = pread(file, tally->packet, VV_PACKET_BYTES, (off_t)offset);
        if (bytes < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", path);
        if (bytes < (ssize_t)HEADER_BYTES)
            return VARVE_OK;
        uint64_t content = header->content_bits / 8;
        if (header->magic != VV_CTF_MAGIC || content < HEADER_BYTES || content > VV_PACKET_BYTES ||
            header->packet_bits % 64 != 0 || header->packet_bits < header->content_bits)
            return vv_fail_at(error, VARVE_CORRUPT, offset, "'%s': no packet begins here", path);
        if (content > (uint64_t)bytes) /* the file was cut */
            content = (uint64_t)bytes;
        uint64_t hidden_bytes = vv_hidden_bytes(header);
        if (content + hidden_bytes <= (uint64_t)bytes)
            tally->lost += vv_hidden_records(tally->packet + content / 8, hidden_bytes / 8);
        *out_lost = header->discarded;
        if (!count_records(tally, content / 8))
            return vv_fail_at(error, VARVE_CORRUPT, offset,
                              "'%s': a record of unknown length in the packet", path);
    }
}

/* Does the part after `name` of the same stream exist? If so, the count of lost records goes on
 * there. */
static bool has_next(int folder, const char *name)
{
    char next[NAME_MAX + 16];
    const char *number = strrchr(name, '.') + 1;
    snprintf(next, sizeof next, "%.*s%lu", (int)(number - name), name,
             strtoul(number, NULL, 10) + 1);
    return faccessat(folder, next, F_OK, 0) == 0;
}

static enum varve_code count_file(struct tally *tally, int folder, const char *name,
                                  struct varve_error *error)
{
    uint64_t lost = 0;
    int file, failure = vv_folder_open_file(folder, name, O_RDONLY, &file);
    if (failure == ENOENT) /* a flight recorder has just removed it */
        return VARVE_OK;
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot read '%s'", name);
    enum varve_code code = count_part(tally, file, name, &lost, error);
    close(file);
    if (code == VARVE_OK && !has_next(folder, name))
        tally->lost += lost;
    return code;
}

/* Counts the parts that the folder lists: a flight recorder may have removed a stream's first
 * parts, or all. */
static enum varve_code count_folder(struct tally *tally, const char *path,
                                    struct varve_error *error)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return vv_fail_errno(error, errno, "cannot read '%s'", path);
    enum varve_code code = VARVE_OK;
    const struct dirent *entry;
    while (code == VARVE_OK && (entry = readdir(folder)) != NULL)
        if (vv_stream_file_is(entry->d_name))
            code = count_file(tally, dirfd(folder), entry->d_name, error);
    closedir(folder);
    if (code != VARVE_OK)
        vv_error_note(error, "'%s'", path);
    return code;
}

enum varve_code vv_tally_process(const char *folder, uint64_t *out_records, uint64_t *out_lost,
                                 struct varve_error *error)
{
    struct tally tally = { .packet = malloc(VV_PACKET_BYTES) };
    if (tally.packet == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a packet");
    enum varve_code code = count_folder(&tally, folder, error);
    free(tally.packet);
    if (code != VARVE_OK)
        return code;
    *out_records = tally.records;
    *out_lost = tally.lost;
    return VARVE_OK;
}
