/* SPDX-License-Identifier: Apache-2.0 */
/* subscription.c — operators streamed through a pipe while a model runs: Varve does not serve this,
 * and says so. The vendor's library does, where there is one. */
#include "acl/acl_prof.h"
#include "ascend/vendor.h"

#define EXPORT __attribute__((visibility("default")))
#define NONE ACL_ERROR_FEATURE_UNSUPPORTED

EXPORT aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                            aclprofAicoreMetrics aicoreMetrics,
                                                            void *fd)
{
    return VV_PASS_ON((aclprofSubscribeConfig *)0, aclprofCreateSubscribeConfig, timeInfoSwitch,
                      aicoreMetrics, fd);
}

EXPORT aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig)
{
    return VV_PASS_ON(profSubscribeConfig == NULL ? ACL_ERROR_INVALID_PARAM : NONE,
                      aclprofDestroySubscribeConfig, profSubscribeConfig);
}

EXPORT aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig *config)
{
    return VV_PASS_ON(config == NULL ? ACL_ERROR_INVALID_PARAM : NONE, aclprofModelSubscribe,
                      modelId, config);
}

EXPORT aclError aclprofModelUnSubscribe(uint32_t modelId)
{
    return VV_PASS_ON(NONE, aclprofModelUnSubscribe, modelId);
}

EXPORT aclError aclgrphProfGraphSubscribe(uint32_t graphId, const aclprofSubscribeConfig *config)
{
    return VV_PASS_ON(config == NULL ? ACL_ERROR_INVALID_PARAM : NONE, aclgrphProfGraphSubscribe,
                      graphId, config);
}

EXPORT aclError aclgrphProfGraphUnSubscribe(uint32_t graphId)
{
    return VV_PASS_ON(NONE, aclgrphProfGraphUnSubscribe, graphId);
}

EXPORT aclError aclprofGetOpDescSize(size_t *opDescSize)
{
    return VV_PASS_ON(opDescSize == NULL ? ACL_ERROR_INVALID_PARAM : NONE, aclprofGetOpDescSize,
                      opDescSize);
}

EXPORT aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber)
{
    return VV_PASS_ON(NONE, aclprofGetOpNum, opInfo, opInfoLen, opNumber);
}

EXPORT aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                                    size_t *len)
{
    return VV_PASS_ON(NONE, aclprofGetOpTypeLen, opInfo, opInfoLen, index, len);
}

EXPORT aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index,
                                 char *opType, size_t len)
{
    return VV_PASS_ON(NONE, aclprofGetOpType, opInfo, opInfoLen, index, opType, len);
}

EXPORT aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                                    size_t *len)
{
    return VV_PASS_ON(NONE, aclprofGetOpNameLen, opInfo, opInfoLen, index, len);
}

EXPORT aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index,
                                 char *opName, size_t len)
{
    return VV_PASS_ON(NONE, aclprofGetOpName, opInfo, opInfoLen, index, opName, len);
}

EXPORT uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    return VV_PASS_ON((uint64_t)0, aclprofGetOpStart, opInfo, opInfoLen, index);
}

EXPORT uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    return VV_PASS_ON((uint64_t)0, aclprofGetOpEnd, opInfo, opInfoLen, index);
}

EXPORT uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    return VV_PASS_ON((uint64_t)0, aclprofGetOpDuration, opInfo, opInfoLen, index);
}

EXPORT size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    return VV_PASS_ON((size_t)0, aclprofGetModelId, opInfo, opInfoLen, index);
}
