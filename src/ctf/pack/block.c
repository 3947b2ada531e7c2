/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/pack/block.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ctf/layout.h"
#include "ctf/pack/recent.h"
#include "ctf/pack/shape.h"
#include "ctf/record_length.h"

#define VARINT_BYTES_MAX 10u
#define ID_BYTES_MAX 3u
#define RUN_BYTES_MAX 4u
#define LENGTH_BYTES_MAX 3u
#define SLOTS 8u
#define FIELD_CLASSES 256u

void vv_pack_block_deinit(struct vv_pack_block *block)
{
    if (block == NULL)
        return;
    for (size_t i = 0; i < VV_PACK_COLUMNS; i++)
        free(block->columns[i].data);
    free(block->plain);
    free(block->heads);
    free(block->cuts);
    *block = (struct vv_pack_block){ 0 };
}

enum varve_code vv_pack_block_reset(struct vv_pack_block *block, size_t plain_bytes,
                                    struct varve_error *error)
{
    if (plain_bytes > VV_PACK_BLOCK_BYTES)
        VV_FAIL(error, VARVE_INTERNAL, "a block of %zu bytes", plain_bytes);
    VV_TRY(vv_array_reserve(&block->plain, &block->plain_capacity, plain_bytes, 1, error));
    for (size_t i = 0; i < VV_PACK_COLUMNS; i++)
        block->columns[i].count = 0;
    block->plain_bytes = block->head_count = block->cut_count = 0;
    block->seen_run = block->seen_place = 0;
    return VARVE_OK;
}

size_t vv_pack_column_limit(enum vv_pack_column column, size_t plain_bytes)
{
    size_t words = plain_bytes / 8;
    switch (column) {
    case VV_PACK_RUNS:
        return RUN_BYTES_MAX * plain_bytes;
    case VV_PACK_IDS:
        return ID_BYTES_MAX * words;
    case VV_PACK_TICKS:
        return VV_PACK_PLANES * words;
    case VV_PACK_FIELDS:
        return VARINT_BYTES_MAX * words;
    case VV_PACK_LENGTHS:
        return LENGTH_BYTES_MAX * words;
    case VV_PACK_ADDRESSES:
        return (1 + VARINT_BYTES_MAX) * words;
    default:
        return plain_bytes;
    }
}

/* ---- numbers in columns: seven bits a byte, lowest first; a top bit of 1: more bytes follow
 * ---- */

static enum varve_code reserve(struct vv_pack_bytes *column, size_t more, struct varve_error *error)
{
    return vv_array_reserve(&column->data, &column->capacity, column->count + more, 1, error);
}

/* The caller has reserved the room. */
static inline void put_number(struct vv_pack_bytes *column, uint64_t number)
{
    uint8_t *out = column->data + column->count;
    for (; number > 0x7f; number >>= 7)
        *out++ = (uint8_t)(number | 0x80);
    *out++ = (uint8_t)number;
    column->count = (size_t)(out - column->data);
}

static inline bool take_number(const struct vv_pack_bytes *column, size_t *at, uint64_t *out_number)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && *at < column->count; shift += 7) {
        uint8_t byte = column->data[(*at)++];
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out_number = number;
            return true;
        }
    }
    return false;
}

/* Maps small differences of either sign to small numbers: 0, -1, 1, -2 … become 0, 1, 2, 3 … */
static inline uint64_t fold(uint64_t difference, unsigned bits)
{
    uint64_t mask = UINT64_MAX >> (64 - bits), sign = difference >> (bits - 1) & 1;
    return (difference << 1 & mask) ^ (mask & -sign);
}

static inline uint64_t unfold(uint64_t number)
{
    return number >> 1 ^ -(number & 1);
}

static inline uint64_t load_word(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return le64toh(word);
}

static inline void store_word(uint8_t *to, uint64_t word)
{
    word = htole64(word);
    memcpy(to, &word, sizeof word);
}

/* ---- what the writer and the reader know about the records so far ---- */

struct progress {
    uint64_t ticks;                      /* low 44 bits of the last record's clock               */
    uint64_t second; /* the last second field: it separates operators of different sizes */
    uint32_t id;                         /* of the last record                                   */
    uint64_t fields[FIELD_CLASSES][SLOTS]; /* last value for each class and place                 */
    struct vv_recent recent;
};

