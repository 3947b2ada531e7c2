/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.c — names that programs register, ids of texts, models' devices, and what only other
 * implementations of this library have a use for. */
#include <string.h>

#include "ascend/vendor.h"
#include "profapi/names.h"
#include "varve/control.h"
#include "profapi/report.h"
#include "profiling/aprof_pub.h"

#define EXPORT __attribute__((visibility("default")))

#define MODULE_DATA_PREPROCESS 0u
#define MODULE_MSPROF 5u
#define REPORT_HASH_TYPE 4u

/* ---- hooks: who wants to see what is reported, beside Varve ---- */

#define HOOKS 17u

static void *hooks[HOOKS]; /* atomic */

void *vv_hook(enum vv_hook_type type)
{
    return __atomic_load_n(&hooks[type], __ATOMIC_ACQUIRE);
}

/* A null takes the former hook away. The types without a place in enum vv_hook_type are accepted
 * and never called. */
static int32_t register_hook(int32_t type, void *hook)
{
    if (type < 0 || type >= (int32_t)HOOKS)
        return MSPROF_ERROR_NULL;
    __atomic_store_n(&hooks[type], hook, __ATOMIC_RELEASE);
    return MSPROF_ERROR_NONE;
}

EXPORT int32_t MsprofRegisterProfileCallback(int32_t callbackType, void *callback, uint32_t len)
{
    return VV_PASS_ON(register_hook(callbackType, callback), MsprofRegisterProfileCallback,
                      callbackType, callback, len);
}

/* ---- names ---- */

static int32_t reg_type(uint16_t level, uint32_t type, const char *name)
{
    int32_t (*hook)(uint16_t, uint32_t, const char *, size_t);
    if (name == NULL)
        return MSPROF_ERROR_NULL;
    *(void **)&hook = vv_hook(VV_HOOK_TYPE_INFO);
    if (hook != NULL)
        (void)hook(level, type, name, strlen(name));
    return vv_type_keep(level, type, name) ? MSPROF_ERROR_NONE : MSPROF_ERROR_MEM_NOT_ENOUGH;
}

EXPORT int32_t MsprofRegTypeInfo(uint16_t level, uint32_t typeId, const char *typeName)
{
    return VV_PASS_ON(reg_type(level, typeId, typeName), MsprofRegTypeInfo, level, typeId,
                      typeName);
}

/* Formats are for other readers than ours. They must be an object with a version. */
static int32_t reg_format(const char *format)
{
    if (format == NULL)
        return MSPROF_ERROR_NULL;
    while (*format == ' ' || *format == '\n' || *format == '\t')
        format++;
    return *format == '{' && strstr(format, "\"version\"") != NULL ? MSPROF_ERROR_NONE
                                                                   : MSPROF_ERROR_CONFIG_INVALID;
}

EXPORT int32_t MsprofRegDataFormat(uint16_t level, uint32_t typeId, const char *dataFormat)
{
    return VV_PASS_ON(reg_format(dataFormat), MsprofRegDataFormat, level, typeId, dataFormat);
}

/* The program's records will name the text by the vendor's id, whatever that is. */
EXPORT uint64_t MsprofGetHashId(const char *hashInfo, size_t length)
{
    varve_profiling_poll(); /* modules that are off call little else                            */
    uint64_t id = VV_PASS_ON(vv_hash_keep(hashInfo, length), MsprofGetHashId, hashInfo, length);
    vv_hash_learn(id, hashInfo, length);
    return id;
}

EXPORT uint64_t MsprofStr2Id(const char *hashInfo, size_t length)
{
    uint64_t id = VV_PASS_ON(vv_hash_keep(hashInfo, length), MsprofStr2Id, hashInfo, length);
    vv_hash_learn(id, hashInfo, length);
    return id;
}

static char *text_of(uint64_t id)
{
    static char none[1];
    char *text = vv_hash_text(id);
    return text != NULL ? text : none;
}

EXPORT char *MsprofId2Str(uint64_t hashId)
{
    return VV_PASS_ON(text_of(hashId), MsprofId2Str, hashId);
}

/* Which device a model is on is said by its tasks. */
EXPORT int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t geModelIdx, uint32_t deviceId)
{
    return VV_PASS_ON(MSPROF_ERROR_NONE, MsprofSetDeviceIdByGeModelIdx, geModelIdx, deviceId);
}

EXPORT int32_t MsprofUnsetDeviceIdByGeModelIdx(uint32_t geModelIdx, uint32_t deviceId)
{
    return VV_PASS_ON(MSPROF_ERROR_NONE, MsprofUnsetDeviceIdByGeModelIdx, geModelIdx, deviceId);
}

/* HashData: u64 length, then a pointer to the text, then the id. */
struct hash_data {
    int32_t device;
    uint32_t reserve;
    uint64_t length;
    const char *text;
    uint64_t id;
};
_Static_assert(sizeof(struct hash_data) == 32, "the documented size");

/* The former interface: four modules' calls do nothing, as documented; the two others may ask for
 * an id. */
static int32_t report_data(uint32_t module, uint32_t type, void *data, uint32_t length)
{
    struct hash_data *hash = data;
    if (module != MODULE_DATA_PREPROCESS && module != MODULE_MSPROF)
        return module < MODULE_MSPROF ? MSPROF_ERROR_NONE : MSPROF_ERROR;
    if (type > REPORT_HASH_TYPE)
        return MSPROF_ERROR;
    if (type == REPORT_HASH_TYPE && (hash == NULL || hash->text == NULL))
        return MSPROF_ERROR_NULL;
    if (type == REPORT_HASH_TYPE && length != sizeof *hash)
        return MSPROF_ERROR;
    if (type == REPORT_HASH_TYPE)
        hash->id = vv_hash_keep(hash->text, hash->length);
    return MSPROF_ERROR_NONE;
}

EXPORT int32_t MsprofReportData(uint32_t moduleId, uint32_t type, void *data, uint32_t len)
{
    return VV_PASS_ON(report_data(moduleId, type, data, len), MsprofReportData, moduleId, type,
                      data, len);
}

EXPORT int32_t MsprofSubscribeRawData(int32_t (*callback)(const void *data, uint32_t len))
{
    return VV_PASS_ON(callback == NULL ? MSPROF_ERROR_NULL : MSPROF_ERROR, MsprofSubscribeRawData,
                      callback);
}
