/* SPDX-License-Identifier: Apache-2.0 */
#include "own_floor.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctf/layout.h"
#include "ctf/record_length.h"
#include "import/varve/packets/timeline.h"

#define HEADER_WORDS (sizeof(struct vv_packet_header) / 8)

enum part { COPY, WALK, KNOW };

/* What the visits of all streams add up to. */
static struct {
    enum part part;
    double seconds;
    uint64_t sum;
} visited;

double bench_shared_s;

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_thread_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

void __wrap_vv_workers_run(unsigned threads, size_t pieces, vv_work *work, void *context)
{
    double begin_s = bench_thread_s();
    __real_vv_workers_run(threads, pieces, work, context);
    bench_shared_s += bench_thread_s() - begin_s;
}

/* The least that nesting needs: each end finds its begin, and its row says when, how long, how much
 * of it is the range's own, in which range and how deep. The rows stay in the first cache. */
#define DEPTH_MAX 1024u
#define ROWS 64u

static struct nesting {
    struct { uint64_t row; int64_t begin_ns, inside_ns; } open[DEPTH_MAX];
    struct { uint64_t parent, depth; int64_t begin_ns, duration_ns, own_ns; } rows[ROWS];
    uint64_t depth, count;
} nesting;

static inline void nest(uint32_t id, int64_t time_ns)
{
    if (id >= VV_SITE_ID_FIRST && id % VV_SITE_KINDS == VV_KIND_BEGIN &&
        nesting.depth < DEPTH_MAX - 1) {
        nesting.depth++;
        nesting.open[nesting.depth].row = nesting.count++;
        nesting.open[nesting.depth].begin_ns = time_ns;
        nesting.open[nesting.depth].inside_ns = 0;
    } else if (id == VV_EVENT_END && nesting.depth > 0) {
        uint64_t depth = nesting.depth--, row = nesting.open[depth].row % ROWS;
        int64_t duration_ns = time_ns - nesting.open[depth].begin_ns;
        nesting.open[depth - 1].inside_ns += duration_ns;
        nesting.rows[row].parent = nesting.open[depth - 1].row;
        nesting.rows[row].depth = depth;
        nesting.rows[row].begin_ns = nesting.open[depth].begin_ns;
        nesting.rows[row].duration_ns = duration_ns;
        nesting.rows[row].own_ns = duration_ns - nesting.open[depth].inside_ns;
    }
}

/* What is known so far, by hash: the last operator, and the last address. */
#define KNOWN 4096u

static struct known {
    struct { const uint64_t *words; size_t count; } operators[KNOWN];
    struct { uint64_t address, bytes; } memory[KNOWN];
} known;

static inline size_t slot_of(uint64_t hash)
{
    return hash * UINT64_C(0x9E3779B97F4A7C15) >> 52;
}

/* The number of the operator before whose list of tensors is the same. */
static inline uint64_t know_operator(const uint64_t *words, size_t length, uint32_t id)
{
    const uint64_t *list = words + 1 + vv_list_head_words(id);
    size_t count = length - (size_t)(list - words);
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ list[i]) * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = slot_of(hash);
    if (known.operators[slot].count != count ||
        memcmp(known.operators[slot].words, list, 8 * count) != 0) {
        known.operators[slot].words = list;
        known.operators[slot].count = count;
    }
    return slot;
}

static inline uint64_t know_record(const uint64_t *words, size_t length)
{
    uint32_t id = (uint32_t)(words[0] & VV_ID_MASK);
    if (id == VV_EVENT_OP || id == VV_EVENT_OPERATOR)
        return know_operator(words, length, id);
    if (id != VV_EVENT_ALLOC && id != VV_EVENT_FREE)
        return 0;
    size_t slot = slot_of(words[1]);
    if (id == VV_EVENT_FREE)
        return known.memory[slot].address == words[1] ? known.memory[slot].bytes : 0;
    known.memory[slot].address = words[1];
    return known.memory[slot].bytes = words[2];
}

static uint64_t walk_records(struct vv_timeline *timeline, const uint64_t *words, size_t count,
                             uint64_t ticks)
{
    struct varve_error error;
    uint64_t sum = 0;
    for (size_t at = 0, length; at < count; at += length) {
        int64_t time_ns;
        length = vv_record_length(words + at, count - at);
        if (length == 0 || length > count - at)
            break;
        ticks += ((words[at] >> VV_ID_BITS) - ticks) & VV_TICKS_MASK;
        if (vv_timeline_ns(timeline, ticks, &time_ns, &error) == VARVE_OK)
            nest((uint32_t)(words[at] & VV_ID_MASK), time_ns);
        if (visited.part == KNOW)
            sum += know_record(words + at, length);
        for (size_t i = 0; i < length; i++)
            sum += words[at + i];
    }
    return sum + (uint64_t)nesting.rows[sum % ROWS].own_ns;
}

static void walk_stream(const char *bytes, size_t size)
{
    struct vv_timeline timeline;
    struct varve_error error;
    if (vv_timeline_init(&timeline, UINT64_C(2500000000), 0, 0, &error) != VARVE_OK)
        return;
    for (size_t at = 0; at + sizeof(struct vv_packet_header) <= size;) {
        const struct vv_packet_header *header = (const void *)(bytes + at);
        size_t words = header->content_bits / 64;
        if (header->magic != VV_CTF_MAGIC || words * 8 > size - at || words < HEADER_WORDS ||
            header->packet_bits == 0)
            break;
        visited.sum += walk_records(&timeline, (const uint64_t *)(bytes + at) + HEADER_WORDS,
                                    words - HEADER_WORDS, header->begin_ticks);
        at += header->packet_bits / 8;
    }
}

static void copy_stream(int descriptor)
{
    static char buffer[VV_PACKET_BYTES];
    ssize_t got;
    while ((got = read(descriptor, buffer, sizeof buffer)) > 0)
        visited.sum += (unsigned char)buffer[got - 1];
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    const char *name = path + place->base;
    size_t size = (size_t)status->st_size;
    if (kind != FTW_F || size == 0 ||
        (strncmp(name, "thread.", 7) != 0 && strncmp(name, "process.", 8) != 0))
        return 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    double begin_s = clock_s(CLOCK_MONOTONIC);
    if (visited.part == COPY)
        copy_stream(descriptor);
    else if (bytes != MAP_FAILED)
        walk_stream(bytes, size);
    visited.seconds += clock_s(CLOCK_MONOTONIC) - begin_s;
    memset(&known, 0, sizeof known); /* it points into these bytes */
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    close(descriptor);
    return 0;
}

static double visit_all(const char *path, enum part part)
{
    static volatile uint64_t kept; /* so that the compiler leaves nothing out                    */
    visited.part = part;
    visited.seconds = 0;
    if (nftw(path, visit, 8, FTW_PHYS) != 0)
        return 0;
    kept = visited.sum;
    (void)kept;
    return visited.seconds;
}

double bench_own_copy_s(const char *path)
{
    return visit_all(path, COPY);
}

double bench_own_walk_s(const char *path)
{
    return visit_all(path, WALK);
}

double bench_own_know_s(const char *path)
{
    return visit_all(path, KNOW);
}

double bench_own_write_s(double bytes)
{
    size_t size = (size_t)bytes;
    double begin_s = clock_s(CLOCK_MONOTONIC);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 1, size);
    double seconds = clock_s(CLOCK_MONOTONIC) - begin_s;
    munmap(memory, size);
    return seconds;
}
