/* SPDX-License-Identifier: Apache-2.0 */
#include "model/steps/repeats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define TIMES_LEAST 3
#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE UINT64_C(0x0f3a91d7c45b2e69) /* any number below the prime */
#define COMPARED_ONE_BY_ONE 8u
#define COMPARED_AGAIN_MAX 4096u
#define COMPARISONS 1024u

/* The tokens from `first` on and those `distance` later: how many are equal. */
struct comparison { size_t first, distance, equal; };

struct finding {
    const uint32_t *tokens;
    size_t count;
    uint64_t *sums;          /* i -> the hash of tokens[0..i) */
    uint64_t *powers;        /* i -> BASE to the i */
    uint32_t *next;          /* i -> end of the longest Lyndon word that begins at i */
    uint32_t *stack;
    unsigned char *is_taken; /* i -> a taken repeat holds token i */
    struct vv_repeats heap;  /* repeats that may still be taken, the best on top */
    struct comparison last[COMPARISONS]; /* distance % COMPARISONS -> the last of such a distance */
};

/* ---- how far the tokens at two places are equal ---- */

static uint64_t multiply(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

static void sum_up(struct finding *finding)
{
    finding->sums[0] = 0;
    finding->powers[0] = 1;
    for (size_t i = 0; i < finding->count; i++) {
        uint64_t sum = multiply(finding->sums[i], BASE) + finding->tokens[i] + 1;
        finding->sums[i + 1] = sum >= PRIME ? sum - PRIME : sum;
        finding->powers[i + 1] = multiply(finding->powers[i], BASE);
    }
}

static uint64_t hash_of(const struct finding *finding, size_t first, size_t length)
{
    uint64_t head = multiply(finding->sums[first], finding->powers[length]),
             whole = finding->sums[first + length];
    return whole >= head ? whole - head : whole + PRIME - head;
}

/* The largest length up to `limit` for which the tokens after a and after b are equal, or those
 * before. The search doubles the length, then bisects. Two hashes may be equal by chance, so a
 * repeat is compared token by token before it is taken. */
static size_t search_equal(const struct finding *finding, size_t a, size_t b, size_t limit,
                           bool is_backward)
{
    size_t low = COMPARED_ONE_BY_ONE, high = limit, length = 2 * low;
    bool is_doubling = true;
    while (low < high) {
        size_t asked = is_doubling && length < high ? length : low + (high - low + 1) / 2;
        size_t back = is_backward ? asked : 0;
        if (hash_of(finding, a - back, asked) == hash_of(finding, b - back, asked)) {
            low = asked;
        } else {
            high = asked - 1;
            is_doubling = false;
        }
        length *= 2;
    }
    return low;
}

/* With a < b. Loops compare places of one distance again and again, so the last comparison mostly
 * says it: it began before and did not end yet, or the tokens up to its begin are few. */
static size_t equal_from(struct finding *finding, size_t a, size_t b)
{
    size_t limit = finding->count - b, one_by_one = COMPARED_ONE_BY_ONE;
    struct comparison *last = &finding->last[(b - a) % COMPARISONS];
    bool is_same = last->distance == b - a;
    if (is_same && last->first <= a && a - last->first <= last->equal)
        return last->first + last->equal - a;
    is_same = is_same && last->first > a && last->first - a <= COMPARED_AGAIN_MAX;
    if (is_same)
        one_by_one = last->first - a;
    for (size_t i = 0; i < one_by_one; i++)
        if (i == limit || finding->tokens[a + i] != finding->tokens[b + i])
            return i;
    size_t equal = is_same ? one_by_one + last->equal : search_equal(finding, a, b, limit, false);
    *last = (struct comparison){ a, b - a, equal };
    return equal;
}

/* The same, for the tokens before a and before b. */
static size_t equal_before(const struct finding *finding, size_t a, size_t b)
{
    size_t limit = a < b ? a : b;
    for (size_t i = 0; i < COMPARED_ONE_BY_ONE; i++)
        if (i == limit || finding->tokens[a - i - 1] != finding->tokens[b - i - 1])
            return i;
    return search_equal(finding, a, b, limit, true);
}

/* ---- all repeats ---- */

static bool goes_first(const struct vv_repeat *a, const struct vv_repeat *b)
{
    if (a->length != b->length)
        return a->length > b->length;
    return a->period != b->period ? a->period < b->period : a->start < b->start;
}

static enum varve_code push(struct vv_repeats *heap, struct vv_repeat repeat,
                            struct varve_error *error)
{
    if (repeat.length / TIMES_LEAST < repeat.period)
        return VARVE_OK;
    if (heap->count == heap->capacity)
        VV_TRY(vv_array_reserve(&heap->items, &heap->capacity, heap->count + 1, sizeof *heap->items,
                                error));
    size_t at = heap->count++;
    for (; at > 0 && goes_first(&repeat, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = repeat;
    return VARVE_OK;
}

static struct vv_repeat pop(struct vv_repeats *heap)
{
    struct vv_repeat top = heap->items[0], last = heap->items[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < heap->count && goes_first(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (child >= heap->count || !goes_first(&heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = last;
    return top;
}

/* Is the sequence from `a` on less than the sequence from `b` on, with a < b? A sequence is less
 * than any longer one that begins with it. */
static bool is_less(struct finding *finding, size_t a, size_t b, bool is_turned)
{
    size_t equal = equal_from(finding, a, b);
    return b + equal < finding->count &&
           (finding->tokens[a + equal] < finding->tokens[b + equal]) != is_turned;
}

static void find_words(struct finding *finding, bool is_turned)
{
    size_t depth = 0;
    for (size_t i = finding->count; i-- > 0;) {
        while (depth > 0 && is_less(finding, i, finding->stack[depth - 1], is_turned))
            depth--;
        finding->next[i] = depth > 0 ? finding->stack[depth - 1] : (uint32_t)finding->count;
        finding->stack[depth++] = (uint32_t)i;
    }
}

/* Each repeat holds, in one of the two orders of tokens, a longest Lyndon word whose length is the
 * period. The repeat is found from that word. */
static enum varve_code find_all(struct finding *finding, bool is_turned, struct varve_error *error)
{
    struct vv_repeat last = { 0, 0, 0 };
    find_words(finding, is_turned);
    for (size_t i = 0; i < finding->count; i++) {
        size_t end = finding->next[i], period = end - i;
        bool is_known =
            period == last.period && i >= last.start && end <= (size_t)last.start + last.length;
        if (is_known || period > finding->count / TIMES_LEAST)
            continue;
        size_t before = equal_before(finding, i, end);
        size_t from = end < finding->count ? equal_from(finding, i, end) : 0;
        last = (struct vv_repeat){ (uint32_t)(i - before), (uint32_t)(before + period + from),
                                   (uint32_t)period };
        VV_TRY(push(&finding->heap, last, error));
    }
    return VARVE_OK;
}

/* ---- which repeats are taken ---- */

static bool is_true(const struct finding *finding, const struct vv_repeat *repeat)
{
    const uint32_t *first = finding->tokens + repeat->start;
    return memcmp(first, first + repeat->period,
                  (repeat->length - repeat->period) * sizeof *first) == 0;
}

/* Puts the parts of the repeat that are still free back on the heap. */
static enum varve_code push_parts(struct finding *finding, const struct vv_repeat *repeat,
                                  struct varve_error *error)
{
    size_t limit = (size_t)repeat->start + repeat->length;
    for (size_t i = repeat->start; i < limit; i++) {
        size_t first = i;
        while (i < limit && !finding->is_taken[i])
            i++;
        struct vv_repeat part = { (uint32_t)first, (uint32_t)(i - first), repeat->period };
        VV_TRY(push(&finding->heap, part, error));
    }
    return VARVE_OK;
}

static int compare_starts(const void *a, const void *b)
{
    const struct vv_repeat *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

static enum varve_code choose(struct finding *finding, struct vv_repeats *out,
                              struct varve_error *error)
{
    struct vv_repeat last = { 0 };
    while (finding->heap.count > 0) {
        struct vv_repeat best = pop(&finding->heap);
        if (memcmp(&best, &last, sizeof best) == 0) /* found once for each of its times */
            continue;
        last = best;
        if (memchr(finding->is_taken + best.start, 1, best.length) != NULL) {
            VV_TRY(push_parts(finding, &best, error));
            continue;
        }
        if (!is_true(finding, &best))
            continue;
        memset(finding->is_taken + best.start, 1, best.length);
        if (out->count == out->capacity)
            VV_TRY(vv_array_reserve(&out->items, &out->capacity, out->count + 1, sizeof *out->items,
                                    error));
        out->items[out->count++] = best;
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, compare_starts);
    return VARVE_OK;
}

enum varve_code vv_repeats_find(const uint32_t *tokens, size_t count,
                                struct vv_repeats *out_repeats, struct varve_error *error)
{
    *out_repeats = (struct vv_repeats){ 0 };
    if (count < TIMES_LEAST)
        return VARVE_OK;
    if (count >= UINT32_MAX)
        VV_FAIL(error, VARVE_LIMIT, "a sequence of %zu is too long to look for repeats", count);
    struct finding finding = {
        .tokens = tokens,
        .count = count,
        .sums = malloc((count + 1) * sizeof *finding.sums),
        .powers = malloc((count + 1) * sizeof *finding.powers),
        .next = malloc(count * sizeof *finding.next),
        .stack = malloc(count * sizeof *finding.stack),
        .is_taken = calloc(count, 1),
    };
    enum varve_code code = VARVE_OK;
    if (finding.sums == NULL || finding.powers == NULL || finding.next == NULL ||
        finding.stack == NULL || finding.is_taken == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to look for repeats in %zu", count);
    if (code == VARVE_OK) {
        sum_up(&finding);
        code = find_all(&finding, false, error);
    }
    if (code == VARVE_OK)
        code = find_all(&finding, true, error);
    if (code == VARVE_OK)
        code = choose(&finding, out_repeats, error);
    free(finding.sums);
    free(finding.powers);
    free(finding.next);
    free(finding.stack);
    free(finding.is_taken);
    vv_repeats_deinit(&finding.heap);
    return code;
}

void vv_repeats_deinit(struct vv_repeats *repeats)
{
    free(repeats->items);
    *repeats = (struct vv_repeats){ 0 };
}
