/* SPDX-License-Identifier: Apache-2.0 */
/* report.c — the records that modules report.
 *
 * Each record is handed to Varve at once: there is no ring that could be full, and nothing is
 * overwritten. What cannot be kept is counted by Varve's recorder. */
#include "profapi/report.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ascend/vendor.h"
#include "profapi/clock.h"
#include "profapi/layers.h"
#include "profapi/modules.h"
#include "profapi/names.h"
#include "profapi/payloads.h"
#include "varve/control.h"
#include "varve/past.h"

#define EXPORT __attribute__((visibility("default")))
#define NAME_BYTES 64u
#define EVENTS_MAX 1024u
#define SINGLE_EVENT 0xFFFFu
#define ADDITIONAL_BYTES_MAX 65536u
#define BATCH_BYTES_MAX 131072u
#define HEAD_BYTES 24u

_Static_assert(sizeof(struct MsprofApi) == 40 && offsetof(struct MsprofApi, beginTime) == 16 &&
                   offsetof(struct MsprofApi, itemId) == 32,
               "the documented layout");
_Static_assert(sizeof(struct MsprofEvent) == 40 && offsetof(struct MsprofEvent, eventFlag) == 24,
               "the documented layout");
_Static_assert(sizeof(struct MsprofCompactInfo) == 64 &&
                   offsetof(struct MsprofCompactInfo, data) == HEAD_BYTES,
               "the documented layout");
_Static_assert(sizeof(struct MsprofAdditionalInfo) == 256 &&
                   offsetof(struct MsprofAdditionalInfo, data) == HEAD_BYTES,
               "the documented layout");

/* ---- ranges of the host ---- */

static bool are_open; /* atomic */

void vv_reports_open(bool are_open_now)
{
    __atomic_store_n(&are_open, are_open_now, __ATOMIC_RELAXED);
}

/* Before MsprofInit, while nothing is recorded, the documented code is "not initialised". */
static int32_t when_off(void)
{
    return __atomic_load_n(&are_open, __ATOMIC_RELAXED) ? MSPROF_ERROR_NONE
                                                        : MSPROF_ERROR_UNINITIALIZE;
}

/* NULL: the record has no item. */
static const char *item_text(uint32_t level, uint64_t item, char *text)
{
    const char *found = item != 0 ? vv_hash_text(item) : NULL;
    if (found != NULL || item == 0)
        return found;
    snprintf(text, NAME_BYTES,
             level == MSPROF_REPORT_MODEL_LEVEL ? "model %llu" : "0x%llx",
             (unsigned long long)item);
    return text;
}

static int32_t tell_range(const struct MsprofApi *api)
{
    char name[NAME_BYTES], item[NAME_BYTES];
    const struct varve_past_range_info range = {
        .struct_size = sizeof range,
        .layer = vv_layer_of(api->level, api->type),
        .name = vv_record_name(api->level, api->type, name, sizeof name),
        .subject = item_text(api->level, api->itemId, item),
        .thread = api->threadId,
        .clock = vv_record_clock(),
        .begin = (int64_t)api->beginTime,
        .end = (int64_t)api->endTime,
    };
    varve_past_range(&range);
    return MSPROF_ERROR_NONE;
}

/* ---- events: ranges whose begin and end come apart ---- */

/* Of a model's load and execution the reader knows the numbers. */
static void tell_model(const struct MsprofEvent *event)
{
    const int64_t model = (int64_t)event->itemId, request = event->requestId;
    const struct varve_past_value values[] = { { "model", VARVE_PAST_INTEGERS, 1, &model },
                                               { "request", VARVE_PAST_INTEGERS, 1, &request } };
    const struct varve_past_note_info note = {
        .struct_size = sizeof note,
        .layer = VARVE_LAYER_RUNTIME,
        .name = event->type == MSPROF_REPORT_MODEL_LOAD_TYPE ? "model_load" : "model_execute",
        .thread = event->threadId,
        .clock = vv_record_clock(),
        .time = (int64_t)event->timeStamp,
        .values = values,
        .value_count = 2,
    };
    if (event->level == MSPROF_REPORT_MODEL_LEVEL &&
        (event->type == MSPROF_REPORT_MODEL_LOAD_TYPE ||
         event->type == MSPROF_REPORT_MODEL_EXECUTE_TYPE))
        varve_past_note(&note);
}

