/* SPDX-License-Identifier: Apache-2.0 */
/* layout.js — places what is seen. Each open group is a box with its children in layers: a node
 * stands below all that lead to it. What would be a long thread or an endless row is broken into
 * columns or lines, as a newspaper does, so that the whole has the form of a page.
 *
 * Deterministic. Groups are placed from inside to outside, and then moved from outside to inside;
 * each takes O(n log n) in its children and in the edges between them. */

const NODE_HEIGHT = 40, NODE_LEAST = 104, NODE_MOST = 270, CHARACTER = 8.2;
const HEAD = 26, PADDING = 14, GAP = 18, LAYER_GAP = 34, LINE_GAP = 14, COLUMN_GAP = 48;
const PAGE_FORM = 1.6;      /* width to height                                                  */
const TALL = 1200, WIDE = 2400, STRETCHED = 2.2;
const SWEEPS = 4;

/* Calls visit(from, to) with children of one group, for each edge that leads from one into the
 * other. */
function betweenSiblings(graph, edges, visit) {
    const { parent, depth } = graph;
    for (let edge = 0; edge < edges.from.length; edge++) {
        let a = edges.from[edge], b = edges.to[edge];
        while (depth[a] > depth[b]) a = parent[a];
        while (depth[b] > depth[a]) b = parent[b];
        if (a === b) continue; /* one stands in the other */
        while (parent[a] !== parent[b]) {
            a = parent[a];
            b = parent[b];
        }
        visit(a, b);
    }
}

/* The edges between siblings as lists by row: those that lead downwards in the graph's order, so
 * that there is no circle. */
function siblingLists(graph, edges) {
    const { firstLevel, firstBegin, count } = graph;
    const isBefore = (a, b) => firstLevel[a] !== firstLevel[b] ? firstLevel[a] < firstLevel[b]
        : firstBegin[a] !== firstBegin[b] ? firstBegin[a] < firstBegin[b] : a < b;
    const above = [], below = [];
    betweenSiblings(graph, edges, (a, b) => {
        if (!isBefore(a, b)) return;
        above.push(a);
        below.push(b);
    });
    const from = listsBy(Int32Array.from(above), count);
    const to = listsBy(Int32Array.from(below), count);
    return { isBefore,
             below: { start: from.start, rows: from.rows.map(edge => below[edge]) },
             above: { start: to.start, rows: to.rows.map(edge => above[edge]) } };
}

function layersOf(graph, children, lists, layerOf) {
    const order = Array.from(children).sort((a, b) => lists.isBefore(a, b) ? -1 : 1);
    const rank = layerOf;
    for (const row of order) rank[row] = 0;
    let known = 0;
    for (const row of order) {
        if (graph.firstLevel[row] !== NO_LEVEL) known = graph.firstLevel[row];
        rank[row] = Math.max(rank[row], known);
        for (let at = lists.below.start[row]; at < lists.below.start[row + 1]; at++) {
            const next = lists.below.rows[at];
            rank[next] = Math.max(rank[next], rank[row] + 1);
        }
    }
    const ranks = Array.from(new Set(order.map(row => rank[row]))).sort((a, b) => a - b);
    const dense = new Map(ranks.map((value, index) => [value, index]));
    const layers = ranks.map(() => []);
    for (const row of order) {
        rank[row] = dense.get(rank[row]);
        layers[rank[row]].push(row);
    }
    return layers;
}

/* Orders each layer by the mean place of its neighbours, downwards and upwards in turn. */
function orderLayers(layers, lists, place) {
    const number = layer => layer.forEach((row, at) => { place[row] = (at + 0.5) / layer.length; });
    layers.forEach(number);
    const mean = new Map();
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const { start, rows } = sweep % 2 === 0 ? lists.above : lists.below;
        for (const layer of sweep % 2 === 0 ? layers : layers.slice().reverse()) {
            if (layer.length < 2) continue;
            for (const row of layer) {
                let sum = 0;
                for (let at = start[row]; at < start[row + 1]; at++) sum += place[rows[at]];
                const count = start[row + 1] - start[row];
                mean.set(row, count > 0 ? sum / count : place[row]);
            }
            layer.sort((a, b) => mean.get(a) - mean.get(b) || place[a] - place[b]);
            number(layer);
        }
    }
}

/* ---- a group that fits on a page: layers as lines, each node as near its neighbours as order and
 * gaps let it ---- */

/* The nearest increasing numbers to `wanted` (least squares): neighbours that would change places
 * share their mean. */
function nearestIncreasing(wanted) {
    const means = [], sizes = [];
    for (const value of wanted) {
        means.push(value);
        sizes.push(1);
        while (means.length > 1 && means[means.length - 2] > means[means.length - 1]) {
            const size = sizes.pop(), mean = means.pop(), last = means.length - 1;
            means[last] = (means[last] * sizes[last] + mean * size) / (sizes[last] + size);
            sizes[last] += size;
        }
    }
    return means.flatMap((mean, at) => new Array(sizes[at]).fill(mean));
}

