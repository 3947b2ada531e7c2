/* SPDX-License-Identifier: Apache-2.0 */
#include "msprofiler/configuration.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ascend/mask.h"
#include "ascend/vendor.h"

#define PATH_BYTES_MAX 4096u

static struct vv_recording_wish started; /* valid while is_started                               */
static bool is_started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static aclError error_of(enum varve_code code)
{
    switch (code) {
    case VARVE_OK: return ACL_SUCCESS;
    case VARVE_INVALID: case VARVE_LIMIT: return ACL_ERROR_INVALID_PARAM;
    default: return ACL_ERROR_PROFILING_FAILURE;
    }
}

/* These modes belong to whoever starts from outside. */
static bool is_forbidden(void)
{
    const char *mode = secure_getenv("PROFILING_MODE");
    return mode != NULL &&
           (strcmp(mode, "dynamic") == 0 || strcmp(mode, "delay_or_duration") == 0);
}

static bool is_printable(const char *path)
{
    for (; *path != '\0'; path++)
        if ((unsigned char)*path < ' ' || *path == 0x7f)
            return false;
    return true;
}

aclError vv_prof_init(const char *path, size_t length)
{
    if (is_forbidden())
        return ACL_ERROR_FEATURE_UNSUPPORTED;
    if (path == NULL || length == 0 || length >= PATH_BYTES_MAX ||
        strnlen(path, length + 1) != length)
        return ACL_ERROR_INVALID_PARAM;
    if (!is_printable(path))
        return ACL_ERROR_INVALID_FILE;
    pthread_mutex_lock(&lock);
    bool is_open = vv_recording_is_open();
    enum varve_code code = is_open ? VARVE_OK : vv_recording_open(path, NULL);
    pthread_mutex_unlock(&lock);
    return is_open ? ACL_ERROR_REPEAT_INITIALIZE : error_of(code);
}

aclError vv_prof_finalize(void)
{
    pthread_mutex_lock(&lock);
    enum varve_code code = vv_recording_close(NULL);
    if (code == VARVE_OK)
        is_started = false;
    pthread_mutex_unlock(&lock);
    return error_of(code);
}

struct vv_configuration *vv_prof_configure(const uint32_t *devices, uint32_t count,
                                           uint32_t metrics, uint64_t mask)
{
    if (count > VARVE_PROFILING_DEVICES_MAX || (count > 0 && devices == NULL))
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k <= i; k++)
            if (devices[i] >= VARVE_PROFILING_DEVICES_MAX || (k < i && devices[k] == devices[i]))
                return NULL;
    struct vv_configuration *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->wish.mask = vv_mask_from_program(mask);
    if (made->wish.mask != 0)
        made->wish.mask = vv_mask_completed(made->wish.mask);
    made->wish.metrics = metrics;
    made->wish.device_count = count;
    if (count > 0)
        memcpy(made->wish.devices, devices, count * sizeof *devices);
    return made;
}

static aclError start(const struct vv_recording_wish *wish)
{
    if (is_started) /* the same once more is no error */
        return wish->mask == started.mask ? ACL_SUCCESS : ACL_ERROR_INVALID_PROFILING_CONFIG;
    if (!vv_recording_is_open() && vv_recording_open("", NULL) != VARVE_OK)
        return ACL_ERROR_PROFILING_FAILURE;
    aclError error = error_of(vv_recording_start(wish, NULL));
    if (error == ACL_SUCCESS) {
        started = *wish;
        is_started = true;
    }
    return error;
}

aclError vv_prof_start(const struct vv_configuration *configuration)
{
    if (configuration == NULL || configuration->wish.mask == 0)
        return ACL_ERROR_INVALID_PARAM;
    if (vv_mask_unknown(configuration->wish.mask) != 0)
        return ACL_ERROR_PROF_MODULES_UNSUPPORTED;
    pthread_mutex_lock(&lock);
    aclError error = start(&configuration->wish);
    pthread_mutex_unlock(&lock);
    return error;
}

static bool is_started_as(const struct vv_recording_wish *wish)
{
    return wish->mask == started.mask && wish->device_count == started.device_count &&
           memcmp(wish->devices, started.devices, wish->device_count * sizeof *wish->devices) == 0;
}

aclError vv_prof_stop(const struct vv_configuration *configuration)
{
    aclError error = ACL_SUCCESS;
    pthread_mutex_lock(&lock);
    if (is_started && configuration != NULL && !is_started_as(&configuration->wish)) {
        error = ACL_ERROR_INVALID_PROFILING_CONFIG;
    } else if (is_started) {
        error = error_of(vv_recording_stop(NULL));
        is_started = error != ACL_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return error;
}
