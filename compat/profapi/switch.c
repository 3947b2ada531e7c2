/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c — MsprofInit to MsprofFinalize: what an Ascend runtime calls to have profiling begun. */
#include <stdlib.h>
#include <string.h>

#include "ascend/mask.h"
#include "ascend/recording.h"
#include "ascend/vendor.h"
#include "profapi/init_text.h"
#include "profapi/modules.h"
#include "profapi/report.h"
#include "varve/varve.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(struct MsprofConfig) == 5432, "the documented layout");
_Static_assert(offsetof(struct MsprofConfig, dumpPath) == 312, "the documented layout");

static bool has_options; /* recording began by options that MsprofInit was given; atomic          */

static int32_t result_of(enum varve_code code)
{
    switch (code) {
    case VARVE_OK: return MSPROF_ERROR_NONE;
    case VARVE_INVALID: case VARVE_LIMIT: return MSPROF_ERROR_CONFIG_INVALID;
    case VARVE_NO_MEMORY: return MSPROF_ERROR_MEM_NOT_ENOUGH;
    default: return MSPROF_ERROR;
    }
}

/* ---- MsprofInit, MsprofFinalize ---- */

static int32_t init_with_text(const char *options)
{
    enum varve_code code = varve_profiling_init_options(options, NULL);
    if (code == VARVE_OK)
        __atomic_store_n(&has_options, true, __ATOMIC_RELAXED);
    /* Others record this process, or it is initialised: so it stays. */
    return code == VARVE_STATE ? MSPROF_ERROR_NONE : result_of(code);
}

static int32_t init_options(const struct MsprofGeOptions *options, uint32_t length)
{
    if (options == NULL)
        return MSPROF_ERROR_NULL;
    if (length != sizeof *options)
        return MSPROF_ERROR;
    /* A text that fills its array was cut: it says something else. */
    if (memchr(options->options, '\0', sizeof options->options) == NULL)
        return MSPROF_ERROR_CONFIG_INVALID;
    return options->options[0] != '\0' ? init_with_text(options->options) : MSPROF_ERROR_NONE;
}

static int32_t init_json(const char *text, uint32_t length)
{
    char *options;
    if (text == NULL)
        return MSPROF_ERROR_NULL;
    enum vv_init_text found = vv_init_text_options(text, length, &options);
    if (found == VV_INIT_TEXT_OFF)
        return MSPROF_ERROR_ACL_JSON_OFF;
    if (found != VV_INIT_TEXT_ON)
        return found == VV_INIT_TEXT_NONE ? MSPROF_ERROR_NONE : MSPROF_ERROR_CONFIG_INVALID;
    int32_t result = init_with_text(options);
    free(options);
    return result;
}

static int32_t finalize(void)
{
    if (vv_modules_is_telling())
        return MSPROF_ERROR;
    enum varve_code code = vv_recording_close(NULL);
    if (code == VARVE_OK && __atomic_exchange_n(&has_options, false, __ATOMIC_RELAXED))
        code = varve_profiling_finalize(NULL);
    vv_reports_end();
    vv_modules_finalize();
    vv_reports_open(false);
    return code == VARVE_STATE ? MSPROF_ERROR_NONE : result_of(code);
}

static int32_t init(uint32_t type, void *data, uint32_t length)
{
    int32_t result = MSPROF_ERROR_NONE;
    if (vv_modules_is_telling())
        return MSPROF_ERROR;
    if (type == MSPROF_CTRL_FINALIZE)
        return finalize();
    if (type > MSPROF_CTRL_INIT_AICPU && type != MSPROF_CTRL_INIT_DYNA)
        return MSPROF_ERROR;
    if (__atomic_load_n(&has_options, __ATOMIC_RELAXED)) /* the first options stay              */
        return MSPROF_ERROR_NONE;
    vv_modules_listen();
    if (type == MSPROF_CTRL_INIT_GE_OPTIONS)
        result = init_options(data, length);
    else if (type == MSPROF_CTRL_INIT_ACL_JSON)
        result = init_json(data, length);
    /* The environment's options began to record when libvarve was loaded. */
    if (result != MSPROF_ERROR_NONE)
        return result;
    vv_reports_open(true);
    vv_modules_init();
    return MSPROF_ERROR_NONE;
}

EXPORT int32_t MsprofInit(uint32_t dataType, void *data, uint32_t dataLen)
{
    return VV_PASS_ON(init(dataType, data, dataLen), MsprofInit, dataType, data, dataLen);
}

EXPORT int32_t MsprofFinalize(void)
{
    return VV_PASS_ON(finalize(), MsprofFinalize);
}

/* ---- MsprofStart, MsprofStop ---- */

