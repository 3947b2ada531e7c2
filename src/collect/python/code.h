/* SPDX-License-Identifier: Apache-2.0 */
/* code.h — a code object, or a function of C, to the call site that its records name. With the interpreter's
 * lock held; an exception that is set stays so. No Python code runs. */
#ifndef VV_COLLECT_PYTHON_CODE_H
#define VV_COLLECT_PYTHON_CODE_H

#include "collect/python/api.h"
#include "varve/varve.h"

/* What is kept in the slot of a code object; it goes when that goes. */
struct vv_python_code {
    struct varve_site site; /* "train.py(12): forward", and the file and line                     */
    bool is_left_out;       /* by the choice of modules                                          */
    char texts[];
};

extern intptr_t vv_python_slot;
extern struct vv_python_api vv_python; /* since vv_python_code_begin                               */

/* Takes a slot of code objects, and reads which modules are wanted. False: there is no slot left. */
VV_MUST_USE bool vv_python_code_begin(const struct vv_python_api *api);

/* Of a code object that was not met before. Never NULL. */
VV_MUST_USE struct vv_python_code *vv_python_code_meet(void *code);

static inline struct vv_python_code *vv_python_code_of(void *code)
{
    void *known = NULL;
    if (VARVE_UNLIKELY(vv_python.get_extra(code, vv_python_slot, &known) != 0 || known == NULL))
        return vv_python_code_meet(code);
    return known;
}

/* Is anything left out at all? Else every code object is wanted. */
bool vv_python_any_left_out(void);

/* ---- functions of C ---- */

/* Finds out where such objects keep their names. False: it cannot be known, and none is to be asked for. */
VV_MUST_USE bool vv_python_builtin_begin(void);
/* "<built-in method append of list object>"; NULL: it is no function of C, but a class or a Python function. */
VV_MUST_USE struct varve_site *vv_python_builtin(void *callable);

#endif