/* The classes form the high half, so neighbouring contexts are of one kind. */
static inline uint32_t context_of(const struct progress *progress, uint32_t id)
{
    const uint64_t mix = UINT64_C(0x9E3779B97F4A7C15);
    const unsigned half = VV_PACK_CONTEXT_BITS / 2;
    uint64_t classes = ((uint64_t)progress->id << VV_ID_BITS | id) * mix;
    return (uint32_t)(classes >> (64 - half) << half | progress->second * mix >> (64 - half));
}

/* Keeps the smallest advance of the clock in a context; advances are stored as the difference from
 * it. */
static inline void note_least(uint64_t *least, uint64_t advance)
{
    if (*least == 0 || advance < *least)
        *least = advance;
}

static inline void remember(struct progress *progress, const struct vv_pack_shape *shape,
                            uint64_t at, uint64_t word)
{
    if (at < SLOTS)
        progress->fields[shape->id % FIELD_CLASSES][at] = word;
    if (at == 1)
        progress->second = word;
}

static inline uint64_t field_before(const struct progress *progress,
                                    const struct vv_pack_shape *shape, uint64_t at)
{
    return at < SLOTS ? progress->fields[shape->id % FIELD_CLASSES][at] : 0;
}

/* ---- runs ---- */

enum varve_code vv_pack_block_add(struct vv_pack_block *block, enum vv_run_kind kind, size_t bytes,
                                  struct varve_error *error)
{
    if (bytes == 0)
        return VARVE_OK;
    VV_TRY(reserve(&block->columns[VV_PACK_RUNS], RUN_BYTES_MAX, error));
    put_number(&block->columns[VV_PACK_RUNS], (uint64_t)bytes << 2 | kind);
    block->plain_bytes += bytes;
    return VARVE_OK;
}

struct run {
    enum vv_run_kind kind;
    size_t begin, bytes; /* place among the plain bytes                                          */
};

/* Moves *run to the next run; it begins as { 0 }. False, without a move, at the end or if RUNS is
 * invalid. */
static bool next_run(const struct vv_pack_block *block, size_t *at, struct run *run)
{
    uint64_t number;
    size_t begin = run->begin + run->bytes, after = *at;
    if (!take_number(&block->columns[VV_PACK_RUNS], &after, &number) || (number & 3) > VV_RUN_WORDS)
        return false;
    uint64_t bytes = number >> 2;
    if (bytes == 0 || bytes > block->plain_bytes - begin ||
        ((number & 3) == VV_RUN_WORDS && bytes % 8 != 0))
        return false;
    *run = (struct run){ (enum vv_run_kind)(number & 3), begin, (size_t)bytes };
    *at = after;
    return true;
}

bool vv_pack_block_has_words(struct vv_pack_block *block, size_t begin, size_t end)
{
    if (begin < block->seen_place)
        block->seen_run = block->seen_place = 0;
    size_t at = block->seen_run;
    struct run run = { .begin = block->seen_place };
    while (next_run(block, &at, &run) && run.begin < end) {
        if (run.begin + run.bytes > begin && run.kind == VV_RUN_WORDS)
            return true;
        if (run.begin + run.bytes <= begin) {
            block->seen_run = at;
            block->seen_place = run.begin + run.bytes;
        }
    }
    return false;
}

/* ---- splitting ---- */

/* How many of the `count` words at `from` are of the record that begins there, without the first. A
 * list or a text that goes beyond them takes all. */
static uint64_t words_after(const uint8_t *from, size_t count)
{
    size_t length = 0;
    uint32_t id = (uint32_t)(load_word(from) & VV_ID_MASK);
    if ((uintptr_t)from % sizeof(uint64_t) == 0)
        length = vv_record_length((const uint64_t *)(const void *)from, count);
    bool has_more = vv_list_head_words(id) != 0 || vv_text_head_words(id) != 0;
    if (length > count || (length == 0 && has_more))
        return count - 1;
    return length == 0 ? 0 : length - 1;
}

