/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h — the sources that a program can be recorded from, and the words that choose among them. Read by the
 * library in the program and by the command. Thread-safe. */
#ifndef VV_SETTINGS_SOURCES_H
#define VV_SETTINGS_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_collect_source {
    const char *name;
    bool is_standard; /* part of "auto"                                                          */
    const char *says; /* what it records, one clause                                             */
};

extern const struct vv_collect_source vv_collect_sources[];
extern const size_t vv_collect_source_count;

/* The source's bit; 0 if there is none of that name. */
uint32_t vv_collect_bit(const char *name);

/* "auto", "none", or names with commas between; a name with + or - before it changes what stands so far, which is
 * "auto" at the beginning. VARVE_INVALID names the word and the nearest that there is; `error` may be NULL. */
enum varve_code vv_collect_parse(const char *text, uint32_t *out_wanted, struct varve_error *error);

#endif
