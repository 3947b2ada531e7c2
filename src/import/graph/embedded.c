/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.c — reads the graph that a picture of Varve's carries, as the JSON that graph_json.c
 * reads: in <metadata> of an SVG, in <script id="varve-graph"> of a page, in the chunk iTXt
 * "varve-graph" of a PNG. A picture without one is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text/counted.h"
#include "decompress/decompress.h"
#include "import/graph/reading.h"
#include "import/graph/xml.h"

#define KEY "varve-graph"

/* The JSON in a picture. */
struct found {
    const char *text;
    size_t length;
    uint64_t offset;           /* of the text in the file                                       */
    bool is_cut, is_packed;    /* the picture ends in it; the text was compressed               */
    vv_decompressed unpacked;
    char *decoded;             /* of an SVG                                                     */
};

static enum varve_code has_none(const char *what, struct varve_error *error)
{
    VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                 "%s without the data of a graph: only those that 'varve dag -o' writes have them",
                 what);
}

/* ---- SVG ---- */

/* The text is decoded, and its offset is where the element begins, unless nothing in it was
 * encoded. */
static enum varve_code find_in_svg(char *text, size_t length, struct found *found,
                                   struct varve_error *error)
{
    struct vv_xml xml;
    enum varve_code code;
    vv_xml_init(&xml, text, length);
    while ((code = vv_xml_next(&xml, error)) == VARVE_OK && xml.token != VV_XML_END) {
        if (xml.token != VV_XML_OPEN || !vv_xml_is(&xml, "metadata"))
            continue;
        uint64_t at = xml.at;
        code = vv_xml_whole_text(&xml, &found->decoded, error);
        if (code == VARVE_TRUNCATED) { /* the picture ends within */
            found->text = text + at;
            found->length = length - at;
            found->offset = at;
            return VARVE_OK;
        }
        if (code != VARVE_OK)
            return code;
        if (found->decoded[strspn(found->decoded, " \t\r\n")] == '{') {
            found->text = found->decoded;
            found->length = strlen(found->decoded);
            found->offset = at;
            return VARVE_OK;
        }
        free(found->decoded);
        found->decoded = NULL;
    }
    return code != VARVE_OK ? code : has_none("an SVG picture", error);
}

/* ---- HTML ---- */

static enum varve_code find_in_html(char *text, size_t length, struct found *found,
                                    struct varve_error *error)
{
    static const char id[] = "id=\"" KEY "\"";
    const char *at = memmem(text, length, id, sizeof id - 1);
    size_t left = at != NULL ? length - (size_t)(at - text) : 0;
    const char *first = at != NULL ? memchr(at, '>', left) : NULL;
    if (first == NULL)
        return has_none("a page", error);
    first++;
    left = length - (size_t)(first - text);
    const char *end = memmem(first, left, "</script", 8);
    found->text = first;
    found->length = end != NULL ? (size_t)(end - first) : left;
    found->offset = (uint64_t)(first - text);
    found->is_cut = end == NULL;
    return VARVE_OK;
}

/* ---- PNG ---- */

#define PNG_MAGIC "\x89PNG\r\n\x1a\n"
#define CHUNK_HEAD_BYTES 8u
#define CHUNK_CRC_BYTES 4u

/* keyword, 0, is compressed, method, language, 0, translated keyword, 0, text */
static enum varve_code read_chunk(const char *chunk, size_t length, struct found *found,
                                  struct varve_error *error)
{
    size_t at = sizeof KEY;
    if (length < at + 2)
        return VARVE_OK;
    bool is_packed = chunk[at] != 0;
    at += 2;
    for (int texts = 0; texts < 2; texts++) {
        const char *end = memchr(chunk + at, '\0', length - at);
        if (end == NULL)
            return VARVE_OK;
        at = (size_t)(end - chunk) + 1;
    }
    found->text = chunk + at;
    found->length = length - at;
    found->offset += at;
    if (!is_packed)
        return VARVE_OK;
    found->is_packed = true;
    enum varve_code code = vv_decompress_zlib((const unsigned char *)found->text, found->length,
                                              &found->unpacked);
    if (code != VARVE_OK)
        return vv_fail_at(error, code, found->offset, "the data of the graph do not decompress");
    found->text = (const char *)found->unpacked.items;
    found->length = found->unpacked.count;
    return VARVE_OK;
}

