/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/bytes.h"

static void note_offset(uint64_t *count, uint64_t *first, uint64_t offset)
{
    if ((*count)++ == 0)
        *first = offset;
}

static void look_at_strings(struct vv_check_bytes *bytes, unsigned char byte)
{
    if (bytes->is_escaped)
        bytes->is_escaped = false;
    else if (byte == '"')
        bytes->in_string = !bytes->in_string;
    else if (byte == '\\' && bytes->in_string)
        bytes->is_escaped = true;
    if (bytes->in_string && byte < ' ')
        note_offset(&bytes->control_count, &bytes->control_offset, bytes->offset);
}

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
static void begin_sequence(struct vv_check_bytes *bytes, unsigned char byte)
{
    bytes->least = 0x80;
    bytes->largest = 0xbf;
    if (byte < 0x80)
        return;
    if (byte >= 0xc2 && byte <= 0xdf) {
        bytes->rest = 1;
    } else if (byte >= 0xe0 && byte <= 0xef) {
        bytes->rest = 2;
        bytes->least = byte == 0xe0 ? 0xa0 : 0x80;
        bytes->largest = byte == 0xed ? 0x9f : 0xbf;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        bytes->rest = 3;
        bytes->least = byte == 0xf0 ? 0x90 : 0x80;
        bytes->largest = byte == 0xf4 ? 0x8f : 0xbf;
    } else {
        note_offset(&bytes->utf8_count, &bytes->utf8_offset, bytes->offset);
    }
}

static void look_at_utf8(struct vv_check_bytes *bytes, unsigned char byte)
{
    if (bytes->rest == 0) {
        begin_sequence(bytes, byte);
        return;
    }
    if (byte < bytes->least || byte > bytes->largest) {
        note_offset(&bytes->utf8_count, &bytes->utf8_offset, bytes->offset);
        bytes->rest = 0;
        begin_sequence(bytes, byte);
        return;
    }
    bytes->rest--;
    bytes->least = 0x80;
    bytes->largest = 0xbf;
}

/* Looks for "rank":, at least one blank, and a digit. */
static void look_for_rank(struct vv_check_bytes *bytes, unsigned char byte)
{
    static const char pattern[] = "\"rank\":";
    const size_t length = sizeof pattern - 1;
    bool is_blank = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
    if (bytes->rank_at < length && byte == (unsigned char)pattern[bytes->rank_at])
        bytes->rank_at++;
    else if (bytes->rank_at >= length && is_blank)
        bytes->rank_at = length + 1;
    else {
        bytes->has_rank =
            bytes->has_rank || (bytes->rank_at == length + 1 && byte >= '0' && byte <= '9');
        bytes->rank_at = byte == '"';
    }
}

enum varve_code vv_check_bytes_read(void *context, void *buffer, size_t capacity, size_t *out_bytes,
                                    struct varve_error *error)
{
    struct vv_check_bytes *bytes = context;
    const unsigned char *at = buffer;
    VV_TRY(bytes->source(bytes->context, buffer, capacity, out_bytes, error));
    for (size_t i = 0; i < *out_bytes; i++, bytes->offset++) {
        look_at_strings(bytes, at[i]);
        look_at_utf8(bytes, at[i]);
        look_for_rank(bytes, at[i]);
    }
    return VARVE_OK;
}
