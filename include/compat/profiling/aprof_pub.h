/* SPDX-License-Identifier: Apache-2.0 */
/* aprof_pub.h — the interface of libprofapi.so, as runtimes for Ascend devices know it, served by
 * Varve: compile with -I…/varve/compat, link with -lprofapi.
 *
 * Written from the documented binary interface: numbers, layouts, symbols. All layouts are those of
 * x86-64 and AArch64 Linux. doc/ascend.md says what each function does here and where it goes.
 * All functions are thread-safe; none prints, exits, throws or blocks on a device. Texts are UTF-8,
 * and copied unless it says otherwise. */
#ifndef VARVE_COMPAT_APROF_PUB_H
#define VARVE_COMPAT_APROF_PUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define MSPROF_FIRST_VALUE(value) = value
extern "C" {
#else
#define MSPROF_FIRST_VALUE(value) /* C programs set it themselves */
#endif

/* ---- results ---- */

#define MSPROF_ERROR_NONE 0
#define MSPROF_ERROR_MEM_NOT_ENOUGH 1
#define MSPROF_ERROR_GET_ENV 2
#define MSPROF_ERROR_CONFIG_INVALID 3
#define MSPROF_ERROR_ACL_JSON_OFF 4
#define MSPROF_ERROR 5
#define MSPROF_ERROR_UNINITIALIZE 6
#define MSPROF_ERROR_NULL (-1) /* an argument is null                                          */

/* ---- numbers ---- */

/* The first argument of MsprofInit. */
enum MsprofCtrlCallbackType {
    MSPROF_CTRL_INIT_ACL_ENV = 0,
    MSPROF_CTRL_INIT_ACL_JSON = 1,
    MSPROF_CTRL_INIT_GE_OPTIONS = 2,
    MSPROF_CTRL_FINALIZE = 3,
    MSPROF_CTRL_INIT_HELPER = 4,
    MSPROF_CTRL_INIT_PURE_CPU = 5,
    MSPROF_CTRL_INIT_AICPU = 6,
    MSPROF_CTRL_INIT_DYNA = 0xff
};

/* `type` of a ProfCommandHandle, and `type` in a MsprofCommandHandle. */
enum ProfCtrlType {
    PROF_CTRL_INVALID = 0, PROF_CTRL_SWITCH, PROF_CTRL_REPORTER, PROF_CTRL_STEPINFO
};
enum MsprofCommandHandleType {
    PROF_COMMANDHANDLE_TYPE_INIT = 0,
    PROF_COMMANDHANDLE_TYPE_START,
    PROF_COMMANDHANDLE_TYPE_STOP,
    PROF_COMMANDHANDLE_TYPE_FINALIZE,
    PROF_COMMANDHANDLE_TYPE_MODEL_SUBSCRIBE,
    PROF_COMMANDHANDLE_TYPE_MODEL_UNSUBSCRIBE
};

/* Modules of MsprofRegisterCallback. Frameworks use 0. */
#define MSPROF_MODULE_HCCL 3u
#define MSPROF_MODULE_RUNTIME 7u
#define MSPROF_MODULE_AICPU 36u
#define MSPROF_MODULE_GE 45u
#define MSPROF_MODULE_ASCENDCL 48u

#define MSPROF_REPORT_DATA_MAGIC_NUM 0x5A5Au
#define MSPROF_EVENT_FLAG UINT64_MAX
#define MSPROF_HASH_INVALID UINT64_MAX

/* `level` of a record. */
#define MSPROF_REPORT_PYTORCH_LEVEL 30000u
#define MSPROF_REPORT_PTA_LEVEL 25000u
#define MSPROF_REPORT_TX_LEVEL 20500u
#define MSPROF_REPORT_ACL_LEVEL 20000u
#define MSPROF_REPORT_MODEL_LEVEL 15000u
#define MSPROF_REPORT_NODE_LEVEL 10000u
#define MSPROF_REPORT_AICPU_LEVEL 6000u
#define MSPROF_REPORT_HCCL_NODE_LEVEL 5500u
#define MSPROF_REPORT_RUNTIME_LEVEL 5000u
#define MSPROF_REPORT_PROF_LEVEL 4500u
#define MSPROF_REPORT_DPU_LEVEL 4000u
#define MSPROF_REPORT_AIC_LEVEL 3000u

/* `type` of a record of level NODE; of level MODEL. */
#define MSPROF_REPORT_NODE_BASIC_INFO_TYPE 0u
#define MSPROF_REPORT_NODE_TENSOR_INFO_TYPE 1u
#define MSPROF_REPORT_NODE_FUSION_OP_INFO_TYPE 2u
#define MSPROF_REPORT_NODE_CONTEXT_ID_INFO_TYPE 4u
#define MSPROF_REPORT_NODE_LAUNCH_TYPE 5u
#define MSPROF_REPORT_NODE_TASK_MEMORY_TYPE 6u
#define MSPROF_REPORT_NODE_HOST_OP_EXEC_TYPE 8u
#define MSPROF_REPORT_NODE_ATTR_INFO_TYPE 9u
#define MSPROF_REPORT_NODE_HCCL_OP_INFO_TYPE 10u
#define MSPROF_REPORT_NODE_STATIC_OP_MEM_TYPE 11u
#define MSPROF_REPORT_MODEL_GRAPH_ID_MAP_TYPE 0u
#define MSPROF_REPORT_MODEL_EXECUTE_TYPE 1u
#define MSPROF_REPORT_MODEL_LOAD_TYPE 2u
#define MSPROF_REPORT_MODEL_LOGIC_STREAM_TYPE 7u
#define MSPROF_REPORT_MODEL_EXEOM_TYPE 8u

/* ---- records ---- */

#define MSPROF_COMPACT_INFO_DATA_LENGTH 40
#define MSPROF_ADDTIONAL_INFO_DATA_LENGTH 232
#define MSPROF_GE_TENSOR_DATA_NUM 5
#define MSPROF_GE_TENSOR_DATA_SHAPE_LEN 8
#define MSPROF_CTX_ID_MAX_NUM 55
#define MSPROF_GE_FUSION_OP_NUM 8

/* A range of the host. Times are what MsprofSysCycleTime returned. */
struct MsprofApi {
    uint16_t magicNumber MSPROF_FIRST_VALUE(MSPROF_REPORT_DATA_MAGIC_NUM);
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t reserve;
    uint64_t beginTime;
    uint64_t endTime;
    uint64_t itemId; /* of MsprofGetHashId; 0 = none                                           */
};

/* The begin, and in another record the end, of what has this itemId and requestId. */
struct MsprofEvent {
    uint16_t magicNumber MSPROF_FIRST_VALUE(MSPROF_REPORT_DATA_MAGIC_NUM);
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t requestId; /* 0xFFFF = an instant                                                 */
    uint64_t timeStamp;
    uint64_t eventFlag MSPROF_FIRST_VALUE(MSPROF_EVENT_FLAG);
    uint64_t itemId;
};

#pragma pack(push, 1)
struct MsprofNodeBasicInfo {
    uint64_t opName;
    uint32_t taskType;
    uint64_t opType;
    uint32_t blockDim; /* low half: blocks; high half: ratio of a mixed kernel                 */
    uint32_t opFlag;   /* 1 = HF32                                                             */
};
struct MsprofAttrInfo {
    uint64_t opName;
    uint32_t attrType;
    uint64_t hashId;
};
struct MsprofHCCLOPInfo {
    uint8_t relay : 1;
    uint8_t retry : 1;
    uint8_t dataType;
    uint64_t algType;
    uint64_t count;
    uint64_t groupName;
};
struct MsrofTensorData {
    uint32_t tensorType; /* 0 input, 1 output                                                  */
    uint32_t format;
    uint32_t dataType;
    uint32_t shape[MSPROF_GE_TENSOR_DATA_SHAPE_LEN]; /* a 0 ends it                            */
};
struct MsprofTensorInfo {
    uint64_t opName;
    uint32_t tensorNum;
    struct MsrofTensorData tensorData[MSPROF_GE_TENSOR_DATA_NUM];
};
struct MsprofContextIdInfo {
    uint64_t opName;
    uint32_t ctxIdNum;
    uint32_t ctxIds[MSPROF_CTX_ID_MAX_NUM];
};
struct MsprofGraphIdInfo {
    uint64_t modelName;
    uint32_t graphId;
    uint32_t modelId;
};
struct MsprofFusionOpInfo {
    uint64_t opName;
    uint32_t fusionOpNum;
    uint64_t inputMemsize, outputMemsize, weightMemSize, workspaceMemSize, totalMemSize;
    uint64_t fusionOpId[MSPROF_GE_FUSION_OP_NUM];
};
struct MsprofMemoryInfo {
    uint64_t addr;
    int64_t size; /* below 0: a release                                                        */
    uint64_t nodeId;
    uint64_t totalAllocateMemory, totalReserveMemory;
    uint32_t deviceId, deviceType;
};
struct MsprofStaticOpMem {
    int64_t size;
    uint64_t opName;
    uint64_t lifeStart, lifeEnd; /* numbers of operators                                       */
    uint64_t totalAllocateMemory;
    uint64_t dynOpName; /* 0 = none                                                            */
    uint32_t graphId;
};
#pragma pack(pop)

struct MsprofRuntimeTrack {
    uint16_t deviceId;
    uint16_t streamId;
    uint32_t taskId;
    uint64_t taskType;
    uint64_t kernelName;
    uint8_t ext[16]; /* older runtimes do not fill it                                          */
};

struct MsprofCompactInfo {
    uint16_t magicNumber MSPROF_FIRST_VALUE(MSPROF_REPORT_DATA_MAGIC_NUM);
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    union {
        uint8_t info[MSPROF_COMPACT_INFO_DATA_LENGTH];
        struct MsprofRuntimeTrack runtimeTrack;
        struct MsprofNodeBasicInfo nodeBasicInfo;
        struct MsprofHCCLOPInfo hcclopInfo;
        struct MsprofAttrInfo nodeAttrInfo;
    } data;
};

struct MsprofAdditionalInfo {
    uint16_t magicNumber MSPROF_FIRST_VALUE(MSPROF_REPORT_DATA_MAGIC_NUM);
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    uint8_t data[MSPROF_ADDTIONAL_INFO_DATA_LENGTH];
};

/* ---- switching ---- */

#define MSPROF_OPTIONS_DEF_LEN_MAX 2048
#define MSPROF_MAX_DEV_NUM 64
#define PATH_LEN_MAX 1023
#define PARAM_LEN_MAX 4095

struct MsprofGeOptions { /* for MSPROF_CTRL_INIT_GE_OPTIONS                                     */
    char jobId[MSPROF_OPTIONS_DEF_LEN_MAX];
    char options[MSPROF_OPTIONS_DEF_LEN_MAX]; /* JSON                                          */
};

struct MsprofCommandHandleParams {
    uint32_t pathLen;
    uint32_t storageLimit; /* MB                                                               */
    uint32_t profDataLen;
    char path[PATH_LEN_MAX + 1];
    char profData[PARAM_LEN_MAX + 1];
};

struct MsprofCommandHandle { /* what callbacks get                                              */
    uint64_t profSwitch;
    uint64_t profSwitchHi;
    uint32_t devNums;
    uint32_t devIdList[MSPROF_MAX_DEV_NUM];
    uint32_t modelId;
    uint32_t type; /* enum MsprofCommandHandleType                                             */
    uint32_t cacheFlag;
    struct MsprofCommandHandleParams params;
};

struct MsprofConfig { /* for MsprofStart, MsprofStop                                            */
    uint64_t profSwitch;
    uint64_t profSwitchHi;
    uint32_t devNums;
    uint32_t devIdList[MSPROF_MAX_DEV_NUM + 1];
    uint32_t modelId;
    uint32_t type;
    uint32_t cacheFlag;
    uint32_t storageLimit;
    uint32_t metrics;
    uint64_t fd;
    char dumpPath[PATH_LEN_MAX + 1];
    char sampleConfig[PARAM_LEN_MAX + 1];
};

struct ProfStepInfoCmd { /* what callbacks get for PROF_CTRL_STEPINFO                            */
    uint64_t index_id;
    uint16_t tag_id;
    void *stream;
};

typedef int32_t (*ProfCommandHandle)(uint32_t type, void *data, uint32_t len);

int32_t MsprofInit(uint32_t dataType, void *data, uint32_t dataLen);
int32_t MsprofFinalize(void);
int32_t MsprofStart(uint32_t dataType, const void *data, uint32_t length);
int32_t MsprofStop(uint32_t dataType, const void *data, uint32_t length);
int32_t MsprofSetConfig(uint32_t configType, const char *config, size_t configLength);
/* May be called at any time, also before main. Who comes late is told what holds, on its thread. */
int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);
int32_t profSetProfCommand(void *command, uint32_t len);
int32_t profSetStepInfo(uint64_t indexId, uint16_t tagId, void *stream);
int32_t MsprofNotifySetDevice(uint32_t chipId, uint32_t deviceId, bool isOpen);
int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t geModelIdx, uint32_t deviceId);
int32_t MsprofUnsetDeviceIdByGeModelIdx(uint32_t geModelIdx, uint32_t deviceId);
/* Not null once recording has begun; static storage. */
const char *MsprofGetPath(void);
bool MsprofCheckOpSwitch(uint32_t type, const char *opInfo, size_t len);

