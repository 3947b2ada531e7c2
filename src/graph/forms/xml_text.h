/* SPDX-License-Identifier: Apache-2.0 */
/* xml_text.h — texts of unknown origin in XML, and in the room that a picture has for them. Only
 * forms call it. Thread-safe.
 *
 * What XML 1.0 cannot hold becomes U+FFFD. In a label, which is one line, a control character is a
 * blank, and what does not show or reverses the text after it becomes U+FFFD. */
#ifndef VV_GRAPH_FORMS_XML_TEXT_H
#define VV_GRAPH_FORMS_XML_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void vv_form_put_xml(const char *text, size_t length, bool is_label, FILE *stream);

/* The width of a text in pixels, in a sans-serif type of `size` pixels; no common one is wider. */
double vv_form_text_width(const char *text, size_t length, double size);

/* The text as a label of at most `width` pixels: its middle is left out if it is longer. */
void vv_form_put_fitted(const char *text, double size, double width, FILE *stream);

/* The bytes of the text that one line of `width` pixels holds, at least a character: up to a blank
 * if there is one. */
size_t vv_form_line_bytes(const char *text, double size, double width);

#endif
