/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names as people call them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/short_name.h"

#define BYTES 300

static const struct { const char *whole, *name, *longer; } known[] = {
    { "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
      "at::detail::Array<char*, 3>)",
      "vectorized_elementwise_kernel<CUDAFunctor_add<float>>",
      "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, Array<char*, 3>>" },
    { "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>(float, float*)",
      "bn_bw_1C11_kernel_new<float>",
      "bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>" },
    { "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const::{lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, int)"
      "::{lambda(int)#1}>(int, int)",
      "elementwise_kernel<gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>",
      "elementwise_kernel<128, 2, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>" },
    { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<"
      "float, float>, unsigned int, float, 4> >(int)",
      "reduce_kernel<ReduceOp<float, MeanOps<float>>>",
      "reduce_kernel<512, 1, ReduceOp<float, MeanOps<float, float>, unsigned int, float, 4>>" },
    { "void at::native::(anonymous namespace)::softmax_warp_forward<float, float, 10>(float*)",
      "softmax_warp_forward<float>", "softmax_warp_forward<float, float, 10>" },
    { "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
      "ncclKernel_AllReduce_RING_LL_Sum_float", "ncclKernel_AllReduce_RING_LL_Sum_float" },
    { "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(int)",
      "kernel<int>", "kernel<int, float>" },
    { "%fusion.3 = bf16[128,1024]{1,0} fusion(%p0, %p1), kind=kOutput", "fusion.3", "fusion.3" },
    { "%all-reduce.2 = (f32[8]{0}, f32[]) all-reduce(%a)", "all-reduce.2", "all-reduce.2" },
};

/* Names of operators, Python functions, copies and HLO instructions, and what is no C++. */
static const char *const others[] = {
    "aten::add", "volta_sgemm_64x64_nt", "Memcpy HtoD (Pageable -> Device)", "fusion.3",
    "model.py(12): forward<x>", "<built-in method astype of numpy.ndarray object>", "",
    "## forward ##", "autograd::engine::evaluate_function: MmBackward0", "a<b", "f(", "f)(", "x(]",
    "%", "%x =", "%x=f",
    "operator<", "(outside operators)", "10 more: --top 0", "enumerate(DataLoader)#_Iter.__next__",
};

static void names_are_short(void **state)
{
    char name[BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(vv_short_name(known[i].whole, VV_NAME_SHORT, name, sizeof name));
        assert_string_equal(name, known[i].name);
        assert_true(vv_short_name(known[i].whole, VV_NAME_LONGER, name, sizeof name));
        assert_string_equal(name, known[i].longer);
    }
}

static void other_names_stay(void **state)
{
    char name[BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (int form = VV_NAME_SHORT; form <= VV_NAME_LONGER; form++)
            if (vv_short_name(others[i], (enum vv_name_form)form, name, sizeof name))
                fail_msg("%s became %s", others[i], name);
}

static void nothing_is_written_beyond_the_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t bytes = 0; bytes <= strlen(known[i].name) + 1; bytes++) {
            char *name = malloc(bytes + 1);
            assert_non_null(name);
            name[bytes] = '#';
            bool is_short = vv_short_name(known[i].whole, VV_NAME_SHORT, name, bytes);
            assert_int_equal(is_short, bytes > strlen(known[i].name));
            assert_int_equal(name[bytes], '#');
            free(name);
        }
}

/* Any bytes, of the kind that names consist of: no name is longer than it was, or empty. */
static void any_bytes_make_a_name_or_none(void **state)
{
    static const char *const pieces[] = { "<", ">", "(", ")", "::", " ", "void ", "a", "float",
                                          ",", "{", "}", "[", "operator()", "4", "*", "&", "'" };
    uint32_t random = 1;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char whole[600] = "", name[BYTES];
        for (int piece = 0; piece < 40; piece++) {
            random = random * 1664525u + 1013904223u;
            strcat(whole, pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        if (vv_short_name(whole, VV_NAME_SHORT, name, sizeof name))
            assert_in_range(strlen(name), 1, strlen(whole) - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_short),
        cmocka_unit_test(other_names_stay),
        cmocka_unit_test(nothing_is_written_beyond_the_room),
        cmocka_unit_test(any_bytes_make_a_name_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
