/* SPDX-License-Identifier: Apache-2.0 */
/* control.c — aclprofInit to aclprofFinalize, and what Varve does not serve. */
#include <stdlib.h>
#include <string.h>

#include "ascend/mask.h"
#include "ascend/vendor.h"
#include "msprofiler/configuration.h"

#define EXPORT __attribute__((visibility("default")))
#define CONFIG_BYTES_MAX 256u
#define API_STATISTICS (UINT64_C(1) << 34)

EXPORT aclError aclprofInit(const char *profilerResultPath, size_t length)
{
    return VV_PASS_ON(vv_prof_init(profilerResultPath, length), aclprofInit, profilerResultPath,
                      length);
}

EXPORT aclError aclprofFinalize(void)
{
    return VV_PASS_ON(vv_prof_finalize(), aclprofFinalize);
}

/* ---- configurations ---- */

/* With a vendor's library a configuration has two halves. */
struct aclprofConfig {
    struct vv_configuration *ours;
    aclprofConfig *theirs; /* NULL = there is no vendor                                         */
};

static struct vv_configuration *configure(const uint32_t *devices, uint32_t count,
                                          uint32_t metrics, const aclprofAicoreEvents *events,
                                          uint64_t program_mask)
{
    uint64_t mask = vv_mask_from_program(program_mask);
    if (events != NULL || (count == 0 && (mask & VV_MASK_MSPROFTX) == 0))
        return NULL;
    if ((mask & API_STATISTICS) != 0 && (mask & ~(API_STATISTICS | UINT64_C(1))) != 0)
        return NULL;
    struct vv_configuration *made = vv_prof_configure(devices, count, metrics, program_mask);
    if (made != NULL && (made->wish.mask & VV_MASK_TASK_TIME_L0) != 0)
        made->wish.mask |= VV_MASK_TRAINING_TRACE;
    return made;
}

EXPORT aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                          aclprofAicoreMetrics aicoreMetrics,
                                          const aclprofAicoreEvents *aicoreEvents,
                                          uint64_t dataTypeConfig)
{
    __typeof__(&aclprofCreateConfig) vendor =
        VV_VENDOR(aclprofCreateConfig, "aclprofCreateConfig");
    aclprofConfig *config = calloc(1, sizeof *config);
    if (config == NULL)
        return NULL;
    config->ours = configure(deviceIdList, deviceNums, (uint32_t)aicoreMetrics, aicoreEvents,
                             dataTypeConfig);
    if (vendor != NULL)
        config->theirs =
            vendor(deviceIdList, deviceNums, aicoreMetrics, aicoreEvents, dataTypeConfig);
    if (config->ours != NULL && (vendor == NULL || config->theirs != NULL))
        return config;
    (void)aclprofDestroyConfig(config);
    return NULL;
}

/* Calls the vendor's function with its half of the configuration. */
#define PASS_ON_HALF(ours, function, config)                                                       \
    __extension__({                                                                                \
        __typeof__(&function) vendor = VV_VENDOR(function, #function);                             \
        aclError result = (ours);                                                                  \
        if (vendor != NULL && (config)->theirs != NULL)                                            \
            result = vendor((config)->theirs);                                                     \
        result;                                                                                    \
    })

EXPORT aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig)
{
    if (profilerConfig == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError error = PASS_ON_HALF(ACL_SUCCESS, aclprofDestroyConfig, profilerConfig);
    free(profilerConfig->ours);
    free((void *)(uintptr_t)profilerConfig);
    return error;
}

EXPORT aclError aclprofStart(const aclprofConfig *profilerConfig)
{
    if (profilerConfig == NULL)
        return ACL_ERROR_INVALID_PARAM;
    return PASS_ON_HALF(vv_prof_start(profilerConfig->ours), aclprofStart, profilerConfig);
}

EXPORT aclError aclprofStop(const aclprofConfig *profilerConfig)
{
    if (profilerConfig == NULL)
        return VV_PASS_ON(vv_prof_stop(NULL), aclprofStop, profilerConfig);
    return PASS_ON_HALF(vv_prof_stop(profilerConfig->ours), aclprofStop, profilerConfig);
}

/* Recording needs no time to get ready. */
EXPORT aclError aclprofWarmup(const aclprofConfig *profilerConfig)
{
    if (profilerConfig == NULL)
        return ACL_ERROR_INVALID_PARAM;
    return PASS_ON_HALF(ACL_SUCCESS, aclprofWarmup, profilerConfig);
}

/* These say how a device's hardware is sampled, which Varve does not; the path is aclprofInit's. */
static aclError set_config(int type, const char *config, size_t length)
{
    if (type <= ACL_PROF_ARGS_MIN || type == 2 || type >= ACL_PROF_ARGS_MAX || config == NULL ||
        length == 0 || length > CONFIG_BYTES_MAX || strnlen(config, length + 1) != length)
        return ACL_ERROR_INVALID_PARAM;
    return ACL_SUCCESS;
}

EXPORT aclError aclprofSetConfig(aclprofConfigType configType, const char *config,
                                 size_t configLength)
{
    return VV_PASS_ON(set_config((int)configType, config, configLength), aclprofSetConfig,
                      configType, config, configLength);
}

/* ---- not served ---- */

static aclError no_features(size_t *size, void **data)
{
    if (size == NULL || data == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *size = 0;
    *data = NULL;
    return ACL_ERROR_FEATURE_UNSUPPORTED;
}

EXPORT aclError aclprofGetSupportedFeatures(size_t *featuresSize, void **featuresData)
{
    return VV_PASS_ON(no_features(featuresSize, featuresData), aclprofGetSupportedFeatures,
                      featuresSize, featuresData);
}

EXPORT aclError aclprofGetSupportedFeaturesV2(size_t *featuresSize, void **featuresData)
{
    return VV_PASS_ON(no_features(featuresSize, featuresData), aclprofGetSupportedFeaturesV2,
                      featuresSize, featuresData);
}

EXPORT aclError aclprofRegisterDeviceCallback(void)
{
    return VV_PASS_ON(ACL_SUCCESS, aclprofRegisterDeviceCallback);
}
