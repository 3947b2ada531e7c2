/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c — ge::aclgrphProf*: functions of C++ by their symbols, which ge/ge_prof.h says. Callers
 * cannot tell failures apart. */
#include "ge/ge_prof.h"

#include <stdlib.h>

#include "ascend/vendor.h"
#include "msprofiler/configuration.h"

#define EXPORT __attribute__((visibility("default")))

static Status status_of(aclError error)
{
    return error == ACL_SUCCESS ? GE_PROF_SUCCESS : GE_PROF_FAILED;
}

EXPORT Status aclgrphProfInit(const char *profiler_path, uint32_t length)
{
    __typeof__(&aclgrphProfInit) vendor =
        VV_VENDOR(aclgrphProfInit, "_ZN2ge15aclgrphProfInitEPKcj");
    aclError error = vv_prof_init(profiler_path, length);
    if (vendor != NULL)
        return vendor(profiler_path, length);
    return error == ACL_ERROR_FEATURE_UNSUPPORTED ? (Status)error : status_of(error);
}

EXPORT Status aclgrphProfFinalize(void)
{
    __typeof__(&aclgrphProfFinalize) vendor =
        VV_VENDOR(aclgrphProfFinalize, "_ZN2ge19aclgrphProfFinalizeEv");
    aclError error = vv_prof_finalize();
    return vendor != NULL ? vendor() : (Status)error;
}

/* With a vendor's library a configuration has two halves. */
struct aclgrphProfConfig {
    struct vv_configuration *ours;
    aclgrphProfConfig *theirs; /* NULL = there is no vendor                                     */
};

EXPORT aclgrphProfConfig *aclgrphProfCreateConfig(uint32_t *deviceid_list, uint32_t device_nums,
                                                  ProfilingAicoreMetrics aicore_metrics,
                                                  ProfAicoreEvents *aicore_events,
                                                  uint64_t data_type_config)
{
    __typeof__(&aclgrphProfCreateConfig) vendor =
        VV_VENDOR(aclgrphProfCreateConfig,
               "_ZN2ge23aclgrphProfCreateConfigEPjjNS_22ProfilingAicoreMetricsE"
               "PNS_16ProfAicoreEventsEm");
    aclgrphProfConfig *config = calloc(1, sizeof *config);
    if (config == NULL)
        return NULL;
    if (device_nums > 0)
        config->ours = vv_prof_configure(deviceid_list, device_nums, (uint32_t)aicore_metrics,
                                         data_type_config);
    if (vendor != NULL)
        config->theirs = vendor(deviceid_list, device_nums, aicore_metrics, aicore_events,
                                data_type_config);
    if (config->ours != NULL && (vendor == NULL || config->theirs != NULL))
        return config;
    (void)aclgrphProfDestroyConfig(config);
    return NULL;
}

EXPORT Status aclgrphProfDestroyConfig(aclgrphProfConfig *profiler_config)
{
    __typeof__(&aclgrphProfDestroyConfig) vendor = VV_VENDOR(
        aclgrphProfDestroyConfig, "_ZN2ge24aclgrphProfDestroyConfigEPNS_17aclgrphProfConfigE");
    Status status = GE_PROF_SUCCESS;
    if (profiler_config == NULL)
        return GE_PROF_FAILED;
    if (vendor != NULL && profiler_config->theirs != NULL)
        status = vendor(profiler_config->theirs);
    free(profiler_config->ours);
    free(profiler_config);
    return status;
}

EXPORT Status aclgrphProfStart(aclgrphProfConfig *profiler_config)
{
    __typeof__(&aclgrphProfStart) vendor =
        VV_VENDOR(aclgrphProfStart, "_ZN2ge16aclgrphProfStartEPNS_17aclgrphProfConfigE");
    if (profiler_config == NULL)
        return GE_PROF_FAILED;
    aclError error = vv_prof_start(profiler_config->ours);
    return vendor != NULL && profiler_config->theirs != NULL ? vendor(profiler_config->theirs)
                                                             : status_of(error);
}

EXPORT Status aclgrphProfStop(aclgrphProfConfig *profiler_config)
{
    __typeof__(&aclgrphProfStop) vendor =
        VV_VENDOR(aclgrphProfStop, "_ZN2ge15aclgrphProfStopEPNS_17aclgrphProfConfigE");
    if (profiler_config == NULL)
        return GE_PROF_FAILED;
    aclError error = vv_prof_stop(profiler_config->ours);
    return vendor != NULL && profiler_config->theirs != NULL ? vendor(profiler_config->theirs)
                                                             : status_of(error);
}
