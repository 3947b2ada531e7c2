/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/host_role.h"

#include <string.h>

#include "model/once.h"
#include "varve/varve.h"

/* ---- by name ---- */

enum place { HOLDS, BEGINS, ENDS };

/* The first word that fits counts. SYNC and ALLOCATION count only for calls: an operator is no
 * call, whatever its name. "Compiled" means code that runs, not compiling. For Python frames the
 * path decides, not a word. */
static const struct word { const char *part; uint8_t place, role; } words[] = {
    { "enumerate(DataLoader)#", BEGINS, VV_HOST_LOADER },
    { "enumerate(DataPipe)#", BEGINS, VV_HOST_LOADER },
    { "IteratorGetNext", HOLDS, VV_HOST_LOADER },
    { "Iterator::", BEGINS, VV_HOST_LOADER },
    /* what the thread of the steps does; "load_batch" is work, of a thread that reads ahead */
    { "next_batch", HOLDS, VV_HOST_LOADER },
    { "NextBatch", HOLDS, VV_HOST_LOADER },
    { "next batch", HOLDS, VV_HOST_LOADER },
    { "wait_for_batch", HOLDS, VV_HOST_LOADER },
    { "data_loader", HOLDS, VV_HOST_LOADER },
    { "nccl:", BEGINS, VV_HOST_COMM },
    { "gloo:", BEGINS, VV_HOST_COMM },
    { "rccl:", BEGINS, VV_HOST_COMM },
    { "hccl:", BEGINS, VV_HOST_COMM },
    { "xccl:", BEGINS, VV_HOST_COMM },
    { "ucc:", BEGINS, VV_HOST_COMM },
    { "mpi:", BEGINS, VV_HOST_COMM },
    { "Synchronize", HOLDS, VV_HOST_SYNC },
    { "BlockHostUntil", HOLDS, VV_HOST_SYNC },
    { "BlockUntilReady", HOLDS, VV_HOST_SYNC },
    { "clFinish", BEGINS, VV_HOST_SYNC },
    { "clWaitForEvents", BEGINS, VV_HOST_SYNC },
    { "clEnqueueRead", BEGINS, VV_HOST_SYNC }, /* one that does not block takes no time         */
    { "clEnqueueMap", BEGINS, VV_HOST_SYNC },
    { "cudaMemcpy", ENDS, VV_HOST_SYNC }, /* without Async                                      */
    { "hipMemcpy", ENDS, VV_HOST_SYNC },
    { "hipMemcpyWithStream", ENDS, VV_HOST_SYNC },
    { "Malloc", HOLDS, VV_HOST_ALLOCATION },
    { "clCreateBuffer", BEGINS, VV_HOST_ALLOCATION },
    { "clSVMAlloc", BEGINS, VV_HOST_ALLOCATION },
    { "clReleaseMemObject", BEGINS, VV_HOST_ALLOCATION },
    { "Free", HOLDS, VV_HOST_ALLOCATION },
    { "HostAlloc", HOLDS, VV_HOST_ALLOCATION },
    { "HostRegister", HOLDS, VV_HOST_ALLOCATION },
    { "MemAlloc", HOLDS, VV_HOST_ALLOCATION },
    { "MemCreate", HOLDS, VV_HOST_ALLOCATION },
    { "MemMap", HOLDS, VV_HOST_ALLOCATION },
    { "MemRelease", HOLDS, VV_HOST_ALLOCATION },
    { "MemUnmap", HOLDS, VV_HOST_ALLOCATION },
    { "gc.collect", HOLDS, VV_HOST_GC },
    { "<built-in function collect>", BEGINS, VV_HOST_GC },
    { "Python GC", HOLDS, VV_HOST_GC },
    { "Garbage Collect", HOLDS, VV_HOST_GC },
    { "HloPassPipeline", HOLDS, VV_HOST_COMPILE },
    { "clBuildProgram", BEGINS, VV_HOST_COMPILE },
    { "clLinkProgram", BEGINS, VV_HOST_COMPILE },
};

/* Files of compilers that only a compilation enters. Others of PyTorch's, as _dynamo/eval_frame.py
 * and _inductor/output_code.py, also run what was compiled, or what never is. */
static const struct word paths[] = {
    { "torch/_dynamo/convert_frame.py(", HOLDS, VV_HOST_COMPILE },
    { "torch/_inductor/compile_fx.py(", HOLDS, VV_HOST_COMPILE },
    { "torch/_inductor/codecache.py(", HOLDS, VV_HOST_COMPILE },
    { "torch/_inductor/async_compile.py(", HOLDS, VV_HOST_COMPILE },
    { "triton/compiler/", HOLDS, VV_HOST_COMPILE },
    { "jax/_src/compiler.py(", HOLDS, VV_HOST_COMPILE },
    { "jax/_src/interpreters/mlir.py(", HOLDS, VV_HOST_COMPILE },
    { "gc.collect", HOLDS, VV_HOST_GC },
};

