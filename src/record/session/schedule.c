/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/schedule.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/os.h"
#include "record/control/control.h"
#include "record/control/window.h"
#include "record/process_folder.h"
#include "record/stream/recorder.h"
#include "varve/control.h"

static struct vv_schedule current;
static uint64_t begun_steps;
static enum vv_schedule_phase told_phase; /* to devices: record/control/window.h */
static struct {
    const struct vv_self *self; /* NULL: no thread has made a step yet                          */
    uint64_t tid;
} stepper;

void vv_schedule_begin(const struct vv_schedule *schedule)
{
    current = *schedule;
    begun_steps = 0;
    told_phase = VV_SCHEDULE_SKIP;
    stepper.self = NULL;
    vv_control_count_steps(current.active != 0);
}

void vv_schedule_end(void)
{
    current.active = 0;
    vv_control_count_steps(false);
}

static bool is_alive(uint64_t tid)
{
    return syscall(SYS_tgkill, getpid(), (int)tid, 0) == 0 || errno != ESRCH;
}

static bool is_stepper(void)
{
    if (stepper.self == &vv_self)
        return true;
    if (stepper.self != NULL && is_alive(stepper.tid))
        return false;
    stepper.self = &vv_self;
    stepper.tid = vv_os_tid();
    return true;
}

static void switch_to(bool is_active)
{
    if (is_active != (varve_layers() != 0))
        vv_control_switch(is_active ? vv_session.wanted_layers : 0, VARVE_PROFILING_BY_SCHEDULE);
}

static void on_step_begin(void)
{
    enum vv_schedule_phase phase = vv_schedule_phase(&current, begun_steps++);
    switch_to(phase == VV_SCHEDULE_ACTIVE);
    if (phase == VV_SCHEDULE_WARMUP)
        (void)vv_process_folder_ensure(); /* made now, so that no active step waits for it */
    if (phase == VV_SCHEDULE_OVER)
        vv_schedule_end();
}

static void on_step_end(void)
{
    if (begun_steps == 0)
        return;
    enum vv_schedule_phase next = vv_schedule_phase(&current, begun_steps);
    if (next != VV_SCHEDULE_ACTIVE)
        switch_to(false);
    if (next == VV_SCHEDULE_OVER)
        vv_schedule_end();
}

/* Does this begin or end of a step change the phase? Recording starts with a step and stops with
 * one, so a phase that records begins with a step, and ends with its last one. */
static bool changes_phase(int begins)
{
    if (begins == 0 && begun_steps == 0)
        return false;
    enum vv_schedule_phase phase = vv_schedule_phase(&current, begun_steps), former = told_phase;
    if (begins == 0 && former != VV_SCHEDULE_ACTIVE)
        return false;
    told_phase = phase;
    return phase != former;
}

/* Devices are waited for without the lock. */
static void tell_phase(int begins)
{
    if (!vv_window_is_heard() || !vv_recorder_lock())
        return;
    bool is_new = vv_session.running && current.active != 0 && is_stepper() &&
                  changes_phase(begins);
    vv_recorder_unlock();
    if (is_new)
        vv_window_phase();
}

VARVE_API void varve_emit_schedule(int begins)
{
    uint32_t steps = __atomic_load_n(&varve_control_page.steps, __ATOMIC_RELAXED);
    if ((steps & VV_STEPS_COUNTED) != 0) {
        tell_phase(begins);
        if (!vv_recorder_lock())
            return;
        steps = __atomic_load_n(&varve_control_page.steps, __ATOMIC_RELAXED);
        if ((steps & VV_STEPS_COUNTED) != 0 && vv_session.running && is_stepper())
            (begins ? on_step_begin : on_step_end)();
        vv_recorder_unlock();
    }
    vv_control_tell();
}
