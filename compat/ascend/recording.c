/* SPDX-License-Identifier: Apache-2.0 */
#include "ascend/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ascend/mask.h"

static struct {
    bool is_open, is_started;
    bool is_theirs; /* others record this process                                                */
    struct varve_profiling_config *config;
    char path[VV_RECORDING_PATH_BYTES + 128];
} all;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* FOLDER/PROGRAM_20260102030405_PID.varve: a new one for each run. */
static void name_trace(const char *folder)
{
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
    time_t now = time(NULL);
    struct tm local;
    char text[32] = "";
    if (length > 6 && strcmp(folder + length - 6, ".varve") == 0) {
        snprintf(all.path, sizeof all.path, "%s", folder);
        return;
    }
    if (localtime_r(&now, &local) != NULL)
        (void)strftime(text, sizeof text, "%Y%m%d%H%M%S", &local);
    snprintf(all.path, sizeof all.path, "%.*s%s%.64s_%s_%ld.varve", (int)VV_RECORDING_PATH_BYTES,
             folder, slash, program_invocation_short_name, text, (long)getpid());
}

/* The folders around the trace. What cannot be made is said when the trace is. */
static void make_folders(void)
{
    char path[sizeof all.path];
    memcpy(path, all.path, sizeof path);
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
}

static enum varve_code open_it(const char *path, struct varve_error *error)
{
    if (all.is_open)
        return VARVE_STATE;
    name_trace(path);
    enum varve_code code = varve_profiling_init(all.path, error);
    if (code != VARVE_OK && code != VARVE_STATE)
        return code;
    all.is_theirs = code == VARVE_STATE;
    all.is_open = true;
    return VARVE_OK;
}

static enum varve_code start_it(const struct vv_recording_wish *wish, struct varve_error *error)
{
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    if (!all.is_open || all.is_started)
        return VARVE_STATE;
    if (!all.is_theirs) {
        settings.layers = vv_mask_to_layers(wish->mask);
        if (settings.layers == 0) /* bits that record nothing here */
            settings.layers = VARVE_LAYER_API;
        settings.devices = wish->devices;
        settings.device_count = wish->device_count;
        settings.metrics = vv_metrics_name(wish->metrics);
        settings.switches = wish->mask;
        enum varve_code code = varve_profiling_config_create(&settings, &all.config, error);
        if (code != VARVE_OK)
            return code;
        make_folders();
        code = varve_profiling_start(all.config, error);
        if (code != VARVE_OK) {
            (void)varve_profiling_config_destroy(all.config, NULL);
            all.config = NULL;
            return code;
        }
    }
    all.is_started = true;
    return VARVE_OK;
}

static enum varve_code stop_it(struct varve_error *error)
{
    if (!all.is_started)
        return VARVE_STATE;
    if (all.config != NULL) {
        enum varve_code code = varve_profiling_stop(all.config, error);
        if (code != VARVE_OK)
            return code;
        (void)varve_profiling_config_destroy(all.config, NULL);
        all.config = NULL;
    }
    all.is_started = false;
    return VARVE_OK;
}

static enum varve_code close_it(struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    if (all.is_started)
        code = stop_it(error);
    if (code == VARVE_OK && all.is_open && !all.is_theirs)
        code = varve_profiling_finalize(error);
    if (code == VARVE_OK)
        all.is_open = all.is_theirs = false;
    return code;
}

/* ---- under the lock ---- */

enum varve_code vv_recording_open(const char *path, struct varve_error *error)
{
    pthread_mutex_lock(&lock);
    enum varve_code code = open_it(path, error);
    pthread_mutex_unlock(&lock);
    return code;
}

bool vv_recording_is_open(void)
{
    return __atomic_load_n(&all.is_open, __ATOMIC_RELAXED);
}

enum varve_code vv_recording_start(const struct vv_recording_wish *wish, struct varve_error *error)
{
    pthread_mutex_lock(&lock);
    enum varve_code code = start_it(wish, error);
    pthread_mutex_unlock(&lock);
    return code;
}

enum varve_code vv_recording_stop(struct varve_error *error)
{
    pthread_mutex_lock(&lock);
    enum varve_code code = stop_it(error);
    pthread_mutex_unlock(&lock);
    return code;
}

enum varve_code vv_recording_close(struct varve_error *error)
{
    pthread_mutex_lock(&lock);
    enum varve_code code = close_it(error);
    pthread_mutex_unlock(&lock);
    return code;
}

const char *vv_recording_path(void)
{
    return all.path;
}
