/* SPDX-License-Identifier: Apache-2.0 */
#include "record/process_clock.h"

#include <time.h>

#include "record/site.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"
#include "varve/device.h"

#define CLOCK_EVERY_NS UINT64_C(1000000000)
#define FIRST_REFINE_NS UINT64_C(100000000)
#define RAW_TRIES 20

static uint32_t raw_serial; /* the session that has pairs of CLOCK_MONOTONIC_RAW; 0 = none        */

/* Reads the clock between two readings of ours; the closest two count. */
static void put_raw_pair(void)
{
    uint64_t best_ticks = UINT64_MAX;
    uint64_t record[] = { VV_EVENT_CLOCK_PAIR, VARVE_CLOCK_MONOTONIC_RAW, 0, 0, 0 };
    if (raw_serial == 0 || raw_serial != vv_session.serial)
        return;
    for (int i = 0; i < RAW_TRIES; i++) {
        struct timespec now;
        uint64_t before = vv_clock_ticks();
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        uint64_t taken_ticks = vv_clock_ticks() - before;
        if (taken_ticks >= best_ticks)
            continue;
        best_ticks = taken_ticks;
        record[2] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        record[3] = before + taken_ticks / 2;
    }
    record[4] = (uint64_t)((vv_u128)best_ticks * 500000000 / vv_session.frequency_hz) + 1;
    (void)vv_process_stream_put(record, 5);
}

void vv_process_clock_want_raw(void)
{
    if (raw_serial == vv_session.serial)
        return;
    raw_serial = vv_session.serial;
    put_raw_pair();
}

/* Writes a clock record, and the time that recording has cost so far. */
static void put_clock(const struct vv_clock_sample *sample)
{
    const uint64_t cost[] = { VV_EVENT_COST, vv_session.slow_ns };
    (void)vv_process_stream_put(cost, 2);
    const uint64_t record[] = { VV_EVENT_CLOCK, sample->ticks, sample->monotonic_ns,
                                (uint64_t)sample->realtime_ns, sample->uncertainty_ns };
    (void)vv_process_stream_put(record, 5);
    put_raw_pair();
}

static void refine_frequency(void)
{
    struct vv_session *session = &vv_session;
    uint64_t hz = vv_clock_frequency(&session->begin, &session->latest);
    if (hz != 0 && vv_clock_is_counter && hz != session->frequency_hz) {
        session->frequency_hz = hz;
        (void)vv_metadata_write();
    }
}

static void sample_clock(void)
{
    struct vv_session *session = &vv_session;
    vv_clock_sample(&session->latest, session->frequency_hz);
    put_clock(&session->latest);
}

void vv_process_clock_begin(void)
{
    static uint64_t measured_hz; /* measured once in a process: that takes a millisecond */
    struct vv_session *session = &vv_session;
    if (measured_hz == 0)
        measured_hz = vv_clock_measure();
    session->frequency_hz = measured_hz != 0 ? measured_hz : UINT64_C(1000000000);
    session->precision_ticks = vv_clock_is_counter ? session->frequency_hz / 100000000 + 1 : 1;
    vv_clock_sample(&session->begin, session->frequency_hz);
    session->latest = session->begin;
    session->refine_ns = FIRST_REFINE_NS;
}

void vv_process_clock_put_first(void)
{
    put_clock(&vv_session.begin);
}

void vv_process_clock_put_due(void)
{
    struct vv_session *session = &vv_session;
    if (vv_clock_monotonic_ns() - session->latest.monotonic_ns < CLOCK_EVERY_NS)
        return;
    sample_clock();
    uint64_t age_ns = session->latest.monotonic_ns - session->begin.monotonic_ns;
    if (age_ns < session->refine_ns)
        return;
    while (session->refine_ns <= age_ns)
        session->refine_ns *= 10;
    refine_frequency();
}

void vv_process_clock_put_last(void)
{
    struct vv_session *session = &vv_session;
    sample_clock();
    if (session->latest.monotonic_ns - session->begin.monotonic_ns >= FIRST_REFINE_NS)
        refine_frequency();
}