static enum varve_code split_address(struct vv_pack_bytes *column, struct vv_recent *recent,
                                     uint64_t address, struct varve_error *error)
{
    size_t place = vv_recent_find(recent, address);
    VV_TRY(reserve(column, 1 + VARINT_BYTES_MAX, error));
    if (place < recent->count) {
        put_number(column, place + 1);
    } else {
        put_number(column, 0);
        put_number(column, fold(address - recent->addresses[0], 64));
    }
    vv_recent_put(recent, place, address);
    return VARVE_OK;
}

static void split_head(struct vv_pack_block *block, struct progress *progress, uint64_t word)
{
    uint64_t ticks = word >> VV_ID_BITS, advance = (ticks - progress->ticks) & VV_TICKS_MASK;
    uint32_t id = (uint32_t)(word & VV_ID_MASK), context = context_of(progress, id);
    uint64_t *least = &block->least[context];
    put_number(&block->columns[VV_PACK_IDS], id);
    block->heads[block->head_count++] = (struct vv_pack_head){
        .ticks = fold((advance - *least) & VV_TICKS_MASK, VV_TICKS_BITS),
        .context = context,
    };
    note_least(least, advance);
    progress->ticks = ticks;
    progress->id = id;
}

static enum varve_code split_words(struct vv_pack_block *block, struct progress *progress,
                                   const struct run *run, struct varve_error *error)
{
    struct vv_pack_bytes *columns = block->columns;
    const uint8_t *from = block->plain + run->begin, *end = from + run->bytes;
    while (from < end) {
        uint64_t word = load_word(from), words = words_after(from, (size_t)(end - from) / 8);
        split_head(block, progress, word);
        put_number(&columns[VV_PACK_LENGTHS], words);
        struct vv_pack_shape shape = vv_pack_shape(progress->id, words);
        from += 8;
        for (uint64_t at = 0; at < words; at++, from += 8) {
            word = load_word(from);
            if (at == shape.address)
                VV_TRY(split_address(&columns[VV_PACK_ADDRESSES], &progress->recent, word, error));
            else
                put_number(&columns[VV_PACK_FIELDS],
                           fold(word - field_before(progress, &shape, at), 64));
            remember(progress, &shape, at, word);
            vv_pack_see(&shape, at, word);
        }
    }
    return VARVE_OK;
}

/* Sets starts[c] to the begin of context c in a plane. */
static void place_contexts(struct vv_pack_block *block)
{
    uint32_t place = 0;
    memset(block->starts, 0, sizeof block->starts);
    for (size_t i = 0; i < block->head_count; i++)
        block->starts[block->heads[i].context]++;
    for (size_t c = 0; c < VV_PACK_CONTEXTS; c++) {
        uint32_t count = block->starts[c];
        block->starts[c] = place;
        place += count;
    }
}

/* Cuts each plane into pieces with statistics of their own: a context each, or several small
 * ones. */
static enum varve_code cut_planes(struct vv_pack_block *block, struct varve_error *error)
{
    size_t heads = block->head_count;
    VV_TRY(vv_array_reserve(&block->cuts, &block->cut_capacity,
                            VV_PACK_PLANES * (heads / VV_PACK_CUT_BYTES + 1), sizeof *block->cuts,
                            error));
    for (size_t plane = 0; plane < VV_PACK_PLANES; plane++) {
        size_t last = 0;
        for (size_t c = 1; c < VV_PACK_CONTEXTS; c++) {
            if (block->starts[c] < last + VV_PACK_CUT_BYTES)
                continue;
            last = block->starts[c];
            block->cuts[block->cut_count++] = plane * heads + last;
        }
    }
    return VARVE_OK;
}

static enum varve_code split_ticks(struct vv_pack_block *block, struct varve_error *error)
{
    struct vv_pack_bytes *column = &block->columns[VV_PACK_TICKS];
    size_t heads = block->head_count;
    VV_TRY(reserve(column, VV_PACK_PLANES * heads, error));
    column->count = VV_PACK_PLANES * heads;
    place_contexts(block);
    VV_TRY(cut_planes(block, error));
    for (size_t i = 0; i < heads; i++) {
        uint8_t *out = column->data + block->starts[block->heads[i].context]++;
        uint64_t ticks = block->heads[i].ticks;
        for (size_t plane = 0; plane < VV_PACK_PLANES; plane++, out += heads, ticks >>= 8)
            *out = (uint8_t)ticks;
    }
    return VARVE_OK;
}

