/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/python/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/modules.h"

#define ALWAYS 9, 99
#define OLD 9, 11 /* sys.monitoring exists from 3.12 on                                          */
#define NEW 12, 99

static const struct row {
    const char *name;
    size_t offset;             /* offset of the pointer in struct vv_python_api                 */
    unsigned first, last;      /* minor versions that need it                                   */
} rows[] = {
#define ROW(member, symbol, ...) { symbol, offsetof(struct vv_python_api, member), __VA_ARGS__ }
    ROW(add_hook, "PySys_AddAuditHook", ALWAYS),
    ROW(get_allocator, "PyMem_GetAllocator", ALWAYS),
    ROW(set_allocator, "PyMem_SetAllocator", ALWAYS),
    ROW(is_initialized, "Py_IsInitialized", ALWAYS),
    ROW(thread_state, "_PyThreadState_UncheckedGet", 9, 12),
    ROW(thread_state, "PyThreadState_GetUnchecked", 13, 99),
    ROW(interpreter, "PyInterpreterState_Get", ALWAYS),
    ROW(main_interpreter, "PyInterpreterState_Main", ALWAYS),
    ROW(current_frame, "PyEval_GetFrame", ALWAYS),
    ROW(extra_index, "_PyEval_RequestCodeExtraIndex", OLD),
    ROW(extra_index, "PyUnstable_Eval_RequestCodeExtraIndex", NEW),
    ROW(get_extra, "_PyCode_GetExtra", OLD),
    ROW(get_extra, "PyUnstable_Code_GetExtra", NEW),
    ROW(set_extra, "_PyCode_SetExtra", OLD),
    ROW(set_extra, "PyUnstable_Code_SetExtra", NEW),
    ROW(attribute, "PyObject_GetAttrString", ALWAYS),
    ROW(set_attribute, "PyObject_SetAttrString", ALWAYS),
    ROW(call_method, "PyObject_CallMethod", ALWAYS),
    ROW(new_function, "PyCFunction_NewEx", ALWAYS),
    ROW(sys_object, "PySys_GetObject", ALWAYS),
    ROW(text_of, "PyUnicode_FromString", ALWAYS),
    ROW(module, "PyImport_GetModule", ALWAYS),
    ROW(utf8, "PyUnicode_AsUTF8", ALWAYS),
    ROW(integer, "PyLong_AsLong", ALWAYS),
    ROW(list_size, "PyList_Size", ALWAYS),
    ROW(list_item, "PyList_GetItem", ALWAYS),
    ROW(tuple_item, "PyTuple_GetItem", ALWAYS),
    ROW(keep, "Py_IncRef", ALWAYS),
    ROW(drop, "Py_DecRef", ALWAYS),
    ROW(take_error, "PyErr_Fetch", ALWAYS),
    ROW(restore_error, "PyErr_Restore", ALWAYS),
    ROW(clear_error, "PyErr_Clear", ALWAYS),
    ROW(none, "_Py_NoneStruct", ALWAYS),
    ROW(type_type, "PyType_Type", ALWAYS),
    ROW(list_type, "PyList_Type", ALWAYS),
    ROW(function_type, "PyCFunction_Type", ALWAYS),
    ROW(method_type, "PyCMethod_Type", ALWAYS),
    ROW(descriptor_type, "PyMethodDescr_Type", ALWAYS),
    ROW(plain_attribute, "PyObject_GenericGetAttr", ALWAYS),
    ROW(dict_item, "PyDict_GetItemString", ALWAYS),
    ROW(dict_next, "PyDict_Next", ALWAYS),
    ROW(type_of, "PyObject_Type", ALWAYS),
    ROW(reference, "PyWeakref_NewRef", ALWAYS),
    ROW(number_of, "PyLong_FromVoidPtr", ALWAYS),
    ROW(pointer, "PyLong_AsVoidPtr", ALWAYS),
    ROW(python_function_type, "PyFunction_Type", ALWAYS),
    ROW(plain_vectorcall, "_PyFunction_Vectorcall", OLD),
    ROW(vectorcall_of, "PyVectorcall_Function", NEW),
    ROW(set_vectorcall, "PyFunction_SetVectorcall", NEW),
    ROW(set_profile, "_PyEval_SetProfile", OLD),
    ROW(frame_code, "PyFrame_GetCode", OLD),
    ROW(thread_id, "PyThreadState_GetID", OLD),
};

/* Finds the handle to look up the interpreter's symbols with. The interpreter is part of the
 * program, or a library that may have been loaded with local scope. False: there is no
 * interpreter. */
static bool find_version(void **out_handle, const char *(**out_version)(void))
{
    struct vv_module library;
    *out_handle = RTLD_DEFAULT;
    void *symbol = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (symbol == NULL && vv_module_find("libpython3", &library) &&
        (*out_handle = vv_module_open(&library)) != NULL)
        symbol = dlsym(*out_handle, "Py_GetVersion");
    memcpy(out_version, &symbol, sizeof symbol);
    return symbol != NULL;
}

static const char *find_symbols(struct vv_python_api *api, void *handle)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (api->minor < rows[i].first || api->minor > rows[i].last)
            continue;
        void *symbol = dlsym(handle, rows[i].name);
        if (symbol == NULL)
            return rows[i].name;
        memcpy((char *)api + rows[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

enum vv_python_found vv_python_api_find(struct vv_python_api *out_api, const char **out_why)
{
    int saved_errno = errno;
    void *handle;
    const char *(*version)(void);
    *out_api = (struct vv_python_api){ 0 };
    *out_why = NULL;
    if (!find_version(&handle, &version)) {
        dlerror();
        errno = saved_errno;
        return VV_PYTHON_NONE;
    }
    const char *text = version();
    snprintf(out_api->version, sizeof out_api->version, "%.*s", (int)strcspn(text, " "), text);
    out_api->minor = strncmp(text, "3.", 2) == 0 ? (unsigned)strtoul(text + 2, NULL, 10) : 0;
    const char *missing = out_api->minor >= 9 ? find_symbols(out_api, handle) : NULL;
    if (missing == NULL && strstr(text, "free-threading") != NULL)
        missing = "the interpreter's lock"; /* "3.13.5 free-threading build (main, …" */
    static char why[96];
    snprintf(why, sizeof why, "%s%s",
             missing != NULL ? "calls not traced; it lacks " : "older than 3.9, left alone",
             missing != NULL ? missing : "");
    *out_why = out_api->minor < 9 || missing != NULL ? why : NULL;
    if (*out_why != NULL)
        dlerror();
    errno = saved_errno;
    return *out_why != NULL ? VV_PYTHON_UNKNOWN : VV_PYTHON_WHOLE;
}
