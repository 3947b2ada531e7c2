/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "devices" and "overlap": every instant of a device once; what kind of work a name is;
 * HTA's rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "meaning/device_class.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* Stream 7: a [0,10), b [20,40), Memset [40,45); stream 9: NCCL [30,60), Memcpy [50,70); a gap; c
 * [10000,10010).
 * b, the copy and c were launched, b in step 1.
 * `devices` 2: another one computes all the time. */
static struct vv_model *busy(int devices)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100);
    uint32_t first = handmade_stream(model, 0, 7), second = handmade_stream(model, 0, 9);
    handmade_step(model, host, 1, 0, 16);
    handmade_call(model, host, "cudaLaunchKernel", 2, 12, 15);
    handmade_call(model, host, "cudaMemcpyAsync", 4, 16, 17);
    handmade_call(model, host, "cudaLaunchKernel", 5, 18, 19);
    handmade_work(model, first, "a", 0, 0, 10);
    handmade_work(model, first, "b", 2, 20, 40);
    handmade_work(model, first, "Memset (Device)", 0, 40, 45);
    handmade_work(model, second, "ncclDevKernel_AllReduce", 0, 30, 60);
    handmade_work(model, second, "Memcpy HtoD", 4, 50, 70);
    handmade_work(model, first, "c", 5, 10000, 10010);
    if (devices > 1)
        handmade_work(model, handmade_stream(model, 1, 7), "d", 0, 0, 100);
    handmade_finish(model);
    return model;
}

