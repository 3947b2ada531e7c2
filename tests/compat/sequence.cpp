/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.cpp — the graph profiling calls in the order of the documentation, against the headers.
 *
 *     sequence FOLDER ORDER     ORDER: destroy-first or finalize-first
 *
 * "Executes" by reporting what a runtime reports: two launches, with what their operators are.
 * Prints each result and each command that a module got. */
#include <cstdio>
#include <cstring>
#include <string>

#include <acl/acl_prof.h>
#include <ge/ge_prof.h>
#include <profiling/aprof_pub.h>

static int32_t on_command(const char *module, uint32_t type, void *data, uint32_t length)
{
    const MsprofCommandHandle *command = static_cast<MsprofCommandHandle *>(data);
    std::printf("%s control %u length %u type %u devices", module, type, length, command->type);
    for (uint32_t i = 0; i < command->devNums; i++)
        std::printf(" %u", command->devIdList[i]);
    std::printf(" mask 0x%llx\n", static_cast<unsigned long long>(command->profSwitch));
    return 0;
}

static int32_t other(uint32_t type, void *data, uint32_t length)
{
    return on_command("other", type, data, length);
}
static int32_t ge_module(uint32_t type, void *data, uint32_t length)
{
    return on_command("GE", type, data, length);
}
static int32_t acl_module(uint32_t type, void *data, uint32_t length)
{
    return on_command("ASCENDCL", type, data, length);
}
static int32_t runtime_module(uint32_t type, void *data, uint32_t length)
{
    return on_command("RUNTIME", type, data, length);
}

/* AscendCL registers before main. */
static const int32_t registered = MsprofRegisterCallback(MSPROF_MODULE_ASCENDCL, acl_module);

static uint64_t id_of(const std::string &text)
{
    return MsprofGetHashId(text.c_str(), text.size());
}

static void execute(const char *node, const char *type, uint32_t dim)
{
    MsprofApi api = MsprofApi();
    MsprofCompactInfo basic = MsprofCompactInfo();
    MsprofAdditionalInfo tensors = MsprofAdditionalInfo();
    api.level = basic.level = tensors.level = MSPROF_REPORT_NODE_LEVEL;
    api.type = MSPROF_REPORT_NODE_LAUNCH_TYPE;
    api.itemId = id_of(node);
    api.beginTime = MsprofSysCycleTime();
    for (volatile int i = 0; i < 100000; i++) {
    }
    api.endTime = MsprofSysCycleTime();

    basic.type = MSPROF_REPORT_NODE_BASIC_INFO_TYPE;
    basic.dataLen = sizeof(MsprofNodeBasicInfo);
    basic.timeStamp = tensors.timeStamp = api.endTime;
    basic.data.nodeBasicInfo.opName = api.itemId;
    basic.data.nodeBasicInfo.opType = id_of(type);
    basic.data.nodeBasicInfo.blockDim = 2 << 16 | 24;

    MsprofTensorInfo info = MsprofTensorInfo();
    info.opName = api.itemId;
    info.tensorNum = 2;
    info.tensorData[0] = MsrofTensorData{ 0, 0, 1, { dim, 16 } };
    info.tensorData[1] = MsrofTensorData{ 1, 2, 0, { dim } };
    tensors.type = MSPROF_REPORT_NODE_TENSOR_INFO_TYPE;
    tensors.dataLen = 56 + 44;
    std::memcpy(tensors.data, &info, sizeof info);

    int32_t result = MsprofReportApi(1, &api) | MsprofReportCompactInfo(1, &basic, sizeof basic) |
                     MsprofReportAdditionalInfo(1, &tensors, sizeof tensors);
    std::printf("reported %s: %d\n", node, result);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const bool destroys_first = std::strcmp(argv[2], "destroy-first") == 0;
    const char *path = argv[1];
    uint32_t devices[1] = { 3 };
    std::printf("registered %d\n", registered);
    MsprofRegisterCallback(0, other);
    MsprofRegisterCallback(MSPROF_MODULE_GE, ge_module);
    MsprofRegisterCallback(MSPROF_MODULE_RUNTIME, runtime_module);

    std::printf("init %u\n", ge::aclgrphProfInit(path, static_cast<uint32_t>(std::strlen(path))));
    ge::aclgrphProfConfig *config = ge::aclgrphProfCreateConfig(
        devices, 1, ge::kAicorePipeUtilization, nullptr,
        ge::kProfTaskTime | ge::kProfTrainingTrace);
    std::printf("config %d\n", config != nullptr);
    std::printf("start %u\n", ge::aclgrphProfStart(config));
    aclprofStepInfo *step = aclprofCreateStepInfo();
    aclprofGetStepTimestamp(step, ACL_STEP_START, nullptr);
    execute("conv1", "Conv2D", 8);
    execute("fc", "MatMul", 4);
    aclprofGetStepTimestamp(step, ACL_STEP_END, nullptr);
    aclprofDestroyStepInfo(step);
    std::printf("stop %u\n", ge::aclgrphProfStop(config));
    execute("unrecorded", "Relu", 4);
    if (destroys_first)
        std::printf("destroy %u\n", ge::aclgrphProfDestroyConfig(config));
    std::printf("finalize %u\n", ge::aclgrphProfFinalize());
    if (!destroys_first)
        std::printf("destroy %u\n", ge::aclgrphProfDestroyConfig(config));
    return 0;
}
