/* SPDX-License-Identifier: Apache-2.0 */
/* track.h — the clocks and tracks of devices. The tables last as long as the process. A session
 * that uses a track for the first time writes its records, as it does with strings. */
#ifndef VV_RECORD_TRACK_H
#define VV_RECORD_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/must_use.h"
#include "varve/device.h"

/* Clocks of devices are numbered from here on (doc/format.md §6). */
#define VV_DEVICE_CLOCK_FIRST 16u

/* Copies the info, and returns the number of its row; 0: no room, or no memory. Lock held. */
uint32_t vv_device_clock_keep(const struct varve_clock_info *info);
uint32_t vv_track_keep(const struct varve_track_info *info);
/* Need no lock. */
bool vv_device_clock_is_there(uint32_t clock);
bool vv_track_is_there(uint32_t track);

/* Keeps the pair, and writes it into the session, if there is one. Lock held. False: it could not
 * be written. */
VV_MUST_USE bool vv_device_clock_met(uint32_t clock, int64_t value, uint64_t ticks,
                                      uint64_t uncertainty_ns);
/* Makes sure that the track has its record in this session, and so has its clock. Lock held. */
VV_MUST_USE bool vv_track_write(uint32_t track);
/* Has the track its record in the session `serial`? Needs no lock. */
bool vv_track_is_in(uint32_t track, uint32_t serial);

#endif