static void every_instant_of_a_device_counts_once(void **state)
{
    (void)state;
    static const struct { const char *column; int64_t value; } wanted[] = {
        { "computation_ns", 45 }, { "exposed_communication_ns", 15 }, { "exposed_memcpy_ns", 10 },
        { "idle_ns", 9940 },      { "span_ns", 10010 },               { "busy_ns", 70 },
        { "micro_idle_ns", 10 },  { "macro_idle_ns", 9930 },          { "communication_ns", 30 },
        { "memcpy_ns", 20 },      { "memset_ns", 5 },                 { "linked_busy_ns", 50 },
        { "events", 6 },          { "unlinked", 3 },
    };
    struct vv_model *model = busy(1);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_devices, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 1);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (sheet_int_of(&sheet, 0, wanted[i].column) != wanted[i].value)
            fail_msg("%s is %lld", wanted[i].column,
                     (long long)sheet_int_of(&sheet, 0, wanted[i].column));
    assert_string_equal(sheet_cell_of(&sheet, 0, "device")->text, "cuda:0");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void work_of_a_step_is_what_it_launched_or_what_begins_in_it(void **state)
{
    (void)state;
    struct vv_model *model = busy(1);
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    question.selection.first_step = question.selection.last_step = 1;
    assert_int_equal(vv_analyse(vv_analyse_devices, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "events"), 2); /* a and b                          */
    assert_int_equal(sheet_int_of(&sheet, 0, "span_ns"), 40);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void communication_is_hidden_while_its_device_computes(void **state)
{
    (void)state;
    struct vv_model *model = busy(2);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_overlap, model, &all, &sheet, NULL), VARVE_OK);
    size_t kind = sheet_row_of(&sheet, "name", "ncclDevKernel_AllReduce");
    assert_int_equal(sheet_int_of(&sheet, kind, "communication_ns"), 30);
    assert_int_equal(sheet_int_of(&sheet, kind, "hidden_ns"), 15);
    assert_int_equal(sheet_int_of(&sheet, kind, "exposed_ns"), 15);
    assert_true(sheet_cell_of(&sheet, kind, "overlap_share")->real == 0.5);
    /* A device without communication has no share of it that is hidden. */
    size_t last = sheet.row_count - 2;
    assert_string_equal(sheet_cell_of(&sheet, last, "device")->text, "cuda:1");
    assert_false(sheet_cell_of(&sheet, last, "overlap_share")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* On the first device 30 of communication, of which it hides 10; on the second 40, of which it
 * hides none. */
static void the_totals_of_overlap_are_those_of_all_devices(void **state)
{
    (void)state;
    static const struct { const char *column; int64_t value; } wanted[] = {
        { "calls", 2 }, { "communication_ns", 70 }, { "hidden_ns", 10 }, { "exposed_ns", 60 },
        { "sum_ns", 70 },
    };
    struct vv_model *model = handmade_model();
    uint32_t first = handmade_stream(model, 0, 7), second = handmade_stream(model, 0, 9),
             other = handmade_stream(model, 1, 7);
    struct vv_sheet sheet;
    handmade_work(model, first, "a", 0, 0, 40);
    handmade_work(model, second, "ncclDevKernel_AllReduce", 0, 30, 60);
    handmade_work(model, other, "ncclDevKernel_AllReduce", 0, 100, 140);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_overlap, model, &all, &sheet, NULL), VARVE_OK);
    size_t total = sheet_row_of(&sheet, "row", "total");
    assert_int_equal(sheet.kinds[total], VV_ROW_TOTAL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (sheet_int_of(&sheet, total, wanted[i].column) != wanted[i].value)
            fail_msg("%s is %lld", wanted[i].column,
                     (long long)sheet_int_of(&sheet, total, wanted[i].column));
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void names_tell_what_kind_of_work_it_is(void **state)
{
    (void)state;
    static const struct { const char *name; enum vv_device_class class; } cases[] = {
        { "void at::native::vectorized_elementwise_kernel<4>", VV_CLASS_COMPUTE },
        { "ncclKernel_AllReduce_RING_LL_Sum_float", VV_CLASS_COMM },
        { "hcom_allReduce__123_0_1", VV_CLASS_COMM },
        { "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>", VV_CLASS_COMM },
        { "void vllm::cross_device_reduce_1stage<float, 2>", VV_CLASS_COMM },
        { "void dpsk::ep::internode::dispatch<false, 4, false>", VV_CLASS_COMM },
        { "void dpsk::ep::internode::combine<4, __nv_bfloat16>", VV_CLASS_COMM },
        { "void dpsk::ep::internode::notify_dispatch<false, 4>", VV_CLASS_COMM },
        { "void dpsk::ep::internode::cached_notify<false>", VV_CLASS_COMM },
        { "void dpsk::ep::intranode::combine<8>", VV_CLASS_COMM },
        { "void dpsk::ep::internode_ll::dispatch<true, 3>", VV_CLASS_COMM },
        { "void deep_ep::layout::get_dispatch_layout<256>", VV_CLASS_COMM },
        { "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<2>",
          VV_CLASS_COMM },
        { "moefinalize_allreduce_fusion_kernel_oneshot_lamport", VV_CLASS_COMM },
        { "void aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16>", VV_CLASS_COMM },
        { "void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8, true>", VV_CLASS_COMM },
        { "lamport_style_one_shot_all_reduce_norm_kernel", VV_CLASS_COMM },
        { "void quickreduce::allreduce_prototype_twoshot<half>", VV_CLASS_COMM },
        { "nvshmemi_proxy_quiet_kernel", VV_CLASS_COMM },
        { "void mscclpp::allreduceAllPairs<float>", VV_CLASS_COMM },
        { "mori::moe::EpDispatchInterNodeV1Kernel<hip_bfloat16>", VV_CLASS_COMM },
        { "triton_poi_fused_add_all_reduce_0", VV_CLASS_COMPUTE },
        { "aclnnMatmulAllReduce_MatmulAllReduce", VV_CLASS_COMPUTE },
        { "void oneflow::softmax::BlockAllReduceKernel<float>", VV_CLASS_COMPUTE },
        { "all-reduce-start.5", VV_CLASS_COMM },
        { "cunn_SoftMaxWarpForward_WarpAllReduce", VV_CLASS_COMPUTE },
        { "copy-done.12", VV_CLASS_COPY },
        { "MEMORY_COPY_HOST_TO_DEVICE", VV_CLASS_COPY },
        { "__amd_rocclr_copyBuffer.kd", VV_CLASS_COPY },
        { "MEMCPY_ASYNC", VV_CLASS_COPY },
        { "dma_request", VV_CLASS_COPY },
        { "CatArrayBatchedCopy_aligned16_contig", VV_CLASS_COMPUTE },
        { "__amd_rocclr_fillBufferAligned", VV_CLASS_SET },
        { "aclnnMm_MatMulCommon_MemSet", VV_CLASS_SET },
        { "event_wait", VV_CLASS_NONE },
        { "Notify_Wait", VV_CLASS_NONE },
    };
    struct vv_model *model = handmade_model();
    uint32_t stream = handmade_stream(model, 0, 7), count = sizeof cases / sizeof *cases;
    uint8_t by_name[200] = { 0 };
    for (uint32_t i = 0; i < count; i++)
        handmade_work(model, stream, cases[i].name, 0, 10 * i, 10 * i + 5);
    handmade_finish(model);
    assert_true(model->strings.count < sizeof by_name);
    for (uint32_t i = 0; i < count; i++)
        if (vv_device_class_of(model, i, by_name) != cases[i].class)
            fail_msg("%s is of class %d", cases[i].name, vv_device_class_of(model, i, by_name));
    vv_model_destroy(model);
}

/* Two steps by name; a kernel launched in the first, one in the last; times that are no whole
 * microseconds, of which a double that counts from 1970 keeps quarters. */
static void htas_rules_are_there_for_who_asks(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    handmade_phase(model, host, "ProfilerStep#1", 0, 50000);
    handmade_call(model, host, "cudaLaunchKernel", 1, 1000, 2000);
    handmade_phase(model, host, "ProfilerStep#2", 50000, 90000);
    handmade_call(model, host, "cudaLaunchKernel", 2, 51000, 52000);
    handmade_work(model, stream, "first", 1, 10500, 20600);
    handmade_work(model, stream, "BatchNormSync", 1, 30000, 40000);
    handmade_work(model, stream, "last", 2, 60000, 70000);
    /* of the user, and no work */
    uint32_t range = handmade_work(model, stream, "annotation", 0, 5000, 45000);
    model->activities.kind[range] = VV_ACTIVITY_ANNOTATION;
    handmade_finish(model);
    question.compat = "hta";
    assert_int_equal(vv_analyse(vv_analyse_devices, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "events"), 2);
    assert_int_equal(sheet_int_of(&sheet, 0, "computation_ns"), 9000);
    assert_int_equal(sheet_int_of(&sheet, 0, "span_ns"), 29000);
    assert_non_null(strstr(sheet.policy, "by the rules of HTA"));
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void no_device_is_an_answer(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    handmade_op(model, handmade_track(model, "train", 100), "conv", 10, 40);
    handmade_finish(model);
    for (int i = 0; i < 2; i++, question.compat = "hta") {
        assert_int_equal(vv_analyse(vv_analyse_devices, model, &question, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 0);
        assert_string_equal(sheet.policy, "no device work in this trace");
        vv_sheet_deinit(&sheet);
        assert_int_equal(vv_analyse(vv_analyse_overlap, model, &question, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 0);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instant_of_a_device_counts_once),
        cmocka_unit_test(work_of_a_step_is_what_it_launched_or_what_begins_in_it),
        cmocka_unit_test(communication_is_hidden_while_its_device_computes),
        cmocka_unit_test(the_totals_of_overlap_are_those_of_all_devices),
        cmocka_unit_test(names_tell_what_kind_of_work_it_is),
        cmocka_unit_test(htas_rules_are_there_for_who_asks),
        cmocka_unit_test(no_device_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
