/* SPDX-License-Identifier: Apache-2.0 */
/* stream_walk.h — reads stream files back in tests, word by word, checking doc/format.md §4 on the
 * way. */
#ifndef VV_TESTS_STREAM_WALK_H
#define VV_TESTS_STREAM_WALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/own_folder.h"
#include "ctf/layout.h"

struct walk {
    uint64_t *words;     /* of all records, in order; free() it                                 */
    size_t word_count;
    uint64_t packets, discarded, tid;
};

/* The folder as the recorder knows it. */
static inline const struct vv_own_folder *walk_own(const char *path)
{
    static struct vv_own_folder own;
    if (vv_own_folder_know(path, false, &own, NULL) != 0)
        own.id = (struct vv_file_id){ 0, 0 };
    return &own;
}

static inline const uint8_t *walk_map(const char *path, size_t *out_bytes)
{
    int file = open(path, O_RDONLY);
    if (file < 0)
        return NULL;
    struct stat about;
    assert_int_equal(fstat(file, &about), 0);
    void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    close(file);
    *out_bytes = (size_t)about.st_size;
    return map;
}

static inline void walk_part(struct walk *walk, const uint8_t *map, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const struct vv_packet_header *packet = (const void *)(map + at);
        assert_int_equal(packet->magic, VV_CTF_MAGIC);
        assert_int_equal(packet->sequence, walk->packets);
        assert_true(packet->content_bits >= sizeof *packet * 8);
        assert_true(packet->content_bits <= packet->packet_bits);
        assert_true(packet->discarded >= walk->discarded);
        size_t records = packet->content_bits / 64 - sizeof *packet / 8;
        walk->words = realloc(walk->words, (walk->word_count + records + 1) * 8);
        memcpy(walk->words + walk->word_count, packet + 1, records * 8);
        walk->word_count += records;
        walk->packets++;
        walk->discarded = packet->discarded;
        walk->tid = packet->tid;
        at += packet->packet_bits / 8;
        assert_true(at <= bytes);
    }
}

/* All parts of FOLDER/BASE. */
static inline struct walk walk_stream(const char *folder, const char *base)
{
    struct walk walk = { 0 };
    for (unsigned part = 0;; part++) {
        char path[4096 + 512];
        snprintf(path, sizeof path, "%s/%s.%u", folder, base, part);
        size_t bytes;
        const uint8_t *map = walk_map(path, &bytes);
        if (map == NULL) {
            assert_int_not_equal(part, 0);
            return walk;
        }
        walk_part(&walk, map, bytes);
        munmap((void *)map, bytes);
    }
}

static inline uint32_t walk_id(uint64_t word)
{
    return (uint32_t)(word & VV_ID_MASK);
}

/* A new empty folder under $TMPDIR; the caller removes it by walk_remove. */
static inline void walk_folder(char out_path[4096])
{
    const char *where = getenv("TMPDIR");
    snprintf(out_path, 4096, "%s/varve-test-XXXXXX", where != NULL ? where : "/tmp");
    assert_non_null(mkdtemp(out_path));
}

static inline void walk_remove(const char *folder)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

#endif
