/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — texts by number: the dictionary of hashes, and the names of types of records. Names are
 * only added, and last as long as the process. Thread-safe, without locks. */
#ifndef VARVE_COMPAT_NAMES_H
#define VARVE_COMPAT_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The id of a text, which is found by it from now on. The first text of an id stays. All ones for
 * NULL and for length 0. */
uint64_t vv_hash_keep(const char *text, size_t length);
/* Another library has given the text this id. */
void vv_hash_learn(uint64_t id, const char *text, size_t length);
/* NULL: nobody has made it. */
char *vv_hash_text(uint64_t id);

/* The last name counts. False: there is no memory. */
int vv_type_keep(uint32_t level, uint32_t type, const char *name);
/* The registered name; if there is none, the usual one; NULL = there is none either. */
const char *vv_type_name(uint32_t level, uint32_t type);

#endif