static bool is_import(const char *frame)
{
    static const char body[] = "): <module>";
    size_t length = strlen(frame);
    return length >= sizeof body - 1 && strcmp(frame + length - (sizeof body - 1), body) == 0;
}

static bool fits(const struct word *word, const char *name)
{
    size_t length = strlen(name), part = strlen(word->part);
    if (word->place == HOLDS)
        return strstr(name, word->part) != NULL;
    if (length < part)
        return false;
    return strncmp(word->place == ENDS ? name + length - part : name, word->part, part) == 0;
}

static uint8_t word_of(const char *name)
{
    bool is_frame = strstr(name, ".py(") != NULL;
    if (is_frame && is_import(name))
        return VV_HOST_NONE;
    const struct word *list = is_frame ? paths : words;
    size_t count = is_frame ? sizeof paths / sizeof *paths : sizeof words / sizeof *words;
    for (size_t i = 0; i < count; i++)
        if (fits(&list[i], name))
            return list[i].role;
    bool is_compiling =
        !is_frame && strcasestr(name, "compile") != NULL && strcasestr(name, "compiled") == NULL;
    return is_compiling ? VV_HOST_COMPILE : VV_HOST_NONE;
}

/* ---- all together ---- */

struct finding {
    const struct vv_model *model;
    uint8_t *by_name; /* string -> 1 + role that the words gave; 0 = not looked up              */
};

static bool is_call(const struct vv_model *model, uint32_t slice)
{
    uint32_t activity = model->slices.activity[slice];
    return (model->slices.layer[slice] & (VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1)) != 0 ||
           (activity != VV_NONE && model->activities.kind[activity] == VV_ACTIVITY_CALL);
}

static enum vv_host_role role_of(const struct finding *finding, uint32_t slice)
{
    const struct vv_model *model = finding->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t name = slices->name[slice];
    uint16_t layer = slices->layer[slice];
    if ((layer & (VARVE_LAYER_STEP | VARVE_LAYER_METRIC | VARVE_LAYER_MEMORY)) != 0 ||
        (slices->flags[slice] & (VV_SLICE_STEP | VV_SLICE_PHASE | VV_SLICE_OVERHEAD)) != 0)
        return VV_HOST_NONE;
    if (finding->by_name[name] == 0)
        finding->by_name[name] = (uint8_t)(1 + word_of(vv_intern_text(&model->strings, name)));
    enum vv_host_role word = (enum vv_host_role)(finding->by_name[name] - 1);
    if (is_call(model, slice))
        return word >= VV_HOST_CALL || word == VV_HOST_COMPILE ? word : VV_HOST_CALL;
    if (layer == VARVE_LAYER_COMM)
        return VV_HOST_COMM;
    if (word != VV_HOST_NONE && word < VV_HOST_CALL)
        return word;
    if ((slices->flags[slice] & VV_SLICE_ANNOTATION) != 0)
        return VV_HOST_NONE;
    return layer == VARVE_LAYER_PYTHON ? VV_HOST_PYTHON : VV_HOST_OP;
}

static enum varve_code find_roles(const struct vv_model *model, struct vv_scratch *scratch,
                                  void *out_found, struct varve_error *error)
{
    struct vv_host_roles *out_roles = out_found;
    struct finding finding = { model, NULL };
    uint8_t *roles;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &roles, model->slices.table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &finding.by_name, model->strings.count, error));
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++)
        roles[slice] = (uint8_t)role_of(&finding, slice);
    vv_scratch_release(scratch, finding.by_name);
    *out_roles = (struct vv_host_roles){ model, roles };
    return VARVE_OK;
}

enum varve_code vv_host_roles_init(struct vv_host_roles *out_roles, const struct vv_model *model,
                                   struct varve_error *error)
{
    return vv_model_once(model, VV_ONCE_HOST_ROLES, find_roles, out_roles, sizeof *out_roles,
                         error);
}

const char *vv_host_role_text(enum vv_host_role role)
{
    static const char *const texts[VV_HOST_COUNT] = {
        [VV_HOST_NONE] = "nothing recorded", [VV_HOST_OP] = "operator",
          [VV_HOST_PYTHON] = "Python",
        [VV_HOST_GC] = "garbage collection", [VV_HOST_COMPILE] = "compile",
        [VV_HOST_LOADER] = "data loader",
        [VV_HOST_COMM] = "communication",    [VV_HOST_CALL] = "runtime call",
        [VV_HOST_ALLOCATION] = "allocation", [VV_HOST_SYNC] = "sync call",
    };
    return texts[role];
}
