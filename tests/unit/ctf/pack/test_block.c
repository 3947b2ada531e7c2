/* SPDX-License-Identifier: Apache-2.0 */
/* Joining trusts nothing: columns that contradict each other are refused, and it is said which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "ctf/pack/block.h"

struct columns {
    size_t plain_bytes;
    /* in the order of enum vv_pack_column */
    uint8_t counts[VV_PACK_COLUMNS], bytes[VV_PACK_COLUMNS][16];
};

#define WORDS(count) (8 * (count) << 2 | VV_RUN_WORDS)
#define RAW(count) ((count) << 2 | VV_RUN_RAW)

/* Sets the columns and joins them. Columns without lengths of records are of the first layout. */
static enum varve_code join(struct vv_pack_block *block, const struct columns *columns,
                            struct varve_error *error)
{
    block->is_first_layout = columns->counts[VV_PACK_LENGTHS] == 0;
    assert_int_equal(vv_pack_block_reset(block, columns->plain_bytes, error), VARVE_OK);
    block->plain_bytes = columns->plain_bytes;
    for (size_t i = 0; i < VV_PACK_COLUMNS; i++) {
        free(block->columns[i].data);
        block->columns[i] = (struct vv_pack_bytes){ calloc(1, 16), columns->counts[i], 16 };
        memcpy(block->columns[i].data, columns->bytes[i], 16);
    }
    VV_TRY(vv_pack_block_outline(block, error));
    return vv_pack_block_join(block, error);
}

/* A mark, four bytes as they are, four zeros, a counter: ids 66 and 67, at ticks 1 and 4, whose
 * contexts are in the opposite order. */
static const struct columns sound = { 32, { 3, 4, 2, 12, 1 },
                                      { { WORDS(1), RAW(4), 4 << 2 }, "raw!", { 66, 67 }, { 6, 2 },
                                        { 14 } } };

/* The same in the second layout; and two releases of one address, 3, of devices 1 and 2. */
static const struct columns with_lengths = { 32, { 3, 4, 2, 12, 1, 2, 0 },
                                             { { WORDS(1), RAW(4), 4 << 2 }, "raw!", { 66, 67 },
                                               { 6, 2 }, { 14 }, { 0, 1 } } };
static const struct columns releases = { 48, { 2, 0, 2, 12, 2, 2, 3 },
                                         { { 0xc2, 1 }, "", { 12, 12 }, { 2, 4 }, { 2, 2 },
                                           { 2, 2 }, { 0, 6, 1 } } };

static void addresses_come_again(void **state)
{
    (void)state;
    static struct vv_pack_block block;
    struct varve_error error;
    uint64_t words[6];
    assert_int_equal(join(&block, &releases, &error), VARVE_OK);
    memcpy(words, block.plain, sizeof words);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(words[3 * i] & VV_ID_MASK, VV_EVENT_FREE);
        assert_int_equal(words[3 * i + 1], 3);
        assert_int_equal(words[3 * i + 2], i + 1);
    }
    vv_pack_block_deinit(&block);
}

/* Each record takes what is left. */
static void a_list_without_an_end_is_split_at_once(void **state)
{
    (void)state;
    enum { WORDS_MANY = VV_PACK_BLOCK_BYTES / 8 };
    static struct vv_pack_block block;
    struct varve_error error;
    uint64_t *words = NULL;
    assert_int_equal(vv_pack_block_reset(&block, VV_PACK_BLOCK_BYTES, &error), VARVE_OK);
    assert_int_equal(vv_pack_block_add(&block, VV_RUN_WORDS, VV_PACK_BLOCK_BYTES, &error),
                     VARVE_OK);
    words = (uint64_t *)(void *)block.plain;
    for (size_t i = 0; i < WORDS_MANY; i++)
        words[i] = (UINT64_C(1) << 31) + VV_EVENT_IDENTITIES;
    assert_int_equal(vv_pack_block_split(&block, &error), VARVE_OK);
    assert_int_equal(block.head_count, 1);
    vv_pack_block_deinit(&block);
}

static void sound_columns_join(void **state)
{
    (void)state;
    const struct columns *each[] = { &sound, &with_lengths };
    for (size_t i = 0; i < 2; i++) {
        static struct vv_pack_block block;
        struct columns columns = *each[i];
        struct varve_error error;
        uint64_t words[4];
        columns.counts[VV_PACK_RUNS] = 4;
        columns.bytes[VV_PACK_RUNS][3] = WORDS(2);
        assert_int_equal(join(&block, &columns, &error), VARVE_OK);
        memcpy(words, block.plain, sizeof words);
        assert_int_equal(words[0], UINT64_C(1) << 20 | 66);
        assert_memory_equal(&words[1], "raw!\0\0\0\0", 8);
        assert_int_equal(words[2], UINT64_C(4) << 20 | 67);
        assert_int_equal(words[3], 7);
        assert_int_equal(block.record_count, 2);
        vv_pack_block_deinit(&block);
    }
}

