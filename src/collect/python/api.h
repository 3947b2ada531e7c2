/* SPDX-License-Identifier: Apache-2.0 */
/* api.h — CPython's functions, found by their names, without a header of CPython. An object is a
 * pointer to void. A function that returns an object returns a new reference, unless a comment says
 * that it is borrowed. */
#ifndef VV_COLLECT_PYTHON_API_H
#define VV_COLLECT_PYTHON_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int vv_python_hook(const char *event, void *arguments, void *state);
typedef int vv_python_profile(void *self, void *frame, int what, void *argument);
typedef void *vv_python_vectorcall(void *callable, void *const *arguments, size_t count,
                                   void *names);
typedef void *vv_python_fast_call(void *self, void *const *arguments, intptr_t count);

/* PyMethodDef. The interpreter reads it as long as a function made from it lives. */
struct vv_python_method {
    const char *name;
    vv_python_fast_call *function;
    int flags;
    const char *says;
};
#define VV_PYTHON_FAST_CALL 0x80 /* METH_FASTCALL */

struct vv_python_allocator { /* PyMemAllocatorEx                                               */
    void *state;
    void *(*malloc)(void *state, size_t bytes);
    void *(*calloc)(void *state, size_t count, size_t bytes);
    void *(*realloc)(void *state, void *block, size_t bytes);
    void (*free)(void *state, void *block);
};

struct vv_python_api {
    unsigned minor;                /* the version is 3.minor                                     */
    char version[32];              /* "3.11.2"                                                   */
    int (*add_hook)(vv_python_hook *, void *);
    void (*get_allocator)(int domain, struct vv_python_allocator *);
    void (*set_allocator)(int domain, struct vv_python_allocator *);
    int (*is_initialized)(void);
    void *(*thread_state)(void);   /* NULL without the interpreter's lock                        */
    void *(*interpreter)(void), *(*main_interpreter)(void);
    void *(*current_frame)(void);  /* borrowed; NULL: no Python code runs on this thread         */
    /* code objects */
    intptr_t (*extra_index)(void (*release)(void *));
    int (*get_extra)(void *code, intptr_t index, void **out_extra);
    int (*set_extra)(void *code, intptr_t index, void *extra);
    /* objects */
    void *(*attribute)(void *object, const char *name);
    int (*set_attribute)(void *object, const char *name, void *value);
    void *(*call_method)(void *object, const char *name, const char *format, ...);
    void *(*new_function)(struct vv_python_method *, void *self, void *module);
    void *(*sys_object)(const char *name); /* borrowed                                           */
    void *(*text_of)(const char *utf8);
    void *(*module)(void *name);           /* NULL if it is not imported                         */
    const char *(*utf8)(void *text);
    long (*integer)(void *number);
    intptr_t (*list_size)(void *list);
    void *(*list_item)(void *list, intptr_t index);   /* borrowed                                */
    void *(*tuple_item)(void *tuple, intptr_t index); /* borrowed                                */
    void (*keep)(void *object), (*drop)(void *object); /* NULL-safe                              */
    void (*take_error)(void **type, void **value, void **traceback);
    void (*restore_error)(void *type, void *value, void *traceback);
    void (*clear_error)(void);
    void *none, *type_type, *list_type, *function_type, *method_type, *descriptor_type;
    /* modules of PyTorch */
    void *(*plain_attribute)(void *object, void *name); /* ignores the class's __getattr__       */
    void *(*dict_item)(void *dict, const char *key);    /* borrowed; sets no error               */
    int (*dict_next)(void *dict, intptr_t *place, void **out_key, void **out_value); /* borrowed */
    void *(*type_of)(void *object);
    void *(*reference)(void *object, void *told); /* weak; at its end calls `told`               */
    void *(*number_of)(void *pointer), *(*pointer)(void *number);
    void *python_function_type;
    vv_python_vectorcall *plain_vectorcall;               /* of Python functions, to 3.11 */
    vv_python_vectorcall *(*vectorcall_of)(void *callable);                  /* from 3.12 on     */
    void (*set_vectorcall)(void *function, vv_python_vectorcall *);          /* from 3.12 on     */
    /* up to 3.11 */
    int (*set_profile)(void *thread_state, vv_python_profile *, void *self);
    void *(*frame_code)(void *frame);
    uint64_t (*thread_id)(void *thread_state); /* never used again in its interpreter             */
};

enum vv_python_found {
    VV_PYTHON_NONE,    /* no CPython is loaded                                                    */
    VV_PYTHON_UNKNOWN, /* its calls cannot be traced; version is set, add_hook may be */
    VV_PYTHON_WHOLE
};

/* Looks in the program and in a loaded libpython. Calls only Py_GetVersion. *out_why says what is
 * wrong; static storage. Keeps errno. */
enum vv_python_found vv_python_api_find(struct vv_python_api *out_api, const char **out_why);

#endif
