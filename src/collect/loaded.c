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

enum work {
    NO_WORK,
    IF_LINKED, /* of a program that is linked to it: nothing records it without being asked    */
    IF_LOADED  /* of a program that loads it later, too: no collector hears its operators      */
};

/* A library of note. Its file name is `file`, up to a character that is no letter. If the library
 * is there without a device, `device` is a file that only the device's driver makes. */
static const struct library {
    const char *file, *name, *device;
    enum work work;
} libraries[] = {
    { "libcuda", "cuda", NULL, IF_LINKED }, /* comes with the driver; the runtime loads it      */
    { "libamdhip", "rocm", "/dev/kfd", IF_LINKED },
    { "libascendcl", "ascend", "/dev/davinci0", IF_LINKED },
    /* libOpenCL itself may be there unused, by Debian's libtorch for example. It loads the drivers
     * when a program asks for the platforms. */
    { "libpocl", "opencl", NULL, IF_LINKED },
    { "libnvidia-opencl", "opencl", NULL, IF_LINKED },
    { "libamdocl", "opencl", NULL, IF_LINKED },
    { "libigdrcl", "opencl", NULL, IF_LINKED },
    { "libintelocl", "opencl", NULL, IF_LINKED },
    { "libRusticlOpenCL", "opencl", NULL, IF_LINKED },
    { "libmali", "opencl", NULL, IF_LINKED },
    { "libtpu", "tpu", NULL, IF_LINKED },
    { "libmpi", "mpi", NULL, IF_LINKED },
    { "libmpich", "mpi", NULL, IF_LINKED },
    { "libnccl", "nccl", NULL, NO_WORK },
    { "librccl", "rccl", NULL, NO_WORK },
    { "libgomp", "openmp", NULL, IF_LINKED },
    { "libomp", "openmp", NULL, IF_LINKED },
    { "libiomp", "openmp", NULL, IF_LINKED },
    { "libopenblas", "blas", NULL, NO_WORK },
    { "libscipy_openblas", "blas", NULL, NO_WORK },
    { "libmkl_core", "blas", NULL, NO_WORK },
    { "libtbb", "tbb", NULL, NO_WORK },
    { "libtorch_cpu", "torch", NULL, NO_WORK },
    { "libtensorflow_framework", "tensorflow", NULL, IF_LOADED },
    { "libtensorflow_cc", "tensorflow", NULL, IF_LOADED },
    { "libjax_common", "jax", NULL, IF_LOADED },
    { "xla_extension", "jax", NULL, IF_LOADED },
    { "libonnxruntime", "onnxruntime", NULL, IF_LOADED },
    { "onnxruntime_pybind", "onnxruntime", NULL, IF_LOADED },
    { "libpaddle", "paddle", NULL, IF_LOADED },
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

bool vv_loaded_look(bool is_start)
{
    static uint32_t known;
    uint32_t found = known;
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1];
    enum work least = is_start ? IF_LINKED : IF_LOADED;
    bool is_work = false;
    int saved_errno = errno;
    dl_iterate_phdr(add, &found);
    for (unsigned i = 0; i < LIBRARIES; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if ((found & bit & ~known) != 0 && libraries[i].device != NULL &&
            access(libraries[i].device, F_OK) != 0)
            found &= ~bit;
        is_work = is_work || ((found & bit) != 0 && libraries[i].work >= least);
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
