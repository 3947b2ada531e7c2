/* SPDX-License-Identifier: Apache-2.0 */
/* process_clock.h — clock records in the process's stream, and the clock's frequency in its
 * metadata.
 *
 * The recorder has no thread for this. Any thread in the slow path writes a clock record and a
 * better frequency when they are due (at least once a second while anything is recorded). All these
 * functions need the lock. */
#ifndef VV_RECORD_PROCESS_CLOCK_H
#define VV_RECORD_PROCESS_CLOCK_H

/* Called when the process gets a folder: measures the frequency and takes the first sample. */
void vv_process_clock_begin(void);
/* Writes the first sample into the stream. */
void vv_process_clock_put_first(void);
/* Writes a clock record and a better frequency, if they are due. */
void vv_process_clock_put_due(void);
/* Writes them at once: the process may be about to end. */
void vv_process_clock_put_last(void);
/* From now on this session has pairs of CLOCK_MONOTONIC_RAW beside the clock records. */
void vv_process_clock_want_raw(void);

#endif
