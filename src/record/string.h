/* SPDX-License-Identifier: Apache-2.0 */
/* string.h — names known only at run time. */
#ifndef VV_RECORD_STRING_H
#define VV_RECORD_STRING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/must_use.h"

/* Returns the string's id, with its record in the process's stream; 0: there is no room. Lock
 * held. */
uint32_t vv_string_id(const char *text);
/* The same, but takes the lock. 0 also if the caller is a signal handler inside a call of Varve's.
 * NULL counts as "". */
uint32_t vv_string_of(const char *text);
/* Returns the same id if the session has the string's record already; if not, 0. Needs no lock. */
uint32_t vv_string_known(const char *text);
/* Makes sure that the string of this id has its record in this session. Lock held. */
VV_MUST_USE bool vv_string_write(uint32_t id);
/* Does the string of this id have its record in the session `serial`? Needs no lock. */
bool vv_string_is_in(uint32_t id, uint32_t serial);

#endif
