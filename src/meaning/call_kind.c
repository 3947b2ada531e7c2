/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/call_kind.h"

#include <stddef.h>
#include <string.h>

/* Parts of names. The first part that the name contains counts. */
static const struct { const char *part; enum vv_call_kind kind; } words[] = {
    { "Stream Wait", VV_CALL_AWAITS_WORK },         { "Event Sync", VV_CALL_AWAITS_EVENT },
    { "Stream Sync", VV_CALL_AWAITS_STREAM },       { "Context Sync", VV_CALL_AWAITS_DEVICE },
    { "Device Sync", VV_CALL_AWAITS_DEVICE },       { "EventRecord", VV_CALL_RECORDS_EVENT },
    { "StreamSynchronize", VV_CALL_AWAITS_STREAM }, { "SynchronizeStream", VV_CALL_AWAITS_STREAM },
    { "EventSynchronize", VV_CALL_AWAITS_EVENT },   { "SynchronizeEvent", VV_CALL_AWAITS_EVENT },
    { "DeviceSynchronize", VV_CALL_AWAITS_DEVICE }, { "SynchronizeDevice", VV_CALL_AWAITS_DEVICE },
    { "CtxSynchronize", VV_CALL_AWAITS_DEVICE },    { "clFinish", VV_CALL_AWAITS_STREAM },
    { "clWaitForEvents", VV_CALL_AWAITS_EVENT },    { "clEnqueueRead", VV_CALL_AWAITS_STREAM },
    { "clEnqueueMap", VV_CALL_AWAITS_STREAM },      { "Memcpy", VV_CALL_COPIES },
    { "LaunchKernel", VV_CALL_LAUNCHES_KERNEL },    { "NDRangeKernel", VV_CALL_LAUNCHES_KERNEL },
};

enum vv_call_kind vv_call_kind(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i].part) != NULL)
            return words[i].kind;
    return VV_CALL_OTHER;
}

bool vv_is_wait(const char *name)
{
    static const char *const parts[] = { "_wait", "::wait", ": wait", "'acquire' of", "sleep",
                                         "Acquire semaphore" };
    if (strncmp(name, "wait", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) != NULL)
            return true;
    return false;
}

bool vv_awaits_work(const char *name)
{
    static const char *const parts[] = { "ynchronize", "BlockHostUntil", "BlockUntilReady",
                                         "block_until_ready", "try_to_block", "clFinish",
                                         "clWaitForEvents" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) != NULL)
            return true;
    return false;
}

bool vv_is_no_work(const char *name)
{
    enum vv_call_kind kind = vv_call_kind(name);
    return vv_awaits_work(name) || (kind >= VV_CALL_AWAITS_DEVICE && kind <= VV_CALL_AWAITS_WORK) ||
           (kind == VV_CALL_COPIES && strstr(name, "Async") == NULL) || vv_is_wait(name) ||
           name[0] == '#' || name[0] == '[';
}
