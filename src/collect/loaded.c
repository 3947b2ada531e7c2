/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/loaded.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/source_note.h"

/* A library of note. Its file name is `file`, up to a character that is no letter. If the library
 * is there without a device, `device` is a file that only the device's driver makes. `is_work`: a
 * program that is linked to it does work that nothing records without being asked. */
static const struct library {
    const char *file, *name, *device;
    bool is_work;
} libraries[] = {
    { "libcuda", "cuda", NULL, true }, /* comes with the driver; the runtime loads it             */
    { "libamdhip", "rocm", "/dev/kfd", true },
    { "libascendcl", "ascend", "/dev/davinci0", true },
    /* libOpenCL itself may be there unused, by Debian's libtorch for example. It loads the drivers
     * when a program asks for the platforms. */
    { "libpocl", "opencl", NULL, true },
    { "libnvidia-opencl", "opencl", NULL, true },
    { "libamdocl", "opencl", NULL, true },
    { "libigdrcl", "opencl", NULL, true },
    { "libintelocl", "opencl", NULL, true },
    { "libRusticlOpenCL", "opencl", NULL, true },
    { "libmali", "opencl", NULL, true },
    { "libtpu", "tpu", NULL, true },
    { "libmpi", "mpi", NULL, true },
    { "libmpich", "mpi", NULL, true },
    { "libnccl", "nccl", NULL, false },
    { "librccl", "rccl", NULL, false },
    { "libgomp", "openmp", NULL, true },
    { "libomp", "openmp", NULL, true },
    { "libiomp", "openmp", NULL, true },
    { "libopenblas", "blas", NULL, false },
    { "libscipy_openblas", "blas", NULL, false },
    { "libmkl_core", "blas", NULL, false },
    { "libtbb", "tbb", NULL, false },
    { "libtorch_cpu", "torch", NULL, false },
    { "libtensorflow_framework", "tensorflow", NULL, false },
    { "libtensorflow_cc", "tensorflow", NULL, false },
    { "libjax_common", "jax", NULL, false },
    { "xla_extension", "jax", NULL, false },
    { "libonnxruntime", "onnxruntime", NULL, false },
    { "onnxruntime_pybind", "onnxruntime", NULL, false },
    { "libpaddle", "paddle", NULL, false },
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };
_Static_assert(LIBRARIES <= 32, "a bit for each");

static bool is_called(const char *file, const char *library)
{
    size_t length = strlen(library);
    char next = '\0';
    if (strncmp(file, library, length) == 0)
        next = file[length];
    else
        return false;
    return !((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z'));
}

static int add(struct dl_phdr_info *info, size_t size, void *out_found)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
    uint32_t *found = out_found;
    (void)size;
    for (unsigned i = 0; i < LIBRARIES; i++)
        if (is_called(file, libraries[i].file))
            *found |= UINT32_C(1) << i;
    return 0;
}

/* "cuda,nccl,openmp": each name once. */
static void write_names(uint32_t found, char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1])
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < LIBRARIES; i++) {
        const char *name = libraries[i].name;
        bool is_first = true;
        size_t bytes = strlen(name);
        for (unsigned former = 0; former < i; former++)
            if ((found & UINT32_C(1) << former) != 0 && strcmp(libraries[former].name, name) == 0)
                is_first = false;
        if ((found & UINT32_C(1) << i) == 0 || !is_first ||
            length + bytes + 2 > VV_COLLECTOR_TEXT_BYTES_MAX)
            continue;
        if (length > 0)
            text[length++] = ',';
        memcpy(text + length, name, bytes + 1);
        length += bytes;
    }
}

/* As launchers say it to each rank. */
static void note_world(void)
{
    static const char *const variables[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                             "SLURM_NTASKS" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *ranks = getenv(variables[i]);
        if (ranks != NULL && *ranks != '\0') {
            vv_collector_note(VV_FACT_PREFIX "world_size", VV_COLLECTOR_NOTE, ranks);
            return;
        }
    }
}

bool vv_loaded_look(void)
{
    static uint32_t known;
    uint32_t found = known;
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1];
    bool is_work = false;
    int saved_errno = errno;
    dl_iterate_phdr(add, &found);
    for (unsigned i = 0; i < LIBRARIES; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if ((found & bit & ~known) != 0 && libraries[i].device != NULL &&
            access(libraries[i].device, F_OK) != 0)
            found &= ~bit;
        is_work = is_work || ((found & bit) != 0 && libraries[i].is_work);
    }
    if (found != known) {
        if (known == 0)
            note_world();
        known = found;
        write_names(found, text);
        vv_collector_note(VV_FACT_PREFIX "loaded", VV_COLLECTOR_NOTE, text);
    }
    errno = saved_errno;
    return is_work;
}
