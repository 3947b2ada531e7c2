/* SPDX-License-Identifier: Apache-2.0 */
/* beside_torch.c — hears when PyTorch's profiler begins and ends, to leave CUPTI to it. This
 * library defines the same functions as PyTorch, which its Python module calls through the dynamic
 * linker, and passes each call on. That works only if this library was loaded before PyTorch.
 *
 * The profiler's parameters are references; what they refer to is not looked at. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "collect/cuda/cuda.h"
#include "collect/process/modules.h"
#include "varve/varve.h"

#define PREPARE_2                                                                                  \
    _ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3setINS3_12ActivityTypeESt4lessIS8_ESaIS8_EE
#define SCOPES                                                                                     \
    _ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3setINS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_mapIS8_St13unordered_setINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEE
#define FILTERS                                                                                    \
    _ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3setINS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_mapIS8_St13unordered_setINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEERKSF_ISM_SM_SO_SQ_SaISV_IKSM_SM_EEE
#define DISABLE _ZN5torch8autograd8profiler15disableProfilerEv
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

VARVE_API void PREPARE_2(const void *config, const void *activities);
VARVE_API void SCOPES(const void *config, const void *activities, const void *filter);
VARVE_API void FILTERS(const void *config, const void *activities, const void *filter,
                       const void *metadata);
VARVE_API void *DISABLE(void *out_result);

/* PyTorch's own function; NULL cannot be: only PyTorch calls these. */
static void *find(const char *symbol)
{
    struct vv_module library;
    void *handle = vv_module_find("libtorch_cpu.so", &library) ? vv_module_open(&library) : NULL;
    void *found = handle != NULL ? dlsym(handle, symbol) : NULL;
    if (found == NULL)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    return found;
}

void PREPARE_2(const void *config, const void *activities)
{
    void *found = find(TEXT(PREPARE_2));
    void (*former)(const void *, const void *);
    memcpy(&former, &found, sizeof former);
    vv_cuda_step_aside("torch.profiler");
    if (former != NULL)
        former(config, activities);
}

void SCOPES(const void *config, const void *activities, const void *filter)
{
    void *found = find(TEXT(SCOPES));
    void (*former)(const void *, const void *, const void *);
    memcpy(&former, &found, sizeof former);
    vv_cuda_step_aside("torch.profiler");
    if (former != NULL)
        former(config, activities, filter);
}

void FILTERS(const void *config, const void *activities, const void *filter, const void *metadata)
{
    void *found = find(TEXT(FILTERS));
    void (*former)(const void *, const void *, const void *, const void *);
    memcpy(&former, &found, sizeof former);
    vv_cuda_step_aside("torch.profiler");
    if (former != NULL)
        former(config, activities, filter, metadata);
}

/* A std::unique_ptr comes back in the caller's memory. */
void *DISABLE(void *out_result)
{
    void *found = find(TEXT(DISABLE));
    void *(*former)(void *);
    memcpy(&former, &found, sizeof former);
    void *result = former != NULL ? former(out_result) : out_result;
    vv_cuda_come_back();
    return result;
}
