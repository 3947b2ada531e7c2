/* SPDX-License-Identifier: Apache-2.0 */
/* graph.js — the graph as columns, from the JSON that src/graph/forms/json.c writes: a number that
 * is not there is 0. A row is a node's place in the file; a parent's row is smaller than its
 * child's. Nothing here changes after the page has been opened. */

const DEEPEST = 64;         /* groups in groups; those below stand beside the deepest           */
const NO_LEVEL = 4294967295, LAST_LEVEL = NO_LEVEL + 1;

/* Numbers beyond 2^53 would lose digits: such ids stay texts. */
function parsedGraph(text) {
    const exact = text.replace(/("(?:id|parent|edgeFrom|edgeTo)":\s*)(-?\d{16,})/g, '$1"$2"');
    const file = JSON.parse(exact);
    if (file === null || typeof file !== 'object' || !Array.isArray(file.nodes))
        throw new Error('the data of this page has no nodes');
    return file;
}

function number(value, otherwise) {
    return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function columnsOf(nodes, kinds) {
    const count = nodes.length;
    const columns = {
        count, nodes, kind: new Uint8Array(count), critical: new Uint8Array(count),
        executions: new Float64Array(count), total: new Float64Array(count),
        self: new Float64Array(count), memory: new Float64Array(count),
        begin: new Float64Array(count), level: new Float64Array(count),
        depth: new Uint8Array(count), parent: new Int32Array(count).fill(-1),
        names: new Array(count),
    };
    const kindOf = new Map(kinds.map((word, index) => [word, index]));
    for (let row = 0; row < count; row++) {
        const node = nodes[row];
        columns.kind[row] = kindOf.get(node.kind) ?? 0;
        columns.critical[row] = node.critical === true ? 1 : 0;
        columns.executions[row] = number(node.count, 0);
        columns.total[row] = number(node.total_ns, 0) + number(node.total_rest_ps, 0) / 1000;
        columns.self[row] = number(node.self_ns, 0);
        columns.memory[row] = number(node.memory_bytes, 0);
        columns.begin[row] = number(node.begin_ns, 0);
        columns.level[row] = number(node.level, NO_LEVEL);
        columns.names[row] = shown(node.name ?? '');
    }
    return columns;
}

function placeInGroups(graph, rowOf) {
    const { nodes, parent, depth, count } = graph;
    for (let row = 0; row < count; row++) {
        const above = nodes[row].parent == null ? undefined : rowOf.get(String(nodes[row].parent));
        if (above === undefined || above >= row) continue;
        parent[row] = depth[above] + 1 < DEEPEST ? above : parent[above];
        depth[row] = Math.min(depth[above] + 1, DEEPEST - 1);
    }
}

/* Lists of one int column by another: the rows with key k are rows[start[k]] to rows[start[k+1]-1],
 * in their order. Keys below 0 are in no list. */
function listsBy(keys, keyCount) {
    const start = new Int32Array(keyCount + 1), at = new Int32Array(keyCount);
    for (const key of keys) if (key >= 0) start[key + 1]++;
    for (let key = 0; key < keyCount; key++) start[key + 1] += start[key];
    const rows = new Int32Array(start[keyCount]);
    for (let row = 0; row < keys.length; row++)
        if (keys[row] >= 0) rows[start[keys[row]] + at[keys[row]]++] = row;
    return { start, rows };
}

/* Where a group begins: at the first of its nodes. Nodes that stand for what is not shown come
 * last. */
function spanGroups(graph, kinds) {
    const { count, parent, level, begin } = graph;
    const firstLevel = Float64Array.from(level), firstBegin = Float64Array.from(begin);
    const last = [kinds.indexOf('rest'), kinds.indexOf('outside')];
    for (let row = 0; row < count; row++)
        if (last.includes(graph.kind[row])) firstLevel[row] = LAST_LEVEL;
    for (let row = count - 1; row >= 0; row--) {
        const above = parent[row];
        if (above < 0) continue;
        firstLevel[above] = Math.min(firstLevel[above], firstLevel[row]);
        firstBegin[above] = Math.min(firstBegin[above], firstBegin[row]);
    }
    graph.firstLevel = firstLevel;
    graph.firstBegin = firstBegin;
}

function edgesOf(file, rowOf, kinds) {
    const rows = Array.isArray(file.edges) ? file.edges : [];
    const kindOf = new Map(kinds.map((word, index) => [word, index]));
    const edges = { from: new Int32Array(rows.length), to: new Int32Array(rows.length),
                    kind: new Uint8Array(rows.length), critical: new Uint8Array(rows.length),
                    standsFor: new Float64Array(rows.length), rows: [], count: 0 };
    for (const edge of rows) {
        const from = rowOf.get(String(edge.edgeFrom)), to = rowOf.get(String(edge.edgeTo));
        if (from === undefined || to === undefined) continue;
        const at = edges.count++;
        edges.from[at] = from;
        edges.to[at] = to;
        edges.kind[at] = kindOf.get(edge.kind) ?? kinds.length - 1;
        edges.critical[at] = edge.critical === true ? 1 : 0;
        edges.standsFor[at] = number(edge.count, 1);
        edges.rows.push(edge);
    }
    for (const name of ['from', 'to', 'kind', 'critical', 'standsFor'])
        edges[name] = edges[name].subarray(0, edges.count);
    return edges;
}

function notesOf(file) {
    const notes = file.varve && Array.isArray(file.varve.notes) ? file.varve.notes : [];
    return notes.map(([key, text]) => ({ key: shown(key), text: shown(text) }));
}

function readGraph(text, picture) {
    const file = parsedGraph(text);
    const graph = columnsOf(file.nodes, picture.kinds);
    const rowOf = new Map(file.nodes.map((node, row) => [String(node.id), row]));
    placeInGroups(graph, rowOf);
    spanGroups(graph, picture.kinds);
    graph.children = listsBy(graph.parent, graph.count);
    graph.edges = edgesOf(file, rowOf, picture.edges.map(edge => edge.kind));
    graph.leaving = listsBy(graph.edges.from, graph.count);
    graph.arriving = listsBy(graph.edges.to, graph.count);
    graph.notes = notesOf(file);
    graph.roots = [];
    graph.whole = 0;
    let outermost = 0;
    graph.earliest = Infinity;
    for (let row = 0; row < graph.count; row++) {
        graph.whole += graph.self[row];
        if (graph.executions[row] > 0) graph.earliest = Math.min(graph.earliest, graph.begin[row]);
        if (graph.parent[row] >= 0) continue;
        graph.roots.push(row);
        outermost += graph.total[row];
    }
    if (!(graph.whole > 0)) graph.whole = outermost;
    return graph;
}

function childCount(graph, row) {
    return graph.children.start[row + 1] - graph.children.start[row];
}

function childrenOf(graph, row) {
    return row < 0 ? graph.roots
        : graph.children.rows.subarray(graph.children.start[row], graph.children.start[row + 1]);
}