static enum varve_code reserve_words(struct vv_pack_block *block, struct varve_error *error)
{
    size_t words = block->plain_bytes / 8;
    VV_TRY(reserve(&block->columns[VV_PACK_IDS], ID_BYTES_MAX * words, error));
    VV_TRY(reserve(&block->columns[VV_PACK_LENGTHS], LENGTH_BYTES_MAX * words, error));
    VV_TRY(reserve(&block->columns[VV_PACK_FIELDS], VARINT_BYTES_MAX * words, error));
    return vv_array_reserve(&block->heads, &block->head_capacity, words, sizeof *block->heads,
                            error);
}

enum varve_code vv_pack_block_split(struct vv_pack_block *block, struct varve_error *error)
{
    struct vv_pack_bytes *raw = &block->columns[VV_PACK_RAW];
    struct progress progress = { 0 };
    struct run run = { 0 };
    memset(block->least, 0, sizeof block->least);
    VV_TRY(reserve_words(block, error));
    for (size_t at = 0; next_run(block, &at, &run);) {
        if (run.kind == VV_RUN_WORDS) {
            VV_TRY(split_words(block, &progress, &run, error));
        } else if (run.kind == VV_RUN_RAW) {
            VV_TRY(reserve(raw, run.bytes, error));
            memcpy(raw->data + raw->count, block->plain + run.begin, run.bytes);
            raw->count += run.bytes;
        }
    }
    block->record_count += block->head_count;
    return split_ticks(block, error);
}

/* ---- joining ---- */

static enum varve_code contradict(const char *what, struct varve_error *error)
{
    VV_FAIL(error, VARVE_CORRUPT, "the block's %s", what);
}

enum varve_code vv_pack_block_outline(struct vv_pack_block *block, struct varve_error *error)
{
    const struct vv_pack_bytes *raw = &block->columns[VV_PACK_RAW];
    struct run run = { 0 };
    size_t at = 0, taken = 0;
    memset(block->plain, 0, block->plain_bytes);
    while (next_run(block, &at, &run)) {
        if (run.kind != VV_RUN_RAW)
            continue;
        if (run.bytes > raw->count - taken)
            return contradict("raw bytes are too few", error);
        memcpy(block->plain + run.begin, raw->data + taken, run.bytes);
        taken += run.bytes;
    }
    if (at != block->columns[VV_PACK_RUNS].count || run.begin + run.bytes != block->plain_bytes)
        return contradict("runs make no sense", error);
    return taken == raw->count ? VARVE_OK : contradict("raw bytes are too many", error);
}

struct join {
    struct progress progress;
    size_t used[VV_PACK_COLUMNS]; /* bytes of the columns                                        */
};

static bool take(const struct vv_pack_block *block, struct join *join, enum vv_pack_column column,
                 uint64_t *out_number)
{
    return take_number(&block->columns[column], &join->used[column], out_number);
}

/* The shape of the record of class `id`, for which there are `room` words after the first. */
static enum varve_code join_shape(const struct vv_pack_block *block, struct join *join, uint32_t id,
                                  uint64_t room, struct vv_pack_shape *out,
                                  struct varve_error *error)
{
    uint64_t words;
    *out = vv_pack_first_shape(id);
    if (block->is_first_layout)
        return VARVE_OK;
    if (!take(block, join, VV_PACK_LENGTHS, &words) || words > room)
        return contradict("lengths of records make no sense", error);
    *out = vv_pack_shape(id, words);
    return VARVE_OK;
}

static enum varve_code join_address(const struct vv_pack_block *block, struct join *join,
                                    uint64_t *out_address, struct varve_error *error)
{
    struct vv_recent *recent = &join->progress.recent;
    uint64_t number, difference;
    if (!take(block, join, VV_PACK_ADDRESSES, &number) || number > recent->count ||
        (number == 0 && !take(block, join, VV_PACK_ADDRESSES, &difference)))
        return contradict("addresses make no sense", error);
    size_t place = number == 0 ? recent->count : (size_t)number - 1;
    *out_address = number == 0 ? recent->addresses[0] + unfold(difference)
                               : recent->addresses[place];
    vv_recent_put(recent, place, *out_address);
    return VARVE_OK;
}

