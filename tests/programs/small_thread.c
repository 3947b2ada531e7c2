/* SPDX-License-Identifier: Apache-2.0 */
/* small_thread.c — a session of a thread with the smallest stack there is, 16 KiB.
 *
 * small_thread [NAME]: the thread starts the session, into NAME or where it goes by itself, records
 * 2,000 steps of an operator with 32 inputs and outputs, a range with a name and a flow, names
 * itself and the process, switches layers, writes dump.varve, and stops. Prints how many bytes of
 * the stack were touched, the C library's own part included. Below the stack nothing is mapped. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "varve/varve.h"

#define GUARD_BYTES ((size_t)64 << 10)
#define TENSORS 32u

VARVE_SITE(operator_site, "operator", VARVE_LAYER_OP);
VARVE_SITE(flow_site, "flow", VARVE_LAYER_OP);

static const int64_t dims[] = { 3, 4, 5, 6, 7, 8, 9, 10 };
static struct varve_tensor tensors[TENSORS];
static uint64_t ids[TENSORS];
static const char *formats[TENSORS];

static void prepare(void)
{
    for (unsigned i = 0; i < TENSORS; i++) {
        tensors[i] = (struct varve_tensor){ VARVE_F32, sizeof dims / sizeof *dims, dims };
        ids[i] = i + 1;
        formats[i] = "NCHW";
    }
}

static void step(int64_t index)
{
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.inputs = info.outputs = tensors;
    info.input_count = info.output_count = TENSORS;
    info.input_ids = info.output_ids = ids;
    info.input_formats = info.output_formats = formats;
    varve_step_begin(index);
    varve_begin(&operator_site);
    varve_op(&info);
    varve_flow_out(&flow_site, (uint64_t)index);
    varve_end();
    varve_begin_name("named", VARVE_LAYER_OP);
    varve_end();
    varve_step_end();
}

static struct varve_error error; /* the thread prints nothing: printf takes more than its stack  */

static void *record(void *name)
{
    struct varve_session_options options = { .struct_size = sizeof options, .output = name };
    enum varve_code code = varve_session_start(&options, &error);
    for (int64_t i = 0; i < 2000; i++)
        step(i);
    varve_thread_name("small");
    varve_process_name("program");
    (void)varve_layers_set(varve_layers_set(VARVE_LAYER_STEP));
    if (code == VARVE_OK)
        code = varve_session_dump("dump.varve", &error);
    if (code == VARVE_OK)
        code = varve_session_stop(&error);
    return code == VARVE_OK ? NULL : &error;
}

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)PTHREAD_STACK_MIN;
    char *memory =
        mmap(NULL, GUARD_BYTES + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    void *failure;
    size_t clean = 0;
    if (memory == MAP_FAILED || mprotect(memory + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0)
        return 97;
    prepare();
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, memory + GUARD_BYTES, bytes) != 0 ||
        pthread_create(&thread, &attributes, record, argc > 1 ? argv[1] : NULL) != 0)
        return 98;
    pthread_join(thread, &failure);
    while (clean < bytes && memory[GUARD_BYTES + clean] == 0)
        clean++;
    printf("%zu\n", bytes - clean);
    if (failure != NULL)
        fprintf(stderr, "%s\n", error.message);
    return failure != NULL;
}
