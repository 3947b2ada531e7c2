/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "graph/forms/json_members.h"

/* U+FFFE and U+FFFF, which XML cannot hold. */
#define NO_CHARACTER "\xef\xbf\xbe"
#define NOR_THIS "\xef\xbf\xbf"

static bool is_said_in_markup(const char *text)
{
    return strpbrk(text, "<>&") == NULL && strstr(text, NO_CHARACTER) == NULL &&
           strstr(text, NOR_THIS) == NULL;
}

/* The text is JSON. */
static void put_escaped(const char *text, size_t bytes, FILE *stream)
{
    for (size_t i = 0; i < bytes; i++)
        if (bytes - i >= 3 && (memcmp(text + i, NO_CHARACTER, 3) == 0 ||
                               memcmp(text + i, NOR_THIS, 3) == 0)) {
            fprintf(stream, "\\ufff%c", text[i + 2] == NO_CHARACTER[2] ? 'e' : 'f');
            i += 2;
        } else if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            fprintf(stream, "\\u%04x", (unsigned)(unsigned char)text[i]);
        else
            fputc(text[i], stream);
}

void vv_form_put_text(const char *text, bool is_markup, FILE *stream)
{
    char *made = NULL;
    size_t bytes = 0;
    FILE *memory;
    if (!is_markup || is_said_in_markup(text)) {
        vv_json_write_text(stream, text);
    } else if ((memory = open_memstream(&made, &bytes)) == NULL) {
        fputs("\"\"", stream);
    } else {
        vv_json_write_text(memory, text);
        if (fclose(memory) == 0)
            put_escaped(made, bytes, stream);
        free(made);
    }
}

void vv_form_put_members(const struct vv_dag *dag, enum vv_member_of of, uint32_t row,
                         bool is_markup, FILE *stream)
{
    size_t count;
    const struct vv_member *members = vv_dag_members(of, &count);
    for (size_t i = 1; i < count; i++) {
        const struct vv_member_cell cell = { of, &members[i], row };
        struct vv_member_value value = vv_dag_member_get(dag, cell);
        if (value.is_blank)
            continue;
        fprintf(stream, ",\"%s\":", members[i].key);
        if (members[i].kind == VV_MEMBER_FLAG)
            fputs(value.text, stream);
        else if (value.text != NULL)
            vv_form_put_text(value.text, is_markup, stream);
        else if (members[i].kind == VV_MEMBER_SIGNED)
            vv_json_write_int(stream, (int64_t)value.number);
        else
            vv_json_write_uint(stream, value.number);
    }
}

void vv_form_put_occurrences(const struct vv_dag *dag, uint32_t row, FILE *stream)
{
    const struct vv_dag_occurrences *occurrences = &dag->occurrences;
    uint64_t first = dag->nodes.first_occurrence[row];
    fputc('[', stream);
    for (uint64_t at = first; at < first + dag->nodes.occurrence_count[row]; at++)
        fprintf(stream, "%s[%" PRId64 ",%" PRIu64 ",%" PRId64 "]", at == first ? "" : ",",
                occurrences->step[at], occurrences->count[at], occurrences->total_ns[at]);
    fputc(']', stream);
}

void vv_form_put_notes(const struct vv_dag *dag, bool is_markup, FILE *stream)
{
    fputc('[', stream);
    for (uint64_t row = 0; row < dag->notes.table.count; row++) {
        fputs(row == 0 ? "[" : ",[", stream);
        vv_form_put_text(vv_dag_string(dag, dag->notes.key[row]), is_markup, stream);
        fputc(',', stream);
        vv_form_put_text(vv_dag_string(dag, dag->notes.text[row]), is_markup, stream);
        fputc(']', stream);
    }
    fputc(']', stream);
}

/* ---- edges by node ---- */

enum varve_code vv_form_sort_edges(const struct vv_dag *dag, bool is_arriving,
                                   struct vv_form_edges *out_edges, struct varve_error *error)
{
    uint64_t nodes = dag->nodes.table.count, edges = dag->edges.table.count;
    const uint32_t *node_of = is_arriving ? dag->edges.to : dag->edges.from;
    struct vv_form_edges made = { calloc(nodes + 2, sizeof *made.first),
                                  calloc(edges + 1, sizeof *made.order) };
    if (made.first == NULL || made.order == NULL) {
        vv_form_free_edges(&made);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %" PRIu64 " edges", edges);
    }
    for (uint64_t e = 0; e < edges; e++)
        made.first[node_of[e] + 2]++;
    for (uint64_t row = 2; row < nodes + 2; row++)
        made.first[row] += made.first[row - 1];
    for (uint64_t e = 0; e < edges; e++)
        made.order[made.first[node_of[e] + 1]++] = (uint32_t)e;
    *out_edges = made;
    return VARVE_OK;
}

void vv_form_free_edges(struct vv_form_edges *edges)
{
    free(edges->first);
    free(edges->order);
    *edges = (struct vv_form_edges){ NULL, NULL };
}

enum varve_code vv_form_notes_text(const struct vv_dag *dag, char **out_text, size_t *out_bytes,
                                   struct varve_error *error)
{
    *out_text = NULL;
    FILE *memory = open_memstream(out_text, out_bytes);
    if (memory != NULL) {
        vv_form_put_notes(dag, false, memory);
        if (fclose(memory) == 0)
            return VARVE_OK;
    }
    free(*out_text);
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the notes of a graph");
}