/* Each with one thing wrong. */
static void what_contradicts_itself_is_refused(void **state)
{
    (void)state;
    static const struct { struct columns columns; const char *says; } wrong[] = {
        { { 8, { 1, 0, 0, 6, 0 }, { { WORDS(1) } } }, "the block's class ids make no sense" },
        { { 16, { 1, 0, 1, 6, 0 }, { { WORDS(2) }, "", { 66 } } },
          "the block's class ids make no sense" },
        { { 8, { 1, 0, 4, 6, 0 }, { { WORDS(1) }, "", { 0x80, 0x80, 0x80, 1 } } },
          "the block's class ids make no sense" },
        { { 8, { 1, 0, 2, 6, 0 }, { { WORDS(1) }, "", { 66, 66 } } },
          "the block's class ids are too many" },
        { { 16, { 1, 0, 1, 6, 0 }, { { WORDS(2) }, "", { 67 } } },
          "the block's fields are too few" },
        { { 8, { 1, 0, 1, 6, 1 }, { { WORDS(1) }, "", { 66 } } },
          "the block's fields are too many" },
        { { 8, { 1, 0, 1, 6, 0, 1 }, { { WORDS(1) }, "", { 66 }, "", "", { 1 } } },
          "the block's lengths of records make no sense" },
        { { 8, { 1, 0, 1, 6, 0, 2 }, { { WORDS(1) }, "", { 66 } } },
          "the block's lengths of records are too many" },
        { { 16, { 1, 0, 1, 6, 0, 1, 0 }, { { WORDS(2) }, "", { 12 }, "", "", { 1 } } },
          "the block's addresses make no sense" },
        { { 16, { 1, 0, 1, 6, 0, 1, 1 }, { { WORDS(2) }, "", { 12 }, "", "", { 1 }, { 0 } } },
          "the block's addresses make no sense" },
        { { 16, { 1, 0, 1, 6, 0, 1, 1 }, { { WORDS(2) }, "", { 12 }, "", "", { 1 }, { 1 } } },
          "the block's addresses make no sense" },
        { { 16, { 1, 0, 1, 6, 0, 1, 3 }, { { WORDS(2) }, "", { 12 }, "", "", { 1 }, { 0 } } },
          "the block's addresses are too many" },
        { { 8, { 1, 0, 1, 5, 0 }, { { WORDS(1) }, "", { 66 } } },
          "the block's clock values are not as many as its records" },
        { { 8, { 1, 0, 1, 12, 0 }, { { WORDS(1) }, "", { 66 } } },
          "the block's clock values are not as many as its records" },
        { { 4, { 1, 3, 0, 0, 0 }, { { RAW(4) }, "raw" } }, "the block's raw bytes are too few" },
        { { 4, { 1, 5, 0, 0, 0 }, { { RAW(4) }, "raw!!" } }, "the block's raw bytes are too many" },
        { { 5, { 1, 4, 0, 0, 0 }, { { RAW(4) }, "raw!" } }, "the block's runs make no sense" },
        { { 4, { 2, 4, 0, 0, 0 }, { { RAW(4), RAW(1) }, "raw!" } },
          "the block's runs make no sense" },
        { { 4, { 1, 0, 0, 0, 0 }, { { 4 << 2 | VV_RUN_WORDS } } },
          "the block's runs make no sense" },
        { { 4, { 1, 0, 0, 0, 0 }, { { 4 << 2 | 3 } } }, "the block's runs make no sense" },
        { { 4, { 1, 0, 0, 0, 0 }, { { 0 << 2 } } }, "the block's runs make no sense" },
    };
    static struct vv_pack_block block;
    struct varve_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (join(&block, &wrong[i].columns, &error) != VARVE_CORRUPT)
            fail_msg("joined where '%s' (%zu)", wrong[i].says, i);
        assert_string_equal(error.message, wrong[i].says);
    }
    vv_pack_block_deinit(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_columns_join),
        cmocka_unit_test(addresses_come_again),
        cmocka_unit_test(a_list_without_an_end_is_split_at_once),
        cmocka_unit_test(what_contradicts_itself_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
