/* SPDX-License-Identifier: Apache-2.0 */
#include "record/profiling/config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static enum varve_code check_devices(const uint32_t *devices, uint32_t count,
                                     struct varve_error *error)
{
    if (count > VARVE_PROFILING_DEVICES_MAX)
        VV_FAIL(error, VARVE_LIMIT, "%u devices in a configuration; at most %u", count,
                VARVE_PROFILING_DEVICES_MAX);
    if (count > 0 && devices == NULL)
        VV_FAIL(error, VARVE_INVALID,
                "varve_profiling_settings.devices is NULL and device_count is %u", count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (devices[k] == devices[i])
                VV_FAIL(error, VARVE_INVALID, "device %u stands twice in the configuration",
                        devices[i]);
    return VARVE_OK;
}

static enum varve_code check(const struct varve_profiling_settings *settings,
                             struct varve_error *error)
{
    if (settings->struct_size < offsetof(struct varve_profiling_settings, switches))
        VV_FAIL(error, VARVE_INVALID, "varve_profiling_settings.struct_size is %u: initialise with "
                                      "VARVE_PROFILING_SETTINGS_INIT", settings->struct_size);
    const unsigned char *bytes = (const unsigned char *)settings;
    bool is_newer = settings->reserved != 0;
    for (size_t i = sizeof *settings; i < settings->struct_size; i++)
        is_newer = is_newer || bytes[i] != 0;
    if (is_newer)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "varve_profiling_settings has fields that this libvarve (%s) does not "
                "know",
                varve_version());
    if ((settings->layers & ~VARVE_LAYER_ALL) != 0)
        VV_FAIL(error, VARVE_INVALID, "varve_profiling_settings.layers has unknown bits: 0x%x",
                settings->layers & ~VARVE_LAYER_ALL);
    if (settings->metrics != NULL)
        VV_TRY(vv_options_check_metrics(settings->metrics, error));
    return check_devices(settings->devices, settings->device_count, error);
}

VARVE_API enum varve_code
varve_profiling_config_create(const struct varve_profiling_settings *settings,
                              struct varve_profiling_config **out_config, struct varve_error *error)
{
    const struct varve_profiling_settings standard = VARVE_PROFILING_SETTINGS_INIT;
    if (settings == NULL)
        settings = &standard;
    if (out_config == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_profiling_config_create: out_config is NULL");
    VV_TRY(check(settings, error));
    struct varve_profiling_config *config = calloc(1, sizeof *config);
    bool is_whole = config != NULL;
    if (is_whole && settings->metrics != NULL) {
        config->metrics = strdup(settings->metrics);
        is_whole = config->metrics != NULL;
    }
    if (!is_whole) {
        vv_profiling_config_free(config);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a configuration");
    }
    config->layers = settings->layers;
    if (settings->struct_size >= sizeof *settings)
        config->switches = settings->switches;
    config->device_count = settings->device_count;
    if (settings->device_count > 0)
        memcpy(config->devices, settings->devices,
               settings->device_count * sizeof *settings->devices);
    *out_config = config;
    return VARVE_OK;
}

void vv_profiling_config_free(struct varve_profiling_config *config)
{
    if (config == NULL)
        return;
    free(config->metrics);
    free(config);
}

static void set_from_options(struct vv_session_manner *manner, const struct vv_options *options)
{
    manner->max_bytes = options->max_bytes;
    manner->reserve = options->reserve;
    manner->is_shared = options->is_shared;
    manner->grow = options->grow;
    manner->keep_bytes = options->keep.bytes;
    manner->keep_ns = options->keep.ns;
    manner->dump_signal = options->dump_signal;
    manner->metrics = options->metrics;
}

void vv_profiling_set_manner(struct vv_session_manner *manner, const struct vv_options *options,
                             const struct varve_profiling_config *config)
{
    if (options != NULL)
        set_from_options(manner, options);
    if (config != NULL && config->metrics != NULL)
        manner->metrics = config->metrics;
}
