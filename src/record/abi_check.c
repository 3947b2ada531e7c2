/* SPDX-License-Identifier: Apache-2.0 */
/* abi_check.c — checks what programs compile in from include/varve, which can therefore never
 * change: layouts, and numbers that traces contain (doc/format.md §6). The file has no code: the
 * compiler checks it on every machine. The folder abi/ keeps what the exported functions take. */
#include <stddef.h>

#include "varve/exec.h"
#include "varve/trace_points.h"
#include "varve/values.h"
#include "varve/varve.h"

#define VV_PLACED(type, member, offset) \
    _Static_assert(offsetof(struct type, member) == (offset), "ABI 0: " #type "." #member)

/* The inline functions of varve.h read this struct. */
VV_PLACED(varve_control, layers, 0);
VV_PLACED(varve_control, observers, 4); /* one load reads both */
VV_PLACED(varve_control, steps, 8);
_Static_assert(sizeof(struct varve_control) == 4096, "ABI 0: a page");

/* The macro VARVE_SITE initialises this struct. */
VV_PLACED(varve_site, name, 0);
VV_PLACED(varve_site, file, 8);
VV_PLACED(varve_site, line, 16);
VV_PLACED(varve_site, layer, 20);
VV_PLACED(varve_site, state, 24);
_Static_assert(sizeof(struct varve_site) == 32, "ABI 0: sites lie in arrays");

VV_PLACED(varve_tensor, dims, 8);
_Static_assert(sizeof(struct varve_tensor) == 16, "ABI 0: tensors lie in arrays");

/* Structs with a struct_size may only grow. */
VV_PLACED(varve_op_info, struct_size, 0);
VV_PLACED(varve_op_info, input_count, 4);
VV_PLACED(varve_op_info, inputs, 8);
VV_PLACED(varve_op_info, forward_thread, 40);
VV_PLACED(varve_op_info, outputs, 48); /* a program compiled with ABI 0 says 48 bytes            */
VV_PLACED(varve_op_info, output_formats, 88);
VV_PLACED(varve_session_options, struct_size, 0);
VV_PLACED(varve_session_options, layers, 4);
VV_PLACED(varve_session_options, output, 8);

VV_PLACED(varve_clock_info, name, 8);
VV_PLACED(varve_clock_info, resolution_ns, 24);
VV_PLACED(varve_track_info, name, 8);
VV_PLACED(varve_track_info, device, 16);
VV_PLACED(varve_track_info, stream, 32);
VV_PLACED(varve_activity_info, name, 8);
VV_PLACED(varve_activity_info, kind, 16);
VV_PLACED(varve_activity_info, bytes, 48);
VV_PLACED(varve_device_counter_info, name, 8);
VV_PLACED(varve_device_counter_info, value, 24);

VV_PLACED(varve_trace_options, fp_point, 8);
VV_PLACED(varve_trace_options, bp_point, 16);
VV_PLACED(varve_mark_info, tag, 8);
VV_PLACED(varve_mark_info, stream, 40);
VV_PLACED(varve_trace_point, graph, 16);
VV_PLACED(varve_trace_point, before_tag, 40);
VV_PLACED(varve_trace_point, reason, 64);
VV_PLACED(varve_key, state, 8);
_Static_assert(sizeof(struct varve_key) == 16, "ABI 0: the macro VARVE_KEY initialises it");
VV_PLACED(varve_arg, kind, 8);
VV_PLACED(varve_arg, value, 16);
_Static_assert(sizeof(struct varve_arg) == 24, "ABI 0: arguments lie in arrays");
VV_PLACED(varve_collective_info, operation, 8);
VV_PLACED(varve_collective_info, number, 48);
VV_PLACED(varve_collective_info, ranks, 80);
VV_PLACED(varve_activity_values, collective, 16);
VV_PLACED(varve_backward, forward_thread, 8);
_Static_assert(sizeof(struct varve_backward) == 16, "ABI 0: the library writes all of it");

VV_PLACED(varve_graph_tensor, dims, 16);
VV_PLACED(varve_graph_tensor, identity, 32);
_Static_assert(sizeof(struct varve_graph_tensor) == 40, "ABI 0: tensors lie in arrays");
VV_PLACED(varve_graph_node, origins, 24);
VV_PLACED(varve_graph_node, stream, 48);
VV_PLACED(varve_graph_node, contexts, 88);
VV_PLACED(varve_graph_node, parent_input, 108);
VV_PLACED(varve_graph_edge, to_input, 12);
VV_PLACED(varve_graph_info, edge_count, 16);
VV_PLACED(varve_graph_info, graph_id, 48);
VV_PLACED(varve_placement, offset, 16);
VV_PLACED(varve_placement, last_use, 36);
VV_PLACED(varve_model_info, name, 8);
VV_PLACED(varve_model_info, session_id, 24);
VV_PLACED(varve_executor_event, graph, 12);
VV_PLACED(varve_executor_event, step, 24);
VV_PLACED(varve_task_info, model, 12);
VV_PLACED(varve_task_info, step, 16);

/* varve_error has no struct_size: the library writes all of it. */
VV_PLACED(varve_error, os_errno, 4);
VV_PLACED(varve_error, offset, 8);
VV_PLACED(varve_error, message, 16);
_Static_assert(sizeof(struct varve_error) == 528, "ABI 0: varve_error");

_Static_assert(VARVE_INTERNAL == 13, "ABI 0: codes are only appended");
_Static_assert(VARVE_BOOL == 15 && VARVE_C128 == 17 && VARVE_BITS == 25, "doc/format.md §6: dtype");
_Static_assert(VARVE_ACTIVITY_KERNEL == 1 && VARVE_ACTIVITY_OTHER == 6, "doc/format.md §6: kinds");
_Static_assert(VARVE_POINT_MODEL == 1 && VARVE_POINT_STEP == 7, "doc/trace-points.md: kinds");
_Static_assert(VARVE_ARG_INT == 1 && VARVE_ARG_REALS == 8, "doc/format.md §6: kinds of arguments");
_Static_assert(VARVE_TASK_MIX_AIC == 5 && VARVE_TASK_COPY == 15, "doc/format.md §6: task types");
_Static_assert(VARVE_CLOCK_TICKS == 1 && VARVE_CLOCK_REALTIME == 4, "doc/format.md §6: clocks");
_Static_assert(VARVE_LAYER_METRIC == 0x400 && VARVE_LAYER_ALL == 0x7ff, "doc/format.md §6: layers");
