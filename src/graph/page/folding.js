/* SPDX-License-Identifier: Apache-2.0 */
/* folding.js — which groups are open, and what is seen then: a node whose groups are all open. */

const FIRST_VIEW = 60;      /* nodes that a person can read at once                             */
const TOO_FEW = 8;

function seenOf(graph, open) {
    const seen = new Uint8Array(graph.count);
    for (let row = 0; row < graph.count; row++) {
        const above = graph.parent[row];
        seen[row] = above < 0 || (seen[above] && open[above]) ? 1 : 0;
    }
    return seen;
}

/* "24 × layer": one group that stands for 24 equal ones. */
function isRepeated(graph, row) {
    return /^\d+ × /.test(graph.names[row]);
}

/* Opens groups from outside to inside while the picture stays readable; repeated ones stay folded,
 * unless there would be next to nothing to see. */
function openAtFirst(graph) {
    const open = new Uint8Array(graph.count);
    const waiting = [];
    let count = graph.roots.length;
    let level = graph.roots.filter(row => childCount(graph, row) > 0);
    while (level.length > 0) {
        const next = [];
        for (const row of level) {
            const inside = childCount(graph, row);
            if (isRepeated(graph, row)) waiting.push(row);
            else if (count + inside > FIRST_VIEW) continue;
            else {
                open[row] = 1;
                count += inside;
                for (const child of childrenOf(graph, row))
                    if (childCount(graph, child) > 0) next.push(child);
            }
        }
        level = next;
    }
    waiting.sort((a, b) => graph.total[b] - graph.total[a] || a - b);
    for (let at = 0; at < waiting.length && count < TOO_FEW; at++) {
        const row = waiting[at], inside = childCount(graph, row);
        if (count + inside > FIRST_VIEW) continue;
        open[row] = 1;
        count += inside;
        for (const child of childrenOf(graph, row))
            if (childCount(graph, child) > 0) waiting.push(child);
    }
    return open;
}

/* For each row, the seen node that stands for it: itself, or the folded group that it is in. */
function standInsOf(graph, seen) {
    const standIn = new Int32Array(graph.count);
    for (let row = 0; row < graph.count; row++)
        standIn[row] = seen[row] ? row : standIn[graph.parent[row]];
    return standIn;
}

function standsIn(graph, row, group) {
    while (row > group) row = graph.parent[row];
    return row === group;
}

/* Edges between what is seen: those of one kind between the same two become one. Those inside a
 * folded group, and from a node to itself or to a group that it stands in, are left out. */
function seenEdges(graph, standIn) {
    const { from, to, kind, critical, standsFor, count } = graph.edges;
    const at = new Map();
    const edges = { from: [], to: [], kind: [], critical: [], standsFor: [] };
    for (let edge = 0; edge < count; edge++) {
        const a = standIn[from[edge]], b = standIn[to[edge]];
        if (a === b || standsIn(graph, a, b) || standsIn(graph, b, a)) continue;
        const key = (a * graph.count + b) * 8 + kind[edge];
        const known = at.get(key);
        if (known === undefined) {
            at.set(key, edges.from.length);
            edges.from.push(a);
            edges.to.push(b);
            edges.kind.push(kind[edge]);
            edges.critical.push(critical[edge]);
            edges.standsFor.push(standsFor[edge]);
        } else {
            edges.standsFor[known] += standsFor[edge];
            edges.critical[known] |= critical[edge];
        }
    }
    return edges;
}
