/* SPDX-License-Identifier: Apache-2.0 */
/* redirect.h — has the interpreter call a function of C in the place of a function of Python.
 *
 * The interpreter looks up the code of a function's call in the vectorcall word of the function
 * object. A redirected function's word leads to a function of Varve's, which calls the former one.
 * No attribute of the program is replaced, and no Python frame is added. Up to 3.11 the interpreter
 * may run a Python function that another one calls without reading that word: such calls are
 * missed. Calls that functions of C make always read it. */
#ifndef VV_COLLECT_PYTHON_REDIRECT_H
#define VV_COLLECT_PYTHON_REDIRECT_H

#include "collect/python/api.h"

/* A function of Python. `object` is kept for ever, so its word stays valid. */
struct vv_python_redirect {
    void *object;
    vv_python_vectorcall *former; /* what the word holds otherwise: call it                       */
    vv_python_vectorcall **word;  /* up to 3.11                                                   */
};

/* Leads calls of `of->object` to `to`. Returns NULL, or why that cannot be done, a static text. The
 * caller has the interpreter's lock. May be called again after vv_python_redirect_end. */
const char *vv_python_redirect_begin(const struct vv_python_api *api,
                                     struct vv_python_redirect *of, vv_python_vectorcall *to);
void vv_python_redirect_end(const struct vv_python_api *api, struct vv_python_redirect *of);

#endif