function centreLayer(layer, boxes, lists, middle) {
    const offsets = [];
    let width = 0;
    for (const row of layer) {
        offsets.push(width + boxes.w[row] / 2);
        width += boxes.w[row] + GAP;
    }
    const wanted = layer.map((row, index) => {
        let sum = 0, count = 0;
        for (const { start, rows } of lists) {
            for (let at = start[row]; at < start[row + 1]; at++) sum += middle[rows[at]];
            count += start[row + 1] - start[row];
        }
        return (count > 0 ? sum / count : middle[row]) - offsets[index];
    });
    nearestIncreasing(wanted).forEach((value, index) => {
        middle[layer[index]] = value + offsets[index];
    });
}

function placeLayers(layers, boxes, lists) {
    const middle = boxes.middle;
    for (const layer of layers) {
        let width = -GAP;
        for (const row of layer) width += boxes.w[row] + GAP;
        let x = -width / 2;
        for (const row of layer) {
            middle[row] = x + boxes.w[row] / 2;
            x += boxes.w[row] + GAP;
        }
    }
    const backwards = layers.slice().reverse();
    for (let sweep = 0; sweep < 2; sweep++) {
        for (const layer of layers) centreLayer(layer, boxes, [lists.above], middle);
        for (const layer of backwards) centreLayer(layer, boxes, [lists.below], middle);
    }
    for (const layer of layers) centreLayer(layer, boxes, [lists.above, lists.below], middle);
    let y = 0, left = Infinity, right = -Infinity;
    for (const layer of layers) {
        let height = 0;
        for (const row of layer) height = Math.max(height, boxes.h[row]);
        for (const row of layer) {
            boxes.x[row] = middle[row] - boxes.w[row] / 2;
            boxes.y[row] = y + (height - boxes.h[row]) / 2;
            left = Math.min(left, boxes.x[row]);
            right = Math.max(right, boxes.x[row] + boxes.w[row]);
        }
        y += height + LAYER_GAP;
    }
    for (const layer of layers) for (const row of layer) boxes.x[row] -= left;
    return { w: right - left, h: y - LAYER_GAP };
}

/* ---- a group that does not: lines of at most one width, columns of at most one height ---- */

/* Moves the lines of a column to its middle. */
function centreLines(lines, boxes, width) {
    for (const { rows, w } of lines)
        for (const row of rows) boxes.x[row] += (width - w) / 2;
}

function brokenIntoLines(layers, boxes, width) {
    const lines = [];
    for (const layer of layers) {
        for (let first = 0; first < layer.length;) {
            let end = first, w = -GAP, h = 0;
            while (end < layer.length &&
                   (end === first || w + GAP + boxes.w[layer[end]] <= width)) {
                w += GAP + boxes.w[layer[end]];
                h = Math.max(h, boxes.h[layer[end++]]);
            }
            lines.push({ rows: layer.slice(first, end), w, h,
                         gap: end < layer.length ? LINE_GAP : LAYER_GAP * 0.7 });
            first = end;
        }
    }
    return lines;
}

function placeInColumns(lines, boxes, height) {
    let x = 0, y = 0, width = 0, tallest = 0, column = [];
    for (const line of lines) {
        if (y > 0 && y + line.h > height) {
            centreLines(column, boxes, width);
            x += width + COLUMN_GAP;
            y = width = 0;
            column = [];
        }
        let at = x;
        for (const row of line.rows) {
            boxes.x[row] = at;
            boxes.y[row] = y + (line.h - boxes.h[row]) / 2;
            at += boxes.w[row] + GAP;
        }
        column.push(line);
        width = Math.max(width, line.w);
        tallest = Math.max(tallest, y + line.h);
        y += line.h + line.gap;
    }
    centreLines(column, boxes, width);
    return { w: x + width, h: tallest };
}

/* How much air a line has is known only when it stands, so it takes a few tries. */
function placeOnPage(layers, boxes, size) {
    let height = Math.sqrt(Math.max(size.area, 1) / PAGE_FORM), placed;
    for (let attempt = 0; attempt < 4; attempt++) {
        height = Math.max(height, size.tallest);
        const width = Math.max(height * PAGE_FORM, size.widest);
        placed = placeInColumns(brokenIntoLines(layers, boxes, width), boxes, height);
        const stretch = placed.w / (placed.h * PAGE_FORM);
        if (stretch < 1.25) break;
        height = placed.h * Math.sqrt(stretch);
    }
    return placed;
}

function measured(layers, boxes) {
    const size = { w: 0, h: -LAYER_GAP, area: 0, widest: 0, tallest: 0 };
    for (const layer of layers) {
        let width = -GAP, height = 0;
        for (const row of layer) {
            width += boxes.w[row] + GAP;
            height = Math.max(height, boxes.h[row]);
            size.area += (boxes.w[row] + GAP) * (boxes.h[row] + LAYER_GAP);
            size.widest = Math.max(size.widest, boxes.w[row]);
        }
        size.w = Math.max(size.w, width);
        size.h += height + LAYER_GAP;
        size.tallest = Math.max(size.tallest, height);
    }
    return size;
}

