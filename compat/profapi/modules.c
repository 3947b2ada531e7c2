/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c — one recursive lock guards the list and is held while callbacks run, so that each
 * module is told everything once and in order. The control API's lock is always taken before it. */
#include "profapi/modules.h"

#include <pthread.h>
#include <string.h>

#include "ascend/mask.h"
#include "varve/control.h"

#define MODULES_MAX 64u

_Static_assert(sizeof(struct MsprofCommandHandle) == 5424, "the documented layout");

static struct {
    struct { uint32_t module; ProfCommandHandle handle; } modules[MODULES_MAX];
    uint32_t count;
    bool is_init, is_started;
    struct MsprofCommandHandle command; /* the last start                                       */
    uint32_t devices[MSPROF_MAX_DEV_NUM]; /* opened                                             */
    uint32_t device_count;
} all;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local unsigned telling;

static void tell_one(ProfCommandHandle handle, uint32_t control, void *data, uint32_t length)
{
    telling++;
    (void)handle(control, data, length);
    telling--;
}

static void tell_switch(ProfCommandHandle handle, uint32_t type)
{
    struct MsprofCommandHandle command = { 0 };
    if (type == PROF_COMMANDHANDLE_TYPE_START || type == PROF_COMMANDHANDLE_TYPE_STOP)
        command = all.command;
    command.type = type;
    tell_one(handle, PROF_CTRL_SWITCH, &command, sizeof command);
}

/* The modules that are first come first; then the rest, as registered. */
static void tell_in_order(const uint32_t order[3], uint32_t control, void *data, uint32_t length)
{
    uint32_t count = all.count; /* who registers meanwhile is told by that                      */
    for (unsigned place = 0; place <= 3; place++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t module = all.modules[i].module;
            unsigned first = 0;
            while (first < 3 && order[first] != module)
                first++;
            if (first != place)
                continue;
            if (data != NULL)
                tell_one(all.modules[i].handle, control, data, length);
            else
                tell_switch(all.modules[i].handle, control);
        }
}

static const uint32_t start_order[3] = { MSPROF_MODULE_RUNTIME, MSPROF_MODULE_ASCENDCL,
                                         MSPROF_MODULE_GE };
static const uint32_t stop_order[3] = { MSPROF_MODULE_GE, MSPROF_MODULE_ASCENDCL,
                                        MSPROF_MODULE_RUNTIME };

static void tell_all(uint32_t type)
{
    bool ends = type == PROF_COMMANDHANDLE_TYPE_STOP || type == PROF_COMMANDHANDLE_TYPE_FINALIZE;
    tell_in_order(ends ? stop_order : start_order, type, NULL, 0);
}

/* ---- what holds ---- */

static void init(void)
{
    if (all.is_init)
        return;
    all.is_init = true;
    tell_all(PROF_COMMANDHANDLE_TYPE_INIT);
}

static void stop(void)
{
    if (!all.is_started)
        return;
    tell_all(PROF_COMMANDHANDLE_TYPE_STOP);
    all.is_started = false;
}

static void finalize(void)
{
    stop();
    if (all.is_init)
        tell_all(PROF_COMMANDHANDLE_TYPE_FINALIZE);
    all.is_init = false;
}

/* A module refuses a command without a device: without any, number 0 stands in. */
static void name_devices(struct MsprofCommandHandle *out,
                         const struct varve_profiling_command *command)
{
    const uint32_t *devices = command->device_count > 0 ? command->devices : all.devices;
    out->devNums = command->device_count > 0 ? command->device_count : all.device_count;
    if (out->devNums > MSPROF_MAX_DEV_NUM)
        out->devNums = MSPROF_MAX_DEV_NUM;
    memcpy(out->devIdList, devices, out->devNums * sizeof *devices);
    if (out->devNums == 0)
        out->devIdList[out->devNums++] = 0;
}

static void start(const struct varve_profiling_command *command)
{
    uint64_t mask = command->switches != 0 ? vv_mask_completed(command->switches)
                                           : vv_mask_of_layers(command->layers);
    struct MsprofCommandHandle *out = &all.command;
    init();
    memset(out, 0, sizeof *out);
    out->profSwitch = vv_mask_to_program(mask);
    name_devices(out, command);
    if (command->options != NULL) {
        size_t length = strnlen(command->options, PARAM_LEN_MAX + 1u);
        if (length <= PARAM_LEN_MAX) { /* a cut text would say something else */
            memcpy(out->params.profData, command->options, length);
            out->params.profDataLen = (uint32_t)length;
        }
    }
    all.is_started = true;
    tell_all(PROF_COMMANDHANDLE_TYPE_START);
}

static void on_switch(const struct varve_profiling_command *command, void *context)
{
    (void)context;
    pthread_mutex_lock(&lock);
    switch (command->event) {
    case VARVE_PROFILING_INIT: init(); break;
    case VARVE_PROFILING_START: start(command); break;
    case VARVE_PROFILING_STOP: stop(); break;
    case VARVE_PROFILING_FINALIZE: finalize(); break;
    default: break;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- for the interface ---- */

void vv_modules_listen(void)
{
    static int listens;
    if (__atomic_exchange_n(&listens, 1, __ATOMIC_ACQ_REL) == 0 &&
        varve_profiling_callback_add(on_switch, NULL, NULL) != VARVE_OK)
        __atomic_store_n(&listens, 0, __ATOMIC_RELEASE); /* from a callback: the next call tries */
}

bool vv_modules_add(uint32_t module, ProfCommandHandle handle)
{
    vv_modules_listen();
    pthread_mutex_lock(&lock);
    bool has_room = all.count < MODULES_MAX;
    if (has_room) {
        all.modules[all.count].module = module;
        all.modules[all.count].handle = handle;
        all.count++;
        if (all.is_init)
            tell_switch(handle, PROF_COMMANDHANDLE_TYPE_INIT);
        if (all.is_started)
            tell_switch(handle, PROF_COMMANDHANDLE_TYPE_START);
    }
    pthread_mutex_unlock(&lock);
    return has_room;
}

void vv_modules_init(void)
{
    vv_modules_listen();
    pthread_mutex_lock(&lock);
    init();
    pthread_mutex_unlock(&lock);
}

void vv_modules_finalize(void)
{
    pthread_mutex_lock(&lock);
    finalize();
    pthread_mutex_unlock(&lock);
}

void vv_modules_tell(uint32_t control, void *data, uint32_t length)
{
    const struct MsprofCommandHandle *command = data;
    bool ends = control == PROF_CTRL_SWITCH && command->type != PROF_COMMANDHANDLE_TYPE_INIT &&
                command->type != PROF_COMMANDHANDLE_TYPE_START;
    pthread_mutex_lock(&lock);
    tell_in_order(ends ? stop_order : start_order, control, data, length);
    pthread_mutex_unlock(&lock);
}

bool vv_modules_is_telling(void)
{
    return telling != 0;
}

void vv_modules_device(uint32_t device, bool is_open)
{
    uint32_t at = 0;
    pthread_mutex_lock(&lock);
    while (at < all.device_count && all.devices[at] != device)
        at++;
    if (is_open && at == all.device_count && at < MSPROF_MAX_DEV_NUM)
        all.devices[all.device_count++] = device;
    else if (!is_open && at < all.device_count)
        all.devices[at] = all.devices[--all.device_count];
    pthread_mutex_unlock(&lock);
}

/* A child has one thread, which may be any of its parent's. */
static void after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    memcpy(&lock, &fresh, sizeof lock);
}

__attribute__((constructor)) static void on_load(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}
