/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of the disk to others: how full it is, fstatfs says, and that is ours here. */
#include "stream_walk.h"

#include <sys/vfs.h>

#include "record/stream/room.h"

#define RESERVE_BYTES UINT64_C(5000000)
#define PACKET UINT64_C(65536)

static char output[4096];
static uint64_t spare_bytes; /* beyond the reserve; a recorder takes an eighth of it at a time   */
static int refusals;

int fstatfs(int file, struct statfs *out)
{
    (void)file;
    *out = (struct statfs){ .f_bsize = 1,
                            .f_blocks = 1u << 30,
                            .f_bavail = RESERVE_BYTES + spare_bytes };
    return 0;
}

static int count_refusal(void)
{
    refusals++;
    return 0;
}

/* Who is refused a window asks for a smaller one; nothing is lost until there is no room for a
 * packet, and that is said once, not for each record. */
static void only_a_packets_refusal_is_a_loss(void **state)
{
    (void)state;
    const struct vv_reserve reserve = { true, RESERVE_BYTES, 0 };
    walk_folder(output);
    const struct vv_own_folder *folder = walk_own(output);
    spare_bytes = 8 * 3 * PACKET;
    vv_room_begin(folder, &reserve, count_refusal);
    assert_false(vv_room_is_for(folder, 4 * PACKET));
    assert_int_equal(vv_room_kept_bytes(), 0);
    assert_true(vv_room_is_for(folder, 2 * PACKET));
    spare_bytes = 0;
    assert_false(vv_room_is_for(folder, 2 * PACKET)); /* one was left of the last look: this one
                                                         finds none */
    assert_int_equal(vv_room_kept_bytes(), 0);
    assert_int_equal(refusals, 0);
    for (int again = 0; again < 3; again++) {
        assert_false(vv_room_is_for(folder, PACKET));
        assert_int_equal(vv_room_kept_bytes(), RESERVE_BYTES);
        assert_int_equal(refusals, 1);
    }
    walk_remove(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_a_packets_refusal_is_a_loss) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