function placeGroup(graph, children, boxes, lists) {
    if (children.length === 0) return { w: 0, h: 0 };
    const layers = layersOf(graph, children, lists, boxes.layer);
    orderLayers(layers, lists, boxes.place);
    const size = measured(layers, boxes);
    const isPage = (size.h <= TALL || size.h <= STRETCHED * size.w) &&
        (size.w <= WIDE || size.w <= 2 * STRETCHED * size.h);
    return isPage ? placeLayers(layers, boxes, lists) : placeOnPage(layers, boxes, size);
}

/* A folded group has a sign before its name. */
function nodeWidth(name, isGroup) {
    const characters = Math.min(name.length, 60) + (isGroup ? 4 : 0);
    return Math.min(NODE_MOST, Math.max(NODE_LEAST, 22 + CHARACTER * characters));
}

/* Boxes by row, in units of the picture (pixels at zoom 1); only those of what is seen count. */
function layOut(graph, open, seen, edges) {
    const count = graph.count;
    const boxes = { x: new Float64Array(count), y: new Float64Array(count),
                    w: new Float64Array(count), h: new Float64Array(count),
                    middle: new Float64Array(count), place: new Float64Array(count),
                    layer: new Float64Array(count), isOpen: new Uint8Array(count) };
    const lists = siblingLists(graph, edges);
    for (let row = count - 1; row >= 0; row--) {
        if (!seen[row]) continue;
        boxes.isOpen[row] = open[row] && childCount(graph, row) > 0 ? 1 : 0;
        boxes.w[row] = nodeWidth(graph.names[row], childCount(graph, row) > 0);
        boxes.h[row] = NODE_HEIGHT;
        if (!boxes.isOpen[row]) continue;
        const size = placeGroup(graph, childrenOf(graph, row), boxes, lists);
        boxes.w[row] = Math.max(boxes.w[row] + 6 * PADDING, size.w + 2 * PADDING);
        boxes.h[row] = size.h + HEAD + 2 * PADDING;
        const spare = (boxes.w[row] - size.w) / 2;
        for (const child of childrenOf(graph, row)) {
            boxes.x[child] += spare;
            boxes.y[child] += HEAD + PADDING;
        }
    }
    const size = placeGroup(graph, graph.roots, boxes, lists);
    for (let row = 0; row < count; row++) {
        const above = graph.parent[row];
        if (!seen[row] || above < 0) continue;
        boxes.x[row] += boxes.x[above];
        boxes.y[row] += boxes.y[above];
    }
    boxes.width = size.w;
    boxes.height = size.h;
    return boxes;
}

/* From the lower side of one node to the upper side of another. A line that would pass behind the
 * nodes between them goes around. */
function linesOf(edges, boxes) {
    const count = edges.from.length, lines = {};
    for (const name of ['x1', 'y1', 'x2', 'y2', 'bend', 'aside'])
        lines[name] = new Float64Array(count);
    for (let edge = 0; edge < count; edge++) {
        const a = edges.from[edge], b = edges.to[edge];
        const x1 = boxes.x[a] + boxes.w[a] / 2, x2 = boxes.x[b] + boxes.w[b] / 2;
        const y1 = boxes.y[a] + boxes.h[a], gap = boxes.y[b] - y1;
        let bend = Math.max(12, Math.abs(gap) * 0.4), aside = 0;
        if (gap < 0) { /* into the next column, or back */
            const isBeside = boxes.x[b] > boxes.x[a] + boxes.w[a] ||
                boxes.x[a] > boxes.x[b] + boxes.w[b];
            bend = isBeside ? Math.min(bend, 60) : 24;
        } else if (gap > NODE_HEIGHT + LAYER_GAP && Math.abs(x1 - x2) < NODE_LEAST) {
            const widest = Math.min(NODE_MOST, Math.max(boxes.w[a], boxes.w[b]));
            aside = (widest / 2 + 24) / 0.75 * (edges.kind[edge] % 2 === 0 ? 1 : -1);
        }
        lines.x1[edge] = x1;
        lines.y1[edge] = y1;
        lines.x2[edge] = x2;
        lines.y2[edge] = boxes.y[b];
        lines.bend[edge] = bend;
        lines.aside[edge] = aside;
    }
    return lines;
}

/* What the canvas draws: rows from outside to inside, and the edges between them. */
function sceneOf(graph, open) {
    const seen = seenOf(graph, open);
    const standIn = standInsOf(graph, seen);
    const edges = seenEdges(graph, standIn);
    const boxes = layOut(graph, open, seen, edges);
    const rows = [], isLeaf = new Uint8Array(graph.count);
    for (let row = 0; row < graph.count; row++) {
        if (seen[row]) rows.push(row);
        isLeaf[row] = seen[row] && !boxes.isOpen[row] ? 1 : 0;
    }
    return { rows: Int32Array.from(rows), standIn, edges, boxes, isLeaf,
             lines: linesOf(edges, boxes),
             leaves: Int32Array.from(rows.filter(row => !boxes.isOpen[row])),
             groups: Int32Array.from(rows.filter(row => boxes.isOpen[row])) };
}