static struct MsprofEvent begun[EVENTS_MAX];
static uint32_t begun_count;
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell_instant(const struct MsprofEvent *event, const char *why)
{
    char name[NAME_BYTES], text[NAME_BYTES];
    const char *item = item_text(event->level, event->itemId, text);
    const struct varve_past_value values[] = {
        { "item", VARVE_PAST_TEXTS, 1, &item }, { "why", VARVE_PAST_TEXTS, 1, &why },
    };
    const struct varve_past_note_info note = {
        .struct_size = sizeof note,
        .layer = vv_layer_of(event->level, event->type),
        .name = vv_record_name(event->level, event->type, name, sizeof name),
        .thread = event->threadId,
        .clock = vv_record_clock(),
        .flags = VARVE_PAST_ALONE,
        .time = (int64_t)event->timeStamp,
        .values = values,
        .value_count = 2,
    };
    varve_past_note(&note);
}

static bool is_same(const struct MsprofEvent *a, const struct MsprofEvent *b)
{
    return a->level == b->level && a->type == b->type && a->threadId == b->threadId &&
           a->itemId == b->itemId && a->requestId == b->requestId;
}

/* Returns whether `event` ends one that had begun, which *out_begin is then. */
static bool match(const struct MsprofEvent *event, struct MsprofEvent *out_begin, bool *out_is_full)
{
    bool ends = false;
    pthread_mutex_lock(&events_lock);
    uint32_t at = begun_count;
    while (at > 0 && !is_same(&begun[at - 1], event))
        at--;
    *out_is_full = at == 0 && begun_count == EVENTS_MAX;
    if (at > 0) {
        ends = true;
        *out_begin = begun[at - 1];
        begun[at - 1] = begun[--begun_count];
    } else if (begun_count < EVENTS_MAX) {
        begun[begun_count++] = *event;
    }
    pthread_mutex_unlock(&events_lock);
    return ends;
}

static int32_t tell_event(const struct MsprofEvent *event)
{
    struct MsprofEvent begin;
    bool is_full;
    if (event->requestId == SINGLE_EVENT) {
        tell_instant(event, "");
        return MSPROF_ERROR_NONE;
    }
    if (!match(event, &begin, &is_full)) {
        if (is_full)
            tell_instant(event, "too many events have begun and not ended");
        return MSPROF_ERROR_NONE;
    }
    const struct MsprofApi api = { .level = event->level, .type = event->type,
                                   .threadId = event->threadId, .beginTime = begin.timeStamp,
                                   .endTime = event->timeStamp, .itemId = event->itemId };
    int32_t result = tell_range(&api);
    tell_model(event);
    return result;
}

void vv_reports_end(void)
{
    pthread_mutex_lock(&events_lock);
    for (uint32_t i = 0; i < begun_count; i++)
        tell_instant(&begun[i], "its end did not come");
    begun_count = 0;
    pthread_mutex_unlock(&events_lock);
}

/* A child has one thread, and its parent's may have held the lock. */
static void after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&events_lock, &fresh, sizeof events_lock);
}

__attribute__((constructor)) static void on_load(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}

/* Tells modules what was switched from outside, and hands the record to a hook. */
static void begin_report(enum vv_hook_type type, uint32_t flag, const void *data, uint32_t length)
{
    int32_t (*with_length)(uint32_t, const void *, uint32_t);
    int32_t (*alone)(uint32_t, const void *);
    void *hook = vv_hook(type);
    varve_profiling_poll();
    if (hook == NULL || data == NULL)
        return;
    *(void **)&with_length = *(void **)&alone = hook;
    if (type == VV_HOOK_API || type == VV_HOOK_EVENT)
        (void)alone(flag, data);
    else
        (void)with_length(flag, data, length);
}

static int32_t report_event(const struct MsprofEvent *event)
{
    if (event == NULL)
        return MSPROF_ERROR_NULL;
    if (varve_layers() == 0)
        return when_off();
    return event->magicNumber == MSPROF_REPORT_DATA_MAGIC_NUM ? tell_event(event) : MSPROF_ERROR;
}

