/* SPDX-License-Identifier: Apache-2.0 */
/* python.h — CPython, 3.9 and later, as it is installed; no header of it, no Python file. */
#ifndef VV_COLLECT_PYTHON_H
#define VV_COLLECT_PYTHON_H

/* Takes notice of what the interpreter imports, if this process has one. Before it begins, or with its lock held. */
void vv_python_begin(void);

#endif
