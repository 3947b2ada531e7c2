/* SPDX-License-Identifier: Apache-2.0 */
/* launched.c — counts calls that start work of a device which is not in the trace: once all calls
 * and all work are known. */
#include <string.h>

#include "import/varve/records/devices.h"
#include "import/varve/records/stream.h"

/* Words in the names of calls that start work of a device, whatever their other words. Other calls
 * have a number, too, and mostly no work: waits, events, memory. */
static bool starts_work(const char *name)
{
    static const char *const words[] = { "Launch", "Memcpy", "Memset" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

/* Launches of one call follow each other: work of any of them is the call's. */
static void count_workless(struct vv_process_reader *process, const struct vv_key_map *done)
{
    const struct vv_devices_said *said = &process->devices;
    const struct vv_model *model = process->model;
    for (size_t i = 0, next; i < said->launches.count; i = next) {
        uint32_t slice = said->launches.items[i].slice;
        bool has_work = false;
        for (next = i; next < said->launches.count && said->launches.items[next].slice == slice;
             next++)
            has_work = has_work ||
                       vv_key_map_get(done, said->launches.items[next].correlation) != VV_KEY_NONE;
        if (!has_work &&
            starts_work(vv_intern_text(&model->strings, model->slices.name[slice])))
            process->model->health.workless++;
    }
}

enum varve_code vv_device_launches_check(struct vv_process_reader *process,
                                         struct varve_error *error)
{
    const struct vv_devices_said *said = &process->devices;
    struct vv_key_map done = { 0 };
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < said->work.count && said->launches.count > 0 && code == VARVE_OK; i++)
        code = vv_key_map_put(&done, said->work.items[i].correlation, 1, error);
    if (code == VARVE_OK)
        count_workless(process, &done);
    vv_key_map_deinit(&done);
    return code;
}