/* Where the end of a range would be, an event has a flag. */
static int32_t report_api(const struct MsprofApi *api)
{
    struct MsprofEvent event;
    if (api == NULL)
        return MSPROF_ERROR_NULL;
    if (varve_layers() == 0)
        return when_off();
    if (api->magicNumber != MSPROF_REPORT_DATA_MAGIC_NUM)
        return MSPROF_ERROR;
    if (api->endTime != MSPROF_EVENT_FLAG)
        return tell_range(api);
    memcpy(&event, api, sizeof event);
    return tell_event(&event);
}

EXPORT int32_t MsprofReportApi(uint32_t nonPersistentFlag, const struct MsprofApi *api)
{
    begin_report(VV_HOOK_API, nonPersistentFlag, api, sizeof *api);
    return VV_PASS_ON(report_api(api), MsprofReportApi, nonPersistentFlag, api);
}

EXPORT int32_t MsprofReportEvent(uint32_t nonPersistentFlag, const struct MsprofEvent *event)
{
    begin_report(VV_HOOK_EVENT, nonPersistentFlag, event, sizeof *event);
    return VV_PASS_ON(report_event(event), MsprofReportEvent, nonPersistentFlag, event);
}

/* ---- details ---- */

static int32_t tell_detail(const uint8_t *record, size_t length)
{
    struct MsprofAdditionalInfo head;
    memcpy(&head, record, HEAD_BYTES);
    size_t bytes = length - HEAD_BYTES;
    if (head.magicNumber != MSPROF_REPORT_DATA_MAGIC_NUM)
        return MSPROF_ERROR;
    /* Modules that set no length mean all of it. */
    if (head.dataLen != 0 && head.dataLen < bytes)
        bytes = head.dataLen;
    const struct vv_detail detail = { head.level, head.type, head.threadId, head.timeStamp,
                                      record + HEAD_BYTES, bytes };
    bool is_right = vv_detail_tell(&detail) && head.dataLen <= length - HEAD_BYTES;
    return is_right ? MSPROF_ERROR_NONE : MSPROF_ERROR;
}

static int32_t report(const void *data, size_t length, size_t most)
{
    if (data == NULL)
        return MSPROF_ERROR_NULL;
    if (length <= HEAD_BYTES || length > most)
        return MSPROF_ERROR;
    return varve_layers() == 0 ? when_off() : tell_detail(data, length);
}

static int32_t report_batch(const uint8_t *data, uint32_t length)
{
    const size_t each = sizeof(struct MsprofAdditionalInfo);
    int32_t result = MSPROF_ERROR_NONE;
    if (data == NULL)
        return MSPROF_ERROR_NULL;
    if (length == 0 || length % each != 0 || length > BATCH_BYTES_MAX)
        return MSPROF_ERROR;
    if (varve_layers() == 0)
        return when_off();
    for (uint32_t at = 0; at < length; at += each) /* one that is wrong does not stop the others */
        if (tell_detail(data + at, each) != MSPROF_ERROR_NONE)
            result = MSPROF_ERROR;
    return result;
}

EXPORT int32_t MsprofReportCompactInfo(uint32_t nonPersistentFlag, const void *data,
                                       uint32_t length)
{
    begin_report(VV_HOOK_COMPACT, nonPersistentFlag, data, length);
    return VV_PASS_ON(report(data, length, sizeof(struct MsprofCompactInfo)),
                      MsprofReportCompactInfo, nonPersistentFlag, data, length);
}

EXPORT int32_t MsprofReportAdditionalInfo(uint32_t nonPersistentFlag, const void *data,
                                          uint32_t length)
{
    begin_report(VV_HOOK_ADDITIONAL, nonPersistentFlag, data, length);
    return VV_PASS_ON(report(data, length, ADDITIONAL_BYTES_MAX), MsprofReportAdditionalInfo,
                      nonPersistentFlag, data, length);
}

EXPORT int32_t MsprofReportBatchAdditionalInfo(uint32_t nonPersistentFlag, const void *data,
                                               uint32_t length)
{
    varve_profiling_poll();
    return VV_PASS_ON(report_batch(data, length), MsprofReportBatchAdditionalInfo,
                      nonPersistentFlag, data, length);
}

EXPORT size_t MsprofGetBatchReportMaxSize(uint32_t type)
{
    return VV_PASS_ON(type == 0 ? BATCH_BYTES_MAX : (size_t)0, MsprofGetBatchReportMaxSize, type);
}
