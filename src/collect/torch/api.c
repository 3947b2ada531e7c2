/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/torch/api.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/descriptor.h"

#define RECORD_FUNCTION "14RecordFunction"
#define NAME_TEXT "6beforeEPKcl"
#define NAME_VARIANT                                                                               \
    "6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_"                 \
    "wrapperIKN3c1014FunctionSchemaEEEEl"
#define EMPTY_STRIDED_1                                                                  \
    "_ZN2at4_ops13empty_strided4callEN3c108ArrayRefINS2_6SymIntEEES5_NS2_8optionalINS2_" \
    "10ScalarTypeEEENS6_INS2_6LayoutEEENS6_INS2_6DeviceEEENS6_IbEE"

static const struct row {
    const char *name;
    size_t offset; /* offset of the pointer in struct vv_torch_api                              */
    bool is_needed;
} rows[] = {
#define ROW(member, symbol, needed) { symbol, offsetof(struct vv_torch_api, member), needed }
    ROW(add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", true),
    ROW(remove, "_ZN2at14removeCallbackEm", true),
    ROW(name, "_ZNK2at" RECORD_FUNCTION "4nameEv", true),
    ROW(num_inputs, "_ZNK2at" RECORD_FUNCTION "10num_inputsEv", true),
    ROW(current_thread, "_ZN2at" RECORD_FUNCTION "15currentThreadIdEv", true),
    ROW(is_async, "_ZNK2at" RECORD_FUNCTION "7isAsyncEv", true),
    ROW(is_profiled, "_ZN5torch8profiler4impl15profilerEnabledEv", false),
    ROW(construct, "_ZN2at" RECORD_FUNCTION "C1ENS_11RecordScopeE", false),
    ROW(destroy, "_ZN2at" RECORD_FUNCTION "D1Ev", false),
    ROW(end, "_ZN2at" RECORD_FUNCTION "3endEv", false),
    ROW(set_async, "_ZN2at" RECORD_FUNCTION "9_setAsyncEv", false),
    ROW(before_text, "_ZN2at" RECORD_FUNCTION NAME_TEXT, false),
    ROW(before_name, "_ZN2at" RECORD_FUNCTION NAME_VARIANT, false),
    ROW(empty_strided, "aoti_torch_empty_strided", false),
    ROW(delete_tensor, "aoti_torch_delete_tensor_object", false),
    ROW(empty_strided_1, EMPTY_STRIDED_1, false),
    ROW(copy, "_ZN2at4_ops5copy_4callERNS_6TensorERKS2_b", false),
    ROW(diagonal, "_ZN2at4_ops8diagonal4callERKNS_6TensorElll", false),
    ROW(stack, "_ZN2at4_ops5stack4callEN3c108ArrayRefINS_6TensorEEEl", false),
    ROW(dropout, "_ZN2at4_ops7dropout4callERKNS_6TensorEdb", false),
    ROW(permute, "_ZN2at4_ops7permute4callERKNS_6TensorEN3c108ArrayRefIlEE", false),
    ROW(operator_new, "_Znwm", false),
    ROW(undefined, "_ZN3c1019UndefinedTensorImpl10_singletonE", false),
};

/* Reads the version from the line __version__ = '2.15.0+cu132' of torch/version.py, without the
 * part after "+". */
static bool read_version(const char *path, char *out_version, size_t capacity)
{
    char text[512];
    int file = vv_descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, "__version__ = '");
    if (at == NULL)
        return false;
    at += strlen("__version__ = '");
    snprintf(out_version, capacity, "%.*s", (int)strcspn(at, "'+\n"), at);
    return true;
}

/* Finds the version in version.py, in the folder above the library's, or in the name of the
 * library's file: libtorch_cpu.so.1.13. */
static void find_version(const char *library, char *out_version, size_t capacity)
{
    char path[PATH_MAX + 16];
    const char *slash = strrchr(library, '/'),
               *end = strstr(slash != NULL ? slash : library, ".so.");
    out_version[0] = '\0';
    snprintf(path, sizeof path, "%.*s/../version.py", (int)(slash != NULL ? slash - library : 0),
             library);
    if (slash != NULL && read_version(path, out_version, capacity))
        return;
    if (end != NULL && isdigit((unsigned char)end[4]))
        snprintf(out_version, capacity, "%s", end + 4);
}

bool vv_torch_api_find(struct vv_torch_api *out_api, const struct vv_module *library,
                       const char **out_missing)
{
    int saved_errno = errno;
    *out_api = (struct vv_torch_api){ .library = vv_module_open(library) };
    *out_missing = out_api->library == NULL ? library->path : NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && *out_missing == NULL; i++) {
        void *symbol = dlsym(out_api->library, rows[i].name);
        memcpy((char *)out_api + rows[i].offset, &symbol, sizeof symbol);
        if (symbol == NULL && rows[i].is_needed)
            *out_missing = rows[i].name;
    }
    /* Looked up as the library itself binds it: an allocator that replaces it is found first. */
    void *operator_new = dlsym(RTLD_DEFAULT, "_Znwm");
    if (operator_new != NULL)
        memcpy(&out_api->operator_new, &operator_new, sizeof operator_new);
    dlerror(); /* clears it: the program's next dlerror must not show it */
    find_version(library->path, out_api->version, sizeof out_api->version);
    errno = saved_errno;
    return *out_missing == NULL;
}
