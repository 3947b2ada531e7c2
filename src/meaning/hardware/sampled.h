/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.h — counters of a device's track that CUPTI samples: each value is of the time from its
 * own to the next one's. All are shares of what the hardware could have done, in percent. */
#ifndef VV_MEANING_HARDWARE_SAMPLED_H
#define VV_MEANING_HARDWARE_SAMPLED_H

#define VV_COUNTER_SM_ACTIVE "SM active (%)"
#define VV_COUNTER_SM_ISSUE "SM issue (%)"
#define VV_COUNTER_WARPS "warps in flight (%)"
#define VV_COUNTER_TENSOR "tensor cores active (%)"
#define VV_COUNTER_DRAM_READ "DRAM read (%)"
#define VV_COUNTER_DRAM_WRITE "DRAM write (%)"

#define VV_COUNTER_SAMPLES_LOST "hardware samples lost (times)" /* since the begin             */

#endif
