/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — reads one flat JSON object, member by member, without memory of its own.
 * Thread-compatible.
 *
 * The reader is strict (RFC 8259) and narrow. Values are strings, whole numbers, true and false.
 * Values do not nest. Names and values must fit into their arrays. Nothing may follow the object.
 * Errors are VARVE_INVALID with the offset in the text. */
#ifndef VV_RECORD_OPTIONS_TEXT_H
#define VV_RECORD_OPTIONS_TEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define VV_OPTION_KEY_BYTES 64

enum vv_option_kind { VV_OPTION_STRING, VV_OPTION_NUMBER, VV_OPTION_TRUE, VV_OPTION_FALSE };

struct vv_option_member {
    char key[VV_OPTION_KEY_BYTES];
    char value[PATH_MAX]; /* text of a string, digits of a number, "true", "false"             */
    enum vv_option_kind kind;
    uint64_t key_offset, value_offset;
};

struct vv_option_scan {
    const char *text, *at;
    bool begun, ended;
};

/* Reads the next member. *out_is_one false: the object has ended, and nothing follows it. The first
 * call begins at scan->text. */
enum varve_code vv_option_next(struct vv_option_scan *scan, struct vv_option_member *out_member,
                               bool *out_is_one, struct varve_error *error);

#endif
