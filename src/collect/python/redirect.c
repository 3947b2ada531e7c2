/* SPDX-License-Identifier: Apache-2.0 */
/* redirect.c — from 3.12 on CPython has a function that sets the word. Before, the type of
 * functions gives the word's offset, and the offset is believed if the word holds what CPython puts
 * there. */
#include "collect/python/redirect.h"

#include <string.h>

#include "collect/process/peek.h"

#define TYPE_VECTORCALL_OFFSET 56u /* tp_vectorcall_offset in PyTypeObject, to 3.11 */
#define FUNCTION_BYTES_MAX 512

/* Finds the function's word, up to 3.11. NULL: the object is not as expected. */
static vv_python_vectorcall **old_word(const struct vv_python_api *python, void *function)
{
    intptr_t offset;
    vv_python_vectorcall *present;
    if (!vv_peek((const char *)python->python_function_type + TYPE_VECTORCALL_OFFSET, &offset,
                 sizeof offset) ||
        offset < 16 || offset > FUNCTION_BYTES_MAX || offset % 8 != 0)
        return NULL;
    char *word = (char *)function + offset;
    return vv_peek(word, &present, sizeof present) && present == python->plain_vectorcall
               ? (vv_python_vectorcall **)(void *)word : NULL;
}

static bool put(const struct vv_python_api *python, struct vv_python_redirect *of,
                vv_python_vectorcall *wanted)
{
    if (python->set_vectorcall != NULL) {
        of->former = of->former == NULL ? python->vectorcall_of(of->object) : of->former;
        python->set_vectorcall(of->object, wanted != NULL ? wanted : of->former);
        return true;
    }
    of->former = python->plain_vectorcall;
    of->word = of->word == NULL ? old_word(python, of->object) : of->word;
    if (of->word != NULL)
        __atomic_store_n(of->word, wanted != NULL ? wanted : of->former, __ATOMIC_RELAXED);
    return of->word != NULL;
}

static bool has_lock(const struct vv_python_api *python)
{
    void *flags = python->sys_object("abiflags");
    const char *text = flags != NULL ? python->utf8(flags) : NULL;
    return text == NULL || strchr(text, 't') == NULL;
}

const char *vv_python_redirect_begin(const struct vv_python_api *python,
                                     struct vv_python_redirect *of, vv_python_vectorcall *to)
{
    void *type = python->type_of(of->object);
    bool is_function = type == python->python_function_type;
    python->drop(type);
    if (!is_function)
        return "it is no Python function";
    if (!has_lock(python))
        return "a Python without the global lock";
    return put(python, of, to) ? NULL : "this Python's functions are not as known";
}

void vv_python_redirect_end(const struct vv_python_api *python, struct vv_python_redirect *of)
{
    put(python, of, NULL);
}