static int32_t start(const struct MsprofConfig *config, uint32_t length)
{
    struct vv_recording_wish wish = { 0 };
    if (config == NULL)
        return MSPROF_ERROR_NULL;
    if (length != sizeof *config || config->devNums > MSPROF_MAX_DEV_NUM + 1 ||
        memchr(config->dumpPath, '\0', sizeof config->dumpPath) == NULL || vv_modules_is_telling())
        return MSPROF_ERROR;
    wish.mask = vv_mask_from_program(config->profSwitch);
    wish.metrics = config->metrics;
    for (uint32_t i = 0; i < config->devNums; i++)
        if (config->devIdList[i] < MSPROF_MAX_DEV_NUM) /* 64 stands for the host                */
            wish.devices[wish.device_count++] = config->devIdList[i];
    if (!vv_recording_is_open() && vv_recording_open(config->dumpPath, NULL) != VARVE_OK)
        return MSPROF_ERROR;
    vv_modules_listen();
    enum varve_code code = vv_recording_start(&wish, NULL);
    return code == VARVE_STATE ? MSPROF_ERROR : result_of(code);
}

static int32_t stop(const struct MsprofConfig *config, uint32_t length)
{
    if (config == NULL)
        return MSPROF_ERROR_NULL;
    if (length != sizeof *config || vv_modules_is_telling())
        return MSPROF_ERROR;
    enum varve_code code = vv_recording_stop(NULL);
    return code == VARVE_STATE ? MSPROF_ERROR_NONE : result_of(code);
}

EXPORT int32_t MsprofStart(uint32_t dataType, const void *data, uint32_t length)
{
    return VV_PASS_ON(start(data, length), MsprofStart, dataType, data, length);
}

EXPORT int32_t MsprofStop(uint32_t dataType, const void *data, uint32_t length)
{
    return VV_PASS_ON(stop(data, length), MsprofStop, dataType, data, length);
}

EXPORT int32_t MsprofSetConfig(uint32_t configType, const char *config, size_t configLength)
{
    return VV_PASS_ON(MSPROF_ERROR_NONE, MsprofSetConfig, configType, config, configLength);
}

/* ---- modules ---- */

static int32_t add_module(uint32_t module, ProfCommandHandle handle)
{
    if (handle == NULL)
        return MSPROF_ERROR_NULL;
    return vv_modules_add(module, handle) ? MSPROF_ERROR_NONE : MSPROF_ERROR_MEM_NOT_ENOUGH;
}

EXPORT int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle)
{
    return VV_PASS_ON(add_module(moduleId, handle), MsprofRegisterCallback, moduleId, handle);
}

static int32_t tell(void *command, uint32_t length)
{
    if (command == NULL)
        return MSPROF_ERROR_NULL;
    const struct MsprofCommandHandle *handle = command;
    if (length != sizeof *handle || handle->type > PROF_COMMANDHANDLE_TYPE_MODEL_UNSUBSCRIBE)
        return MSPROF_ERROR;
    vv_modules_tell(PROF_CTRL_SWITCH, command, length);
    return MSPROF_ERROR_NONE;
}

EXPORT int32_t profSetProfCommand(void *command, uint32_t len)
{
    return VV_PASS_ON(tell(command, len), profSetProfCommand, command, len);
}

/* Tags 0 and 1, and those of a step in a trace, begin and end a step of this thread. */
static int32_t set_step(uint64_t index, uint16_t tag, void *stream)
{
    struct ProfStepInfoCmd command = { index, tag, stream };
    if (tag == 0 || tag == 60000)
        varve_step_begin((int64_t)index);
    else if (tag == 1 || tag == 60001)
        varve_step_end();
    vv_modules_tell(PROF_CTRL_STEPINFO, &command, sizeof command);
    return MSPROF_ERROR_NONE;
}

EXPORT int32_t profSetStepInfo(uint64_t indexId, uint16_t tagId, void *stream)
{
    varve_profiling_poll();
    return VV_PASS_ON(set_step(indexId, tagId, stream), profSetStepInfo, indexId, tagId, stream);
}

static int32_t notify(uint32_t device, bool is_open)
{
    if ((device & UINT32_C(0x80000000)) == 0)
        vv_modules_device(device, is_open);
    return MSPROF_ERROR_NONE;
}

EXPORT int32_t MsprofNotifySetDevice(uint32_t chipId, uint32_t deviceId, bool isOpen)
{
    varve_profiling_poll();
    return VV_PASS_ON(notify(deviceId, isOpen), MsprofNotifySetDevice, chipId, deviceId, isOpen);
}

EXPORT const char *MsprofGetPath(void)
{
    return VV_PASS_ON(vv_recording_path(), MsprofGetPath);
}

/* No filter: the options of operators' types have no effect here. */
EXPORT bool MsprofCheckOpSwitch(uint32_t type, const char *opInfo, size_t len)
{
    return VV_PASS_ON(type == 0 && opInfo != NULL && len != 0, MsprofCheckOpSwitch, type, opInfo,
                      len);
}
