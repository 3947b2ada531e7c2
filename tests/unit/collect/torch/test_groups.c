/* SPDX-License-Identifier: Apache-2.0 */
/* Which process group a value holds: a box is believed where it leads to a group that was seen, and
 * nowhere else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "collect/torch/groups.h"

#define TAG 20u

/* What c10d calls; PyTorch itself is not in this process. */
void _ZN4c10d12ProcessGroup12setGroupNameERKSs(void *group, const char *const *name);
void _ZN4c10d12ProcessGroupC1EN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEii(
    void *group, void *store, int rank, int size);
#define make_group                                                                                 \
    _ZN4c10d12ProcessGroupC1EN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEii

static char first[8], second[8], stranger[8];

struct box {
    struct vv_torch_value slot;
    uint64_t words[32]; /* as long as what is looked through, and more                            */
};

static struct vv_torch_value boxed(struct box *box, const void *held, size_t at)
{
    memset(box, 0, sizeof *box);
    box->slot = (struct vv_torch_value){ (uint64_t)(uintptr_t)held, 3, 0 };
    box->words[at] = (uint64_t)(uintptr_t)&box->slot;
    box->words[at + 1] = box->words[at] + sizeof box->slot;
    return (struct vv_torch_value){ (uint64_t)(uintptr_t)box->words, TAG, 0 };
}

static void give_name(void *group, const char *name)
{
    _ZN4c10d12ProcessGroup12setGroupNameERKSs(group, &name);
}

static void a_box_is_believed_for_what_it_leads_to(void **state)
{
    struct box box;
    (void)state;
    struct vv_torch_value value = boxed(&box, first, 10);
    assert_null(vv_torch_group_of(&value)); /* none was seen yet */
    make_group(first, NULL, 1, 4);
    give_name(first, "dp");
    give_name(second, "tp");
    value = boxed(&box, stranger, 10);
    assert_null(vv_torch_group_of(&value));
    value.payload = 0x5a5a5a5a5a5a5a5a; /* no box: a number, or a text of four words */
    assert_null(vv_torch_group_of(&value));
    value = boxed(&box, first, 10);
    const struct vv_torch_group *group = vv_torch_group_of(&value);
    assert_string_equal(group->name, "dp");
    assert_int_equal(group->rank, 1);
    assert_int_equal(group->size, 4);
    value = boxed(&box, second, 10);
    group = vv_torch_group_of(&value);
    assert_string_equal(group->name, "tp");
    assert_int_equal(group->size, 0);
    assert_int_equal(group->rank, -1);
    value = boxed(&box, second, 12); /* the place is known by now: here stands another's */
    assert_null(vv_torch_group_of(&value));
    value = boxed(&box, second, 10);
    value.tag = TAG + 1;
    assert_null(vv_torch_group_of(&value));
}

static void another_group_at_the_same_address_is_another(void **state)
{
    struct box box;
    (void)state;
    struct vv_torch_value value = boxed(&box, first, 10);
    make_group(first, NULL, 0, 2);
    assert_string_equal(vv_torch_group_of(&value)->name, "");
    assert_int_equal(vv_torch_group_of(&value)->size, 2);
    give_name(first,
              "a name of more than sixty-three bytes, as a program may give to a group of its own");
    assert_string_equal(vv_torch_group_of(&value)->name,
                        "a name of more than sixty-three bytes, as a program may give to");
    assert_int_equal(vv_torch_group_of(&value)->size, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_believed_for_what_it_leads_to),
        cmocka_unit_test(another_group_at_the_same_address_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
