/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define WIDTH(table, column) (uint32_t)sizeof *((struct table *)0)->column
#define CELL(table, column, kind, blank)                                                         \
    { #column, VV_MEMBER_##kind, offsetof(struct table, column), WIDTH(table, column), 0, false, \
      blank }
#define ALWAYS(table, column, kind)                                                              \
    { #column, VV_MEMBER_##kind, offsetof(struct table, column), WIDTH(table, column), 0, true, 0 }
#define FLAG(table, key, bit)                                                                    \
    { key, VV_MEMBER_FLAG, offsetof(struct table, flags), WIDTH(table, flags), bit, false, 0 }

#define NODE(column, kind) CELL(vv_dag_nodes, column, kind, 0)
static const struct vv_member of_nodes[] = {
    ALWAYS(vv_dag_nodes, name, TEXT), ALWAYS(vv_dag_nodes, kind, WORD),
    CELL(vv_dag_nodes, parent, NODE, VV_NONE), ALWAYS(vv_dag_nodes, count, UNSIGNED),
    NODE(begin_ns, SIGNED), NODE(end_ns, SIGNED), NODE(total_ns, SIGNED), NODE(self_ns, SIGNED),
    NODE(min_ns, SIGNED), NODE(max_ns, SIGNED), NODE(p50_ns, SIGNED), NODE(p95_ns, SIGNED),
    NODE(critical_ns, SIGNED), NODE(flop, UNSIGNED), NODE(bytes, UNSIGNED),
    NODE(memory_bytes, UNSIGNED), NODE(where, TEXT), NODE(device, TEXT), NODE(module, TEXT),
    NODE(phase, TEXT), NODE(source, TEXT), NODE(inputs, TEXT), NODE(outputs, TEXT),
    CELL(vv_dag_nodes, level, UNSIGNED, VV_NONE), NODE(begin_rest_ps, UNSIGNED),
    NODE(total_rest_ps, UNSIGNED), FLAG(vv_dag_nodes, "critical", VV_DAG_CRITICAL),
    FLAG(vv_dag_nodes, "unfinished", VV_DAG_UNFINISHED),
};

#define EDGE(column, kind) CELL(vv_dag_edges, column, kind, 0)
static const struct vv_member of_edges[] = {
    EDGE(name, TEXT), ALWAYS(vv_dag_edges, kind, WORD), CELL(vv_dag_edges, count, UNSIGNED, 1),
    EDGE(bytes, UNSIGNED), EDGE(longest_ns, SIGNED),
    FLAG(vv_dag_edges, "critical", VV_DAG_CRITICAL),
};

/* A new column needs a member: all but id, flags and the two of occurrences have one in a node; all
 * but from, to and flags in an edge. */
#define ONE(table, type, name) +1
_Static_assert(sizeof of_nodes / sizeof *of_nodes == VV_DAG_NODE_COLUMNS(ONE, ) - 4 + 2, "nodes");
_Static_assert(sizeof of_edges / sizeof *of_edges == VV_DAG_EDGE_COLUMNS(ONE, ) - 3 + 1, "edges");

static const struct { const struct vv_member *members; size_t count; } lists[VV_OF_COUNT] = {
    [VV_OF_NODE] = { of_nodes, sizeof of_nodes / sizeof *of_nodes },
    [VV_OF_EDGE] = { of_edges, sizeof of_edges / sizeof *of_edges },
};

const struct vv_member *vv_dag_members(enum vv_member_of of, size_t *out_count)
{
    *out_count = lists[of].count;
    return lists[of].members;
}

const struct vv_member *vv_dag_find_member(enum vv_member_of of, const char *key, size_t *hint)
{
    size_t count = lists[of].count;
    for (size_t i = 0; i < count; i++) {
        size_t at = (*hint + 1 + i) % count;
        if (strcmp(lists[of].members[at].key, key) == 0) {
            *hint = at;
            return &lists[of].members[at];
        }
    }
    return NULL;
}

static unsigned char *bytes_of(const struct vv_dag *dag, struct vv_member_cell cell)
{
    uintptr_t table = cell.of == VV_OF_NODE ? (uintptr_t)&dag->nodes : (uintptr_t)&dag->edges;
    unsigned char *cells = *(unsigned char *const *)(table + cell.member->pointer_offset);
    return cells + (size_t)cell.row * cell.member->width_bytes;
}

struct vv_member_value vv_dag_member_get(const struct vv_dag *dag, struct vv_member_cell cell)
{
    const struct vv_member *member = cell.member;
    struct vv_member_value value = { .text = NULL };
    memcpy(&value.number, bytes_of(dag, cell), member->width_bytes); /* little-endian */
    value.is_blank = !member->is_always_there && value.number == member->blank;
    if (member->kind == VV_MEMBER_TEXT) {
        value.text = vv_dag_string(dag, (uint32_t)value.number);
    } else if (member->kind == VV_MEMBER_WORD) {
        value.text = cell.of == VV_OF_NODE ? vv_dag_kind_word((enum vv_dag_kind)value.number)
                                           : vv_dag_edge_word((enum vv_dag_edge_kind)value.number);
    } else if (member->kind == VV_MEMBER_FLAG) {
        value.is_blank = (value.number & member->flag) == 0;
        value.text = "true";
    } else if (member->kind == VV_MEMBER_NODE && !value.is_blank) {
        value.number = dag->nodes.id[value.number];
    }
    return value;
}

/* ---- from texts ---- */

enum varve_code vv_dag_text_of(struct vv_dag *dag, const char *text, size_t length,
                               uint32_t *out_id, struct varve_error *error)
{
    if (vv_utf8_is_text(text, length))
        return vv_intern_add(&dag->strings, text, length, out_id, error);
    char *valid = malloc(length * 3 + 1);
    if (valid == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a text of %zu bytes", length);
    size_t bytes = vv_utf8_repair(text, length, valid);
    enum varve_code code = vv_intern_add(&dag->strings, valid, bytes, out_id, error);
    free(valid);
    return code;
}

static bool read_number(const struct vv_member *member, const char *text, size_t length,
                        uint64_t *out_number)
{
    char *end;
    if (length == 0 || strchr("-0123456789", text[0]) == NULL)
        return false;
    errno = 0;
    *out_number = member->kind == VV_MEMBER_SIGNED ? (uint64_t)strtoll(text, &end, 10)
                                                   : strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && (member->kind == VV_MEMBER_SIGNED || text[0] != '-') &&
           (member->width_bytes == 8 || *out_number >> (member->width_bytes * 8) == 0);
}

static bool read_word(enum vv_member_of of, const char *text, uint64_t *out_number)
{
    uint64_t kinds = of == VV_OF_NODE ? VV_DAG_KINDS : VV_DAG_EDGE_KINDS;
    *out_number = of == VV_OF_NODE ? (uint64_t)vv_dag_find_kind(text)
                                   : (uint64_t)vv_dag_find_edge_kind(text);
    return *out_number < kinds;
}

enum varve_code vv_dag_member_set(struct vv_dag *dag, struct vv_member_cell cell, const char *text,
                                  size_t length, bool *out_is_set, struct varve_error *error)
{
    const struct vv_member *member = cell.member;
    unsigned char *bytes = bytes_of(dag, cell);
    uint64_t number = 0;
    uint32_t string = 0;
    bool is_set = true;
    if (member->kind == VV_MEMBER_TEXT) {
        VV_TRY(vv_dag_text_of(dag, text, length, &string, error));
        number = string;
    } else if (member->kind == VV_MEMBER_WORD) {
        is_set = read_word(cell.of, text, &number);
    } else if (member->kind == VV_MEMBER_FLAG) {
        is_set = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
        number = (unsigned)*bytes & ~(unsigned)member->flag;
        number |= text[0] == 't' ? member->flag : 0u;
    } else {
        is_set = read_number(member, text, length, &number);
    }
    if (is_set)
        memcpy(bytes, &number, member->width_bytes);
    *out_is_set = is_set;
    return VARVE_OK;
}
