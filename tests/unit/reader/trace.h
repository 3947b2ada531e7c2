/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h — a small trace of another program, as a file: two steps, two operators in each, one of
 * them with a call that starts a kernel. */
#ifndef VARVE_TESTS_READER_TRACE_H
#define VARVE_TESTS_READER_TRACE_H

#include <string.h>

#include "memory_file.h"
#include "varve/reader.h"

#define TRACE_STEP(step, at)                                                                       \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" #step                     \
    "\",\"pid\":1,\"tid\":1,\"ts\":" #at "000,\"dur\":900},"                                       \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::conv2d\",\"pid\":1,\"tid\":1,\"ts\":" #at   \
    "100,\"dur\":500,\"args\":{\"External id\":1" #step "}},"                                      \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"    \
    "\"ts\":" #at "200,\"dur\":50,\"args\":{\"correlation\":2" #step "}},"                         \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":" #at           \
    "300,\"dur\":200,\"args\":{\"correlation\":2" #step ",\"device\":0,\"stream\":7}},"            \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::relu\",\"pid\":1,\"tid\":1,\"ts\":" #at     \
    "700,\"dur\":100}"

static const char trace_text[] =
    "{\"schemaVersion\":1,\"traceEvents\":[" TRACE_STEP(1, 1) "," TRACE_STEP(2, 2) "]}";

static inline struct varve_trace *trace_open(void)
{
    const char *path = memory_file(trace_text, strlen(trace_text));
    struct varve_trace *trace = NULL;
    struct varve_error error;
    if (varve_trace_open(&path, 1, NULL, &trace, &error) != VARVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return trace;
}

#endif