static enum varve_code join_field(const struct vv_pack_block *block, struct join *join,
                                  struct vv_pack_shape *shape, uint64_t at, uint64_t *out_word,
                                  struct varve_error *error)
{
    struct progress *progress = &join->progress;
    uint64_t number;
    if (at == shape->address)
        VV_TRY(join_address(block, join, out_word, error));
    else if (take(block, join, VV_PACK_FIELDS, &number))
        *out_word = field_before(progress, shape, at) + unfold(number);
    else
        return contradict("fields are too few", error);
    remember(progress, shape, at, *out_word);
    if (block->is_first_layout)
        vv_pack_first_see(shape, at, *out_word);
    else
        vv_pack_see(shape, at, *out_word);
    return VARVE_OK;
}

/* Puts class ids and fields in their places. The clocks follow when all contexts are known. */
static enum varve_code join_words(struct vv_pack_block *block, struct join *join,
                                  const struct run *run, struct varve_error *error)
{
    size_t place = run->begin, end = run->begin + run->bytes;
    while (place < end) {
        uint64_t id, word = 0;
        struct vv_pack_shape shape;
        if (!take(block, join, VV_PACK_IDS, &id) || id > VV_ID_MASK)
            return contradict("class ids make no sense", error);
        block->heads[block->head_count++] = (struct vv_pack_head){
            .place = (uint32_t)place,
            .context = context_of(&join->progress, (uint32_t)id),
        };
        join->progress.id = (uint32_t)id;
        store_word(block->plain + place, id);
        place += 8;
        VV_TRY(join_shape(block, join, (uint32_t)id, (end - place) / 8, &shape, error));
        for (uint64_t at = 0; at < shape.words && place < end; at++, place += 8) {
            VV_TRY(join_field(block, join, &shape, at, &word, error));
            store_word(block->plain + place, word);
        }
    }
    return VARVE_OK;
}

static void join_ticks(struct vv_pack_block *block)
{
    size_t heads = block->head_count;
    uint64_t ticks = 0;
    memset(block->least, 0, sizeof block->least);
    place_contexts(block);
    for (size_t i = 0; i < heads; i++) {
        const struct vv_pack_head *head = &block->heads[i];
        const uint8_t *from = block->columns[VV_PACK_TICKS].data + block->starts[head->context]++;
        uint64_t folded = 0;
        for (unsigned plane = 0; plane < VV_PACK_PLANES; plane++, from += heads)
            folded |= (uint64_t)*from << (8 * plane);
        uint64_t *least = &block->least[head->context];
        uint64_t advance = (*least + unfold(folded)) & VV_TICKS_MASK;
        note_least(least, advance);
        ticks = (ticks + advance) & VV_TICKS_MASK;
        uint8_t *word = block->plain + head->place;
        store_word(word, load_word(word) | ticks << VV_ID_BITS);
    }
}

enum varve_code vv_pack_block_join(struct vv_pack_block *block, struct varve_error *error)
{
    struct join join = { 0 };
    struct run run = { 0 };
    VV_TRY(vv_array_reserve(&block->heads, &block->head_capacity, block->plain_bytes / 8,
                            sizeof *block->heads, error));
    block->head_count = 0;
    for (size_t at = 0; next_run(block, &at, &run);)
        if (run.kind == VV_RUN_WORDS)
            VV_TRY(join_words(block, &join, &run, error));
    static const char *const too_many[VV_PACK_COLUMNS] = {
        [VV_PACK_IDS] = "class ids are too many",
        [VV_PACK_FIELDS] = "fields are too many",
        [VV_PACK_LENGTHS] = "lengths of records are too many",
        [VV_PACK_ADDRESSES] = "addresses are too many",
    };
    for (size_t i = 0; i < VV_PACK_COLUMNS; i++)
        if (too_many[i] != NULL && join.used[i] != block->columns[i].count)
            return contradict(too_many[i], error);
    if (block->columns[VV_PACK_TICKS].count != VV_PACK_PLANES * block->head_count)
        return contradict("clock values are not as many as its records", error);
    block->record_count += block->head_count;
    join_ticks(block);
    return VARVE_OK;
}
