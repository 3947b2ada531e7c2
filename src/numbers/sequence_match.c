/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/sequence_match.h"

#include <stdlib.h>
#include <string.h>

struct part {
    const uint32_t *a, *b;
    uint32_t a_count, b_count, b_first; /* b[0] is item b_first of the whole sequence           */
    uint32_t *partner;
};

/* length[i * (b_count + 1) + j] is the length of the longest common subsequence of a[i..) and
 * b[j..). */
static enum varve_code match_exactly(const struct part *part, struct varve_error *error)
{
    size_t width = (size_t)part->b_count + 1, height = (size_t)part->a_count + 1;
    uint32_t *length = calloc(width * height, sizeof *length);
    if (length == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to match %u calls with %u", part->a_count,
                part->b_count);
    for (size_t i = part->a_count; i-- > 0;)
        for (size_t j = part->b_count; j-- > 0;) {
            uint32_t below = length[(i + 1) * width + j], beside = length[i * width + j + 1];
            length[i * width + j] = part->a[i] == part->b[j] ? length[(i + 1) * width + j + 1] + 1
                                    : below > beside        ? below
                                                            : beside;
        }
    for (size_t i = 0, j = 0; i < part->a_count && j < part->b_count;) {
        if (part->a[i] == part->b[j])
            part->partner[i++] = part->b_first + (uint32_t)j++;
        else if (length[(i + 1) * width + j] >= length[i * width + j + 1])
            i++;
        else
            j++;
    }
    free(length);
    return VARVE_OK;
}

/* Matches each item with the next equal one in the rest of b. An item without an equal one costs a
 * scan of the whole rest, so the number of comparisons is limited to VV_MATCH_CELLS. */
static void match_in_order(const struct part *part)
{
    uint32_t next = 0;
    size_t looks = 0;
    for (uint32_t i = 0; i < part->a_count && looks < VV_MATCH_CELLS; i++) {
        uint32_t j = next;
        for (; j < part->b_count && part->b[j] != part->a[i]; j++)
            looks++;
        if (j < part->b_count) {
            part->partner[i] = part->b_first + j;
            next = j + 1;
        }
    }
}

enum varve_code vv_sequence_match(const uint32_t *a, uint32_t a_count, const uint32_t *b,
                                  uint32_t b_count, uint32_t *partner, struct varve_error *error)
{
    uint32_t head = 0, tail = 0;
    if (a_count == 0)
        return VARVE_OK;
    memset(partner, 0xff, a_count * sizeof *partner);
    if (b_count == 0)
        return VARVE_OK;
    while (head < a_count && head < b_count && a[head] == b[head]) {
        partner[head] = head;
        head++;
    }
    while (tail < a_count - head && tail < b_count - head &&
           a[a_count - 1 - tail] == b[b_count - 1 - tail]) {
        partner[a_count - 1 - tail] = b_count - 1 - tail;
        tail++;
    }
    struct part part = { a + head, b + head, a_count - head - tail, b_count - head - tail, head,
                         partner + head };
    if (part.a_count == 0 || part.b_count == 0)
        return VARVE_OK;
    if (((uint64_t)part.a_count + 1) * ((uint64_t)part.b_count + 1) <= VV_MATCH_CELLS)
        return match_exactly(&part, error);
    match_in_order(&part);
    return VARVE_OK;
}