static enum varve_code find_in_png(char *text, size_t length, struct found *found,
                                   struct varve_error *error)
{
    size_t at = sizeof PNG_MAGIC - 1;
    while (length - at >= CHUNK_HEAD_BYTES) {
        uint32_t bytes;
        memcpy(&bytes, text + at, sizeof bytes);
        bytes = be32toh(bytes);
        const char *type = text + at + 4, *chunk = text + at + CHUNK_HEAD_BYTES;
        size_t left = length - at - CHUNK_HEAD_BYTES;
        bool is_whole = left >= bytes;
        size_t there = is_whole ? bytes : left;
        if (memcmp(type, "iTXt", 4) == 0 && there >= sizeof KEY &&
            memcmp(chunk, KEY, sizeof KEY) == 0) {
            found->offset = at + CHUNK_HEAD_BYTES;
            found->is_cut = !is_whole;
            if (!is_whole && there > sizeof KEY && chunk[sizeof KEY] != 0)
                break; /* compressed, and cut */
            VV_TRY(read_chunk(chunk, there, found, error));
            return found->text != NULL ? VARVE_OK : has_none("a PNG picture", error);
        }
        if (!is_whole || left - bytes < CHUNK_CRC_BYTES)
            break;
        at += CHUNK_HEAD_BYTES + bytes + CHUNK_CRC_BYTES;
        if (memcmp(type, "IEND", 4) == 0)
            return has_none("a PNG picture", error);
    }
    return vv_fail_at(error, VARVE_TRUNCATED, length, "the picture ends too early");
}

/* ---- the file ---- */

static enum varve_code read_found(struct vv_graph_reading *graph, const struct found *found,
                                  struct varve_error *error)
{
    struct vv_json json;
    vv_json_init_text(&json, found->text, found->length);
    if (!found->is_packed)
        json.window_offset += found->offset;
    graph->has_all_run = graph->is_order = graph->is_simple = true;
    enum varve_code code = vv_draft_read_json(graph, &json, error);
    vv_json_deinit(&json);
    if (code == VARVE_OK && !graph->is_ours)
        return vv_fail_at(error, VARVE_CORRUPT, found->offset,
                          "the data of the graph are not what Varve writes");
    return code;
}

typedef enum varve_code find_function(char *text, size_t length, struct found *found,
                                      struct varve_error *error);

static enum varve_code read_picture(const struct vv_import_job *job, find_function *find,
                                    struct varve_error *error)
{
    struct vv_graph_reading graph;
    struct found found = { .text = NULL };
    char *text = NULL;
    size_t length = 0;
    bool is_cut = false;
    enum varve_code code = vv_graph_reading_begin(&graph, job, error);
    if (code == VARVE_OK)
        code = vv_draft_read_all(job, &text, &length, &is_cut, error);
    if (code == VARVE_OK)
        code = find(text, length, &found, error);
    if (code == VARVE_OK)
        code = read_found(&graph, &found, error);
    code = vv_graph_reading_end(&graph, code, error);
    free(found.unpacked.items);
    free(found.decoded);
    free(text);
    return code;
}

static enum varve_code read_svg(const struct vv_import_job *job, struct varve_error *error)
{
    return read_picture(job, find_in_svg, error);
}

static enum varve_code read_html(const struct vv_import_job *job, struct varve_error *error)
{
    return read_picture(job, find_in_html, error);
}

static enum varve_code read_png(const struct vv_import_job *job, struct varve_error *error)
{
    return read_picture(job, find_in_png, error);
}

/* Does the first element have this name? */
static bool begins_with(const char *head, size_t head_bytes, const char *name)
{
    struct vv_xml xml;
    vv_xml_init(&xml, head, head_bytes);
    enum varve_code code;
    while ((code = vv_xml_next(&xml, NULL)) == VARVE_OK && xml.token == VV_XML_TEXT)
        if (xml.offset == 0 && xml.text_length > 0 && xml.text[0] > ' ')
            return false;
    return code == VARVE_OK && xml.token == VV_XML_OPEN &&
           vv_text_is_in_any_case(xml.name, xml.name_length, name);
}

static bool is_svg(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && begins_with(head, head_bytes, "svg");
}

static bool is_html(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && begins_with(head, head_bytes, "html");
}

static bool is_png(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    (void)path;
    return !is_folder && head_bytes >= sizeof PNG_MAGIC - 1 &&
           memcmp(head, PNG_MAGIC, sizeof PNG_MAGIC - 1) == 0;
}

#define EMBEDDED(form, text)                                                                       \
    const struct vv_importer vv_importer_##form = {                                                \
        .name = #form, .title = text, .probe = is_##form, .read = read_##form                      \
    };
EMBEDDED(svg, "SVG of a graph")
EMBEDDED(html, "page of a graph")
EMBEDDED(png, "PNG of a graph")
