/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c — the program's own stamps, ranges, steps and operators by aclprof*, and bad arguments.
 * Prints what each call returned. */
#include <stdio.h>
#include <string.h>

#include <acl/acl_prof.h>
#include <ge/ge_prof.h>

static void say(const char *before, long result)
{
    printf("%s%ld", before, result);
}

static void wrong(void)
{
    uint32_t twice[] = { 1, 1 }, one[] = { 0 };
    aclprofConfig *none;
    uint32_t range;
    say("init ", aclprofInit(NULL, 3));
    say(" ", aclprofInit("x", 0));
    say(" ", aclprofInit("x", 2));
    say(" ", aclprofInit("a\nb", 3));
    say("\nconfig ", aclprofCreateConfig(twice, 2, ACL_AICORE_NONE, NULL, 2) != NULL);
    say(" ", aclprofCreateConfig(one, 0, ACL_AICORE_NONE, NULL, 2) != NULL);
    say(" ", aclprofCreateConfig(NULL, 1, ACL_AICORE_NONE, NULL, 2) != NULL);
    say(" ", aclprofCreateConfig(one, 1, ACL_AICORE_NONE, NULL, 1ull << 34 | 2) != NULL);
    say(" ", aclgrphProfCreateConfig(one, 65, kAicoreMemory, NULL, 2) != NULL);
    none = aclprofCreateConfig(one, 1, ACL_AICORE_NONE, NULL, 0);
    say("\nstart ", aclprofStart(NULL));
    say(" ", aclprofStart(none));
    aclprofDestroyConfig(none);
    none = aclprofCreateConfig(one, 1, ACL_AICORE_NONE, NULL, 1ull << 40);
    say(" ", aclprofStart(none));
    say(" ", aclprofStop(none));
    say("\ngraph ", (long)aclgrphProfStart(NULL));
    say(" ", (long)aclgrphProfDestroyConfig(NULL));
    say(" ", (long)aclgrphProfFinalize());
    aclprofDestroyConfig(none);
    say("\nset ", aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu", 3));
    say(" ", aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu", 2));
    say(" ", aclprofSetConfig((aclprofConfigType)2, "cpu", 3));
    say("\nstamps ", aclprofPush(NULL));
    say(" ", aclprofMark(NULL));
    say(" ", aclprofRangeStart(NULL, &range));
    say(" ", aclprofRangeStop(77));
    say(" ", aclprofMarkEx(NULL, 3, NULL));
    say(" ", aclprofRangePushEx(NULL));
    say(" ", aclprofModelSubscribe(1, NULL));
    say(" ", aclprofModelUnSubscribe(1));
    puts("");
}

static void operators(void)
{
    aclprofTensor tensors[] = { { 0, 2, 1, 2, { 8, 4 } }, { 1, 2, 0, 1, { 8 } } };
    aclprofTensorInfo info = { aclprofStr2Id("fc1"), aclprofStr2Id("MatMul"), 0, 2, 0, 24, NULL,
                               tensors };
    aclprofEventAttributes attributes = { 1, sizeof attributes, 0, { &info } };
    say("push ex ", aclprofRangePushEx(&attributes));
    say(" pop ", aclprofRangePop());
    attributes.version = 9;
    say(" wrong version ", aclprofRangePushEx(&attributes));
    puts("");
}

static void stamps(void)
{
    uint32_t range;
    void *stamp = aclprofCreateStamp();
    say("message ", aclprofSetStampTraceMessage(stamp, "load", 4));
    say(" push ", aclprofPush(stamp));
    say(" mark ", aclprofMark(stamp));
    say(" pop ", aclprofPop());
    say(" start ", aclprofRangeStart(stamp, &range));
    say(" stop ", aclprofRangeStop(range));
    say(" again ", aclprofRangeStop(range));
    say(" mark ex ", aclprofMarkEx("here", 4, NULL));
    puts("");
    aclprofDestroyStamp(stamp);
}

static void steps(void)
{
    aclprofStepInfo *step = aclprofCreateStepInfo();
    say("step ", aclprofGetStepTimestamp(step, ACL_STEP_START, NULL));
    say(" twice ", aclprofGetStepTimestamp(step, ACL_STEP_START, NULL));
    stamps();
    operators();
    say("end ", aclprofGetStepTimestamp(step, ACL_STEP_END, NULL));
    say(" null ", aclprofGetStepTimestamp(NULL, ACL_STEP_END, NULL));
    puts("");
    aclprofDestroyStepInfo(step);
}

int main(int argc, char **argv)
{
    uint32_t devices[] = { 0 };
    if (argc > 1 && strcmp(argv[1], "wrong") == 0) {
        wrong();
        return 0;
    }
    say("init ", aclprofInit("marks.varve", 11));
    say(" again ", aclprofInit("marks.varve", 11));
    aclprofConfig *config = aclprofCreateConfig(devices, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                                ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX |
                                                    ACL_PROF_TRAINING_TRACE);
    aclprofConfig *other = aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, NULL, 0x20);
    say(" start ", aclprofStart(config));
    say(" the same ", aclprofStart(config));
    say(" another ", aclprofStart(other));
    say(" stop another ", aclprofStop(other));
    puts("");
    steps();
    say("stop ", aclprofStop(config));
    say(" finalize ", aclprofFinalize());
    say(" destroy ", aclprofDestroyConfig(config));
    say(" ", aclprofDestroyConfig(other));
    puts("");
    return 0;
}
