/* SPDX-License-Identifier: Apache-2.0 */
/* ge_prof.h — profiling of graphs, as programs for Ascend devices know it, served by Varve: compile
 * with -I…/varve/compat, link with -lmsprofiler.
 *
 * Written from the documented binary interface. The functions are of C++, in namespace ge; C
 * programs call them by the same names. doc/ascend.md says what each does here. */
#ifndef VARVE_COMPAT_GE_PROF_H
#define VARVE_COMPAT_GE_PROF_H

#include <stdint.h>

struct aclprofSubscribeConfig;

#ifdef __cplusplus
#define GE_PROF_SYMBOL(mangled)
#define GE_PROF_NONE
namespace ge {
#else
#define GE_PROF_SYMBOL(mangled) __asm__(mangled)
#define GE_PROF_NONE void
#endif

typedef uint32_t Status;

/* Bits of data_type_config. */
enum ProfDataTypeConfig {
    kProfTaskTime = 0x2,
    kProfAiCoreMetrics = 0x4,
    kProfAicpu = 0x8,
    kProfL2cache = 0x10,
    kProfHccl = 0x20,
    kProfTrainingTrace = 0x40,
    kProfFwkScheduleL0 = 0x200,
    kProfTaskTimeL0 = 0x800,
    kProfTaskTimeL2 = 0x2000,
    kProfFwkScheduleL1 = 0x1000000
};

enum ProfilingAicoreMetrics {
    kAicoreArithmeticUtilization = 0,
    kAicorePipeUtilization = 1,
    kAicoreMemory = 2,
    kAicoreMemoryL0 = 3,
    kAicoreResourceConflictRatio = 4,
    kAicoreMemoryUB = 5,
    kAicoreL2Cache = 6,
    kAicorePipelineExecuteUtilization = 7
};

#ifdef __cplusplus
static const uint32_t GE_PROF_SUCCESS = 0U;
static const uint32_t GE_PROF_FAILED = 405091711U;
typedef struct aclgrphProfConfig aclgrphProfConfig;
typedef struct ProfAicoreEvents ProfAicoreEvents;
#else
#define GE_PROF_SUCCESS 0u
#define GE_PROF_FAILED 405091711u
typedef enum ProfilingAicoreMetrics ProfilingAicoreMetrics;
typedef struct aclgrphProfConfig aclgrphProfConfig;
typedef struct ProfAicoreEvents ProfAicoreEvents;
#endif

/* `length` is strlen(profiler_path). Results are GE_PROF_SUCCESS, GE_PROF_FAILED, and 200006 where
 * PROFILING_MODE forbids the call. */
Status aclgrphProfInit(const char *profiler_path, uint32_t length)
    GE_PROF_SYMBOL("_ZN2ge15aclgrphProfInitEPKcj");
Status aclgrphProfFinalize(GE_PROF_NONE) GE_PROF_SYMBOL("_ZN2ge19aclgrphProfFinalizeEv");
/* NULL: the devices are not 1 to 64 different ones, or there is no memory. The caller destroys the
 * configuration, before or after aclgrphProfFinalize. `aicore_events` is NULL. */
aclgrphProfConfig *aclgrphProfCreateConfig(uint32_t *deviceid_list, uint32_t device_nums,
                                           ProfilingAicoreMetrics aicore_metrics,
                                           ProfAicoreEvents *aicore_events,
                                           uint64_t data_type_config)
    GE_PROF_SYMBOL("_ZN2ge23aclgrphProfCreateConfigEPjjNS_22ProfilingAicoreMetricsE"
                   "PNS_16ProfAicoreEventsEm");
Status aclgrphProfDestroyConfig(aclgrphProfConfig *profiler_config)
    GE_PROF_SYMBOL("_ZN2ge24aclgrphProfDestroyConfigEPNS_17aclgrphProfConfigE");
Status aclgrphProfStart(aclgrphProfConfig *profiler_config)
    GE_PROF_SYMBOL("_ZN2ge16aclgrphProfStartEPNS_17aclgrphProfConfigE");
Status aclgrphProfStop(aclgrphProfConfig *profiler_config)
    GE_PROF_SYMBOL("_ZN2ge15aclgrphProfStopEPNS_17aclgrphProfConfigE");

#ifdef __cplusplus
}
#endif
#endif
