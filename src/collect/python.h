/* SPDX-License-Identifier: Apache-2.0 */
/* python.h — CPython, 3.9 and later, as it is installed; no header of it, no Python file. */
#ifndef VV_COLLECT_PYTHON_H
#define VV_COLLECT_PYTHON_H

/* Takes notice of what the interpreter imports, and of its calls while they are asked for, if this process has one.
 * Not from two threads at once, either. */
void vv_python_look(void);
/* Its calls are not asked for any more: the interpreter's next audit event ends that. */
void vv_python_leave(void);

#endif
