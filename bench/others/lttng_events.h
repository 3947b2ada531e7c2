/* SPDX-License-Identifier: Apache-2.0 */
/* lttng_events.h — the two trace points of lttng_ust.c. LTTng's headers read this file several
 * times. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER varve_bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "others/lttng_events.h"

#if !defined(VARVE_BENCH_LTTNG_EVENTS_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define VARVE_BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

TRACEPOINT_EVENT(varve_bench, begin, TP_ARGS(uint32_t, name),
                 TP_FIELDS(ctf_integer(uint32_t, name, name)))
TRACEPOINT_EVENT(varve_bench, end, TP_ARGS(uint32_t, name),
                 TP_FIELDS(ctf_integer(uint32_t, name, name)))

#endif

#include <lttng/tracepoint-event.h>
