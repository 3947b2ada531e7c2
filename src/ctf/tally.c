/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctf/layout.h"

#define HEADER_BYTES sizeof(struct vv_packet_header)

struct tally {
    uint64_t records, lost;
    uint64_t *packet; /* room for one                                                           */
};

static size_t words_of_site(uint32_t kind)
{
    return kind >= VV_KIND_COUNTER ? 2 : 1;
}

/* Words of an operator's record: its payload, then a word and its dims for each input. */
static size_t words_of_operator(const uint64_t *words, size_t count)
{
    size_t at = 1 + sizeof(struct vv_op_payload) / 8;
    if (at > count || words[at - 1] > VV_OP_INPUTS_MAX)
        return 0;
    for (uint64_t inputs = words[at - 1]; inputs > 0; inputs--) {
        if (at >= count)
            return 0;
        at += 1 + (size_t)(words[at] >> 32);
    }
    return at;
}

/* Of the record at words[0], of which `count` words are there; 0: not known. */
static size_t words_of_record(const uint64_t *words, size_t count)
{
    static const unsigned char fixed[] = {
        [VV_EVENT_END] = 1,     [VV_EVENT_CLOCK] = 5,      [VV_EVENT_THREAD] = 3,
        [VV_EVENT_PROCESS] = 2, [VV_EVENT_LAYERS] = 2,     [VV_EVENT_BEGIN] = 2,
        [VV_EVENT_STEP_BEGIN] = 2, [VV_EVENT_STEP_END] = 1, [VV_EVENT_ALLOC] = 4,
        [VV_EVENT_FREE] = 3,    [VV_EVENT_COST] = 2,
    };
    _Static_assert(VV_EVENT_BUILTIN_COUNT == 14, "a new class needs its length here");
    uint32_t id = (uint32_t)(words[0] & VV_ID_MASK);
    if (id >= VV_SITE_ID_FIRST)
        return words_of_site(id % VV_SITE_KINDS);
    if (id == VV_EVENT_OP)
        return words_of_operator(words, count);
    if (id == VV_EVENT_STRING)
        return count < 2 ? 0 : 2 + (size_t)(words[1] >> 32) / 8;
    return id < sizeof fixed ? fixed[id] : 0;
}

static bool count_records(struct tally *tally, size_t words)
{
    for (size_t at = HEADER_BYTES / 8; at < words;) {
        size_t length = words_of_record(tally->packet + at, words - at);
        if (length == 0 || length > words - at)
            return false;
        at += length;
        tally->records++;
    }
    return true;
}

static enum varve_code count_part(struct tally *tally, int file, const char *path, uint64_t *out_lost,
                                  struct varve_error *error)
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
        if (content > (uint64_t)bytes) /* a file that was cut */
            content = (uint64_t)bytes;
        *out_lost = header->discarded;
        if (!count_records(tally, content / 8))
            return vv_fail_at(error, VARVE_CORRUPT, offset, "'%s': a record of unknown length in the packet",
                              path);
    }
}

/* *out_exists false: no part is there. */
static enum varve_code count_stream(struct tally *tally, const char *folder, const char *base,
                                    bool *out_exists, struct varve_error *error)
{
    uint64_t lost = 0;
    *out_exists = false;
    for (unsigned part = 0;; part++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s.%u", folder, base, part);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0 && errno != ENOENT)
            return vv_fail_errno(error, errno, "cannot read '%s'", path);
        if (file < 0)
            break;
        enum varve_code code = count_part(tally, file, path, &lost, error);
        close(file);
        if (code != VARVE_OK)
            return code;
        *out_exists = true;
    }
    tally->lost += lost;
    return VARVE_OK;
}

enum varve_code vv_tally_process(const char *folder, uint64_t *out_records, uint64_t *out_lost,
                                 struct varve_error *error)
{
    struct tally tally = { .packet = malloc(VV_PACKET_BYTES) };
    if (tally.packet == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a packet");
    bool exists = true;
    enum varve_code code = VARVE_OK;
    for (unsigned instance = 0; exists && code == VARVE_OK; instance++) {
        char base[32] = "process";
        if (instance > 0)
            snprintf(base, sizeof base, "thread.%u", instance);
        code = count_stream(&tally, folder, base, &exists, error);
    }
    free(tally.packet);
    if (code != VARVE_OK)
        return code;
    *out_records = tally.records;
    *out_lost = tally.lost;
    return VARVE_OK;
}
