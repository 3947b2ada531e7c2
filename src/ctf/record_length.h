/* SPDX-License-Identifier: Apache-2.0 */
/* record_length.h — how long a record is (doc/format.md §6), for those who pass over records without reading them.
 * Thread-safe. */
#ifndef VV_CTF_RECORD_LENGTH_H
#define VV_CTF_RECORD_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/* In words, of the record at words[0], of which `count` words are there; 0: not known. */
size_t vv_record_length(const uint64_t *words, size_t count);

#endif
