/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c — the program's own stamps, ranges and steps.
 *
 * A stamp is a number and a text. Stamps of ranges that may end on another thread, and of instants,
 * become sites of Varve: one for each text, as long as the process. With a vendor's library the
 * program's handles are the vendor's, and only texts are ours. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "ascend/vendor.h"
#include "varve/varve.h"

#define EXPORT __attribute__((visibility("default")))
#define MESSAGE_BYTES 128u /* of a stamp's text, with the NUL                                   */
#define SITES_MAX 4096u
#define RANGES_MAX 4096u

struct stamp {
    struct stamp *theirs; /* the vendor's; NULL = none                                          */
    char message[MESSAGE_BYTES];
};

/* ---- sites by text ---- */

static struct varve_site *sites[SITES_MAX]; /* a hash table; only added to                       */
static uint32_t site_count;
static struct varve_site other_site = VARVE_SITE_INIT("(other stamps)", VARVE_LAYER_API);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t place_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash % SITES_MAX;
}

static struct varve_site *make_site(const char *text)
{
    struct varve_site *site = calloc(1, sizeof *site);
    char *name = strdup(text);
    if (site == NULL || name == NULL) {
        free(site);
        free(name);
        return &other_site;
    }
    site->name = name;
    site->layer = VARVE_LAYER_API;
    return site;
}

/* Beyond so many texts, all others share a site. */
static struct varve_site *site_of(const char *text)
{
    uint32_t at = place_of(text);
    pthread_mutex_lock(&lock);
    while (sites[at] != NULL && strcmp(sites[at]->name, text) != 0)
        at = (at + 1) % SITES_MAX;
    struct varve_site *site = sites[at];
    if (site == NULL) {
        site = site_count < SITES_MAX / 2 ? make_site(text) : &other_site;
        if (site != &other_site) {
            sites[at] = site;
            site_count++;
        }
    }
    pthread_mutex_unlock(&lock);
    return site;
}

/* ---- stamps ---- */

#define THEIRS(function) VV_VENDOR(function, #function)

EXPORT void *aclprofCreateStamp(void)
{
    __typeof__(&aclprofCreateStamp) vendor = THEIRS(aclprofCreateStamp);
    struct stamp *stamp = calloc(1, sizeof *stamp);
    if (stamp != NULL && vendor != NULL)
        stamp->theirs = vendor();
    return stamp;
}

EXPORT void aclprofDestroyStamp(void *stamp)
{
    __typeof__(&aclprofDestroyStamp) vendor = THEIRS(aclprofDestroyStamp);
    struct stamp *ours = stamp;
    if (ours != NULL && vendor != NULL && ours->theirs != NULL)
        vendor(ours->theirs);
    free(ours);
}

EXPORT aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen)
{
    __typeof__(&aclprofSetStampTraceMessage) vendor = THEIRS(aclprofSetStampTraceMessage);
    struct stamp *ours = stamp;
    if (ours == NULL || msg == NULL || msgLen >= MESSAGE_BYTES)
        return ACL_ERROR_INVALID_PARAM;
    size_t length = strnlen(msg, msgLen);
    memcpy(ours->message, msg, length);
    ours->message[length] = '\0';
    return vendor != NULL && ours->theirs != NULL ? vendor(ours->theirs, msg, msgLen) : ACL_SUCCESS;
}

EXPORT aclError aclprofPush(void *stamp)
{
    __typeof__(&aclprofPush) vendor = THEIRS(aclprofPush);
    struct stamp *ours = stamp;
    if (ours == NULL)
        return ACL_ERROR_INVALID_PARAM;
    varve_begin_name(ours->message, VARVE_LAYER_API);
    return vendor != NULL && ours->theirs != NULL ? vendor(ours->theirs) : ACL_SUCCESS;
}

static aclError end_range(void)
{
    varve_end();
    return ACL_SUCCESS;
}

EXPORT aclError aclprofPop(void)
{
    return VV_PASS_ON(end_range(), aclprofPop);
}

EXPORT aclError aclprofMark(void *stamp)
{
    __typeof__(&aclprofMark) vendor = THEIRS(aclprofMark);
    struct stamp *ours = stamp;
    if (ours == NULL)
        return ACL_ERROR_INVALID_PARAM;
    if (varve_layers() != 0)
        varve_mark(site_of(ours->message));
    return vendor != NULL && ours->theirs != NULL ? vendor(ours->theirs) : ACL_SUCCESS;
}

