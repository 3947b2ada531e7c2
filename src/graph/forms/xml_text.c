/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/forms/xml_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "graph/layout/layout.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define REPLACEMENT "\xef\xbf\xbd"

static bool xml_has(uint32_t point)
{
    return point >= ' ' ? point < 0xfffe || point > 0xffff
                        : point == '\n' || point == '\r' || point == '\t';
}

/* Marks of direction, blanks of no width, and isolates. */
static bool is_unseen(uint32_t point)
{
    return (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff ||
           (point >= 0x7f && point < 0xa0);
}

void vv_form_put_xml(const char *text, size_t length, bool is_label, FILE *stream)
{
    for (size_t bytes; length > 0; text += bytes, length -= bytes) {
        bytes = vv_utf8_sequence(text, length);
        uint32_t point = bytes > 0 ? vv_utf8_decode(text, bytes) : 0;
        if (!xml_has(point) || (is_label && is_unseen(point)))
            fputs(REPLACEMENT, stream);
        else if (is_label && point < ' ')
            fputc(' ', stream);
        else if (point < ' ' || point == '<' || point == '>' || point == '&')
            fprintf(stream, "&#%" PRIu32 ";", point);
        else
            fwrite(text, 1, bytes, stream);
        bytes += bytes == 0;
    }
}

/* ---- widths, those of DejaVu Sans and Verdana, which are wide ---- */

/* The bytes of the first character. */
static size_t step(const char *text, size_t length)
{
    size_t bytes = vv_utf8_sequence(text, length);
    return bytes > 0 ? bytes : 1;
}

/* Thousandths of the size of the type, from ' ' to '~'. */
static const uint16_t widths[95] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
};

/* In parts of the size of the type. */
static double width_of(const char *text, size_t bytes)
{
    char one[5] = "";
    unsigned char c = (unsigned char)text[0];
    if (bytes == 1 && c < 0x7f)
        return widths[c > ' ' ? c - ' ' : 0] / 1000.0;
    uint32_t point = vv_utf8_sequence(text, bytes) > 0 ? vv_utf8_decode(text, bytes) : 0;
    if (point == 0xa0 || point == 0xb7 || (point >= 0x2000 && point <= 0x200a))
        return 0.32; /* blanks, and the dot between numbers */
    memcpy(one, text, bytes);
    return vv_layout_text_columns(one) > 1 ? (bytes > 3 ? 1.4 : 1.02) : 0.8;
}

double vv_form_text_width(const char *text, size_t length, double size)
{
    double width = 0;
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bytes = step(text + at, length - at);
        width += width_of(text + at, bytes) * size;
    }
    return width;
}

void vv_form_put_fitted(const char *text, double size, double width, FILE *stream)
{
    size_t length = strlen(text), head = 0, tail = length;
    double head_width = 0, tail_width = 0, left = width - size; /* without the ellipsis          */
    if (vv_form_text_width(text, length, size) <= width) {
        vv_form_put_xml(text, length, true, stream);
        return;
    }
    while (head < tail) {
        size_t begin = tail - 1;
        while (begin > head && ((unsigned char)text[begin] & 0xc0) == 0x80)
            begin--;
        bool is_head = head_width <= tail_width;
        size_t bytes = is_head ? step(text + head, tail - head) : tail - begin;
        double more = size * (is_head ? width_of(text + head, bytes)
                                      : vv_form_text_width(text + begin, bytes, 1));
        if (head_width + tail_width + more > left)
            break;
        *(is_head ? &head_width : &tail_width) += more;
        *(is_head ? &head : &tail) = is_head ? head + bytes : begin;
    }
    vv_form_put_xml(text, head, true, stream);
    fputs(ELLIPSIS, stream);
    vv_form_put_xml(text + tail, length - tail, true, stream);
}

size_t vv_form_line_bytes(const char *text, double size, double width)
{
    size_t length = strlen(text), at = 0, blank = 0;
    double used = 0;
    while (at < length) {
        size_t bytes = step(text + at, length - at);
        used += width_of(text + at, bytes) * size;
        if (used > width && at > 0)
            return blank > 0 ? blank : at;
        at += bytes;
        if (text[at - 1] == ' ')
            blank = at;
    }
    return at;
}
