/* SPDX-License-Identifier: Apache-2.0 */
/* xml.h — a pull reader of XML text in memory, as graphs and pictures need it: elements, attributes
 * and text. Declarations, comments and processing instructions are skipped; entities are the five
 * of XML and numbers. A document type may be named but not defined: no file can define entities
 * that grow. Only files of this room use this header. Thread-compatible.
 *
 * * VARVE_TRUNCATED: the text ends too early. VARVE_CORRUPT: it is not XML. VARVE_LIMIT: more than
 * VV_XML_DEPTH_MAX elements in each other. */
#ifndef VV_IMPORT_GRAPH_XML_H
#define VV_IMPORT_GRAPH_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_XML_DEPTH_MAX 256u

enum vv_xml_token { VV_XML_OPEN, VV_XML_CLOSE, VV_XML_TEXT, VV_XML_END };

struct vv_xml {
    enum vv_xml_token token;
    const char *name;     /* of OPEN and CLOSE, without its prefix; name_length bytes           */
    size_t name_length;
    const char *text;     /* of TEXT, with its entities; text_length bytes                      */
    size_t text_length;
    uint64_t offset;      /* where the token began                                              */
    uint32_t depth;       /* open elements                                                      */

    /* private */
    const char *begin;
    size_t length, at;
    const char *attributes; /* of OPEN                                                          */
    size_t attributes_length;
    bool is_empty_element;  /* CLOSE comes next                                                 */
    bool is_cdata;
    struct { const char *name; size_t length; } open[VV_XML_DEPTH_MAX];
};

void vv_xml_init(struct vv_xml *xml, const char *text, size_t length);
enum varve_code vv_xml_next(struct vv_xml *xml, struct varve_error *error);
bool vv_xml_is(const struct vv_xml *xml, const char *name);
/* The value of an attribute of OPEN without entities. It may be absent: *out_text is NULL then. The
 * caller frees it. */
enum varve_code vv_xml_attribute(const struct vv_xml *xml, const char *name, char **out_text,
                                 struct varve_error *error);
/* All text of the element whose OPEN was just read; the reader is after its CLOSE. */
enum varve_code vv_xml_whole_text(struct vv_xml *xml, char **out_text, struct varve_error *error);

#endif