static aclError mark(const char *text, size_t length)
{
    char message[MESSAGE_BYTES];
    if (text == NULL || length == 0 || length >= sizeof message)
        return ACL_ERROR_INVALID_PARAM;
    length = strnlen(text, length);
    memcpy(message, text, length);
    message[length] = '\0';
    if (varve_layers() != 0)
        varve_mark(site_of(message));
    return ACL_SUCCESS;
}

EXPORT aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream)
{
    return VV_PASS_ON(mark(msg, msgLen), aclprofMarkEx, msg, msgLen, stream);
}

/* ---- ranges that may end on another thread ---- */

static struct {
    struct varve_site *site; /* NULL = free                                                     */
    uint32_t id, theirs;
} ranges[RANGES_MAX];
static uint32_t range_count;

EXPORT aclError aclprofRangeStart(void *stamp, uint32_t *rangeId)
{
    __typeof__(&aclprofRangeStart) vendor = THEIRS(aclprofRangeStart);
    struct stamp *ours = stamp;
    uint32_t theirs = 0;
    aclError error = ACL_SUCCESS;
    if (ours == NULL || rangeId == NULL)
        return ACL_ERROR_INVALID_PARAM;
    struct varve_site *site = site_of(ours->message);
    if (vendor != NULL && ours->theirs != NULL)
        error = vendor(ours->theirs, &theirs);
    pthread_mutex_lock(&lock);
    uint32_t id = ++range_count, at = id % RANGES_MAX;
    bool is_free = ranges[at].site == NULL;
    if (is_free) {
        ranges[at].site = site;
        ranges[at].id = id;
        ranges[at].theirs = theirs;
    }
    pthread_mutex_unlock(&lock);
    if (!is_free) /* its place belongs to a range that has not ended for 4,096 others */
        return ACL_ERROR_PROFILING_FAILURE;
    varve_async_begin(site, id);
    *rangeId = id;
    return error;
}

EXPORT aclError aclprofRangeStop(uint32_t rangeId)
{
    __typeof__(&aclprofRangeStop) vendor = THEIRS(aclprofRangeStop);
    uint32_t at = rangeId % RANGES_MAX, theirs = 0;
    struct varve_site *site = NULL;
    pthread_mutex_lock(&lock);
    if (ranges[at].site != NULL && ranges[at].id == rangeId) {
        site = ranges[at].site;
        theirs = ranges[at].theirs;
        ranges[at].site = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (site == NULL)
        return ACL_ERROR_INVALID_PARAM;
    varve_async_end(site, rangeId);
    return vendor != NULL ? vendor(theirs) : ACL_SUCCESS;
}

/* ---- steps ---- */

struct aclprofStepInfo {
    int64_t index;
    bool begins, ends; /* said already                                                          */
    aclprofStepInfo *theirs;
};

EXPORT aclprofStepInfo *aclprofCreateStepInfo(void)
{
    static int64_t steps;
    __typeof__(&aclprofCreateStepInfo) vendor = THEIRS(aclprofCreateStepInfo);
    aclprofStepInfo *info = calloc(1, sizeof *info);
    if (info == NULL)
        return NULL;
    info->index = __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);
    if (vendor != NULL)
        info->theirs = vendor();
    return info;
}

EXPORT void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo)
{
    __typeof__(&aclprofDestroyStepInfo) vendor = THEIRS(aclprofDestroyStepInfo);
    if (stepinfo != NULL && vendor != NULL && stepinfo->theirs != NULL)
        vendor(stepinfo->theirs);
    free(stepinfo);
}

EXPORT aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
                                        aclrtStream stream)
{
    __typeof__(&aclprofGetStepTimestamp) vendor = THEIRS(aclprofGetStepTimestamp);
    if (stepInfo == NULL || (tag != ACL_STEP_START && tag != ACL_STEP_END))
        return ACL_ERROR_INVALID_PARAM;
    bool *is_said = tag == ACL_STEP_START ? &stepInfo->begins : &stepInfo->ends;
    if (*is_said)
        return ACL_ERROR_INVALID_PARAM;
    *is_said = true;
    if (tag == ACL_STEP_START)
        varve_step_begin(stepInfo->index);
    else
        varve_step_end();
    return vendor != NULL && stepInfo->theirs != NULL ? vendor(stepInfo->theirs, tag, stream)
                                                      : ACL_SUCCESS;
}
