/* SPDX-License-Identifier: Apache-2.0 */
/* code.h — finds the call site of a code object, or of a function of C. The caller holds the
 * interpreter's lock. An exception that is set stays set. No Python code runs. */
#ifndef VV_COLLECT_PYTHON_CODE_H
#define VV_COLLECT_PYTHON_CODE_H

#include "collect/python/api.h"
#include "varve/varve.h"

/* The content of a code object's slot. The content is freed with the code object. */
struct vv_python_code {
    struct varve_site site; /* "train.py(12): forward", and the file and line                     */
    bool is_left_out;       /* VARVE_PYTHON_MODULES excludes it, or it is of the module `varve`  */
    char texts[];
};

extern intptr_t vv_python_slot;
extern struct vv_python_api vv_python; /* set by vv_python_code_begin */

/* Takes a slot of code objects, and reads which modules are wanted. False: no slot is left. */
VV_MUST_USE bool vv_python_code_begin(const struct vv_python_api *api);

/* Fills the slot of a code object that is new. Never returns NULL. */
VV_MUST_USE struct vv_python_code *vv_python_code_meet(void *code);

static inline struct vv_python_code *vv_python_code_of(void *code)
{
    void *known = NULL;
    if (VARVE_UNLIKELY(vv_python.get_extra(code, vv_python_slot, &known) != 0 || known == NULL))
        return vv_python_code_meet(code);
    return known;
}

/* Is any code left out? If not, every code object is wanted. */
bool vv_python_any_left_out(void);

/* ---- functions of C ---- */

/* Finds out where functions of C keep their names. False: that failed, and vv_python_builtin must
 * not be called. */
VV_MUST_USE bool vv_python_builtin_begin(void);
/* Returns the site of a function of C: "<built-in method append of list object>". NULL: `callable`
 * is a class or a Python function. */
VV_MUST_USE struct varve_site *vv_python_builtin(void *callable);

#endif