/* ---- reporting: nonPersistent is accepted; nothing that is recorded is aged out ---- */

int32_t MsprofReportApi(uint32_t nonPersistentFlag, const struct MsprofApi *api);
int32_t MsprofReportEvent(uint32_t nonPersistentFlag, const struct MsprofEvent *event);
int32_t MsprofReportCompactInfo(uint32_t nonPersistentFlag, const void *data, uint32_t length);
int32_t MsprofReportAdditionalInfo(uint32_t nonPersistentFlag, const void *data, uint32_t length);
int32_t MsprofReportBatchAdditionalInfo(uint32_t nonPersistentFlag, const void *data,
                                        uint32_t length);
size_t MsprofGetBatchReportMaxSize(uint32_t type);
int32_t MsprofReportData(uint32_t moduleId, uint32_t type, void *data, uint32_t len);
int32_t MsprofRegisterProfileCallback(int32_t callbackType, void *callback, uint32_t len);
int32_t MsprofSubscribeRawData(int32_t (*callback)(const void *data, uint32_t len));

/* ---- names and the clock ---- */

int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char *typeName);
int32_t MsprofRegDataFormat(uint16_t level, uint32_t typeId, const char *dataFormat);
uint64_t MsprofGetHashId(const char *hashInfo, size_t length);
uint64_t MsprofStr2Id(const char *hashInfo, size_t length);
/* Lives as long as the process; "" for an id that nobody made. */
char *MsprofId2Str(uint64_t hashId);
uint64_t MsprofSysCycleTime(void);
bool MsprofHostFreqIsEnable(void);

#ifdef __cplusplus
}
#endif
#endif
