/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_execution_trace.c — any bytes as PyTorch's execution trace, alone and beside the profiler's
 * trace of the same run: a model whose references hold, or an error. */
#include "../support/imported_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Operators 1 to 4 of process 7, which the seeds know, too. */
static const char profile[] =
    "{\"schemaVersion\": 1, \"traceEvents\": ["
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::linear\", \"pid\": 7, \"tid\": 7,"
    " \"ts\": 1, \"dur\": 9, \"args\": {\"Record function id\": 1}},"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::addmm\", \"pid\": 7, \"tid\": 7,"
    " \"ts\": 2, \"dur\": 7, \"args\": {\"Record function id\": 2, \"Input Dims\": [[2, 4]],"
    " \"Input type\": [\"float\"]}},"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::relu_\", \"pid\": 7, \"tid\": 7,"
    " \"ts\": 11, \"dur\": 2, \"args\": {\"Record function id\": 3}},"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 8,"
    " \"ts\": 14, \"dur\": 2, \"args\": {\"Record function id\": 4}}]}";

static const char *profile_path(void)
{
    static char path[32];
    if (path[0] == '\0') {
        int file = memfd_create("profile", MFD_CLOEXEC);
        if (file < 0 || write(file, profile, sizeof profile - 1) != sizeof profile - 1)
            abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct vv_import_options options = { .max_memory_bytes = IMPORTED_MEMORY_BYTES,
                                               .threads = 1 };
    const char *paths[] = { memory_file(data, size), profile_path() };
    struct vv_model *model = NULL;
    struct varve_error error = { .message = "" };
    if (vv_import_all(paths, 2, &options, &model, &error) == VARVE_OK) {
        imported_look(model);
        vv_model_destroy(model);
    }
    return imported_fuzz(data, size);
}
