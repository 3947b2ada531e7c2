/* SPDX-License-Identifier: Apache-2.0 */
/* colours.js — which colour a node has, by metric and scale: the rules of src/graph/picture, whose
 * colours and words come in `picture`, the page's second data block. */

const UNITS = { total: 'ns', self: 'ns', mean: 'ns', share: 'ratio', memory: 'bytes',
    count: 'count' };

function metricOf(graph, metric, row) {
    switch (metric) {
    case 'self': return graph.self[row];
    case 'mean': return graph.executions[row] > 0 ? graph.total[row] / graph.executions[row] : 0;
    case 'share': return graph.whole > 0 ? graph.total[row] / graph.whole : 0;
    case 'memory': return graph.memory[row];
    case 'count': return graph.executions[row];
    default: return graph.total[row];
    }
}

/* Rows, the largest value first. */
function byValue(graph, metric) {
    const values = new Float64Array(graph.count);
    for (let row = 0; row < graph.count; row++) values[row] = metricOf(graph, metric, row);
    return Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
}

function isAside(graph, picture, metric, row) {
    const kind = picture.kinds[graph.kind[row]];
    return kind === 'rest' || kind === 'outside' ||
        (graph.executions[row] === 0 && metric !== 'memory');
}

/* The scale is that of the nodes without children. */
function scaleOf(graph, picture, metric, kind) {
    const values = [];
    for (let row = 0; row < graph.count; row++) {
        const value = metricOf(graph, metric, row);
        if (value > 0 && childCount(graph, row) === 0 && !isAside(graph, picture, metric, row))
            values.push(value);
    }
    const ranks = Array.from(new Set(Float64Array.from(values).sort()));
    return { metric, kind, ranks, least: ranks[0] ?? 0, most: ranks[ranks.length - 1] ?? 0 };
}

function rankOf(ranks, value) {
    let low = 0, high = ranks.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (ranks[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low / (ranks.length - 1);
}

/* 0 (least) to 1 (most), of a value > 0. */
function positionOf(scale, value) {
    const { least, most, ranks } = scale;
    if (ranks.length < 2) return 0.5;
    const position = scale.kind === 'rank' ? rankOf(ranks, value)
        : scale.kind === 'log' ? Math.log(value / least) / Math.log(most / least)
        : (value - least) / (most - least);
    return Math.min(1, Math.max(0, position));
}

/* The value at a position: what the legend's ticks say. */
function valueAt(scale, position) {
    const { least, most, ranks } = scale;
    if (scale.kind === 'rank') return ranks[Math.round(position * (ranks.length - 1))] ?? 0;
    if (scale.kind === 'log') return least * Math.pow(most / least, position);
    return least + position * (most - least);
}

function classesOf(graph, picture, scale) {
    const classes = new Uint8Array(graph.count);
    for (let row = 0; row < graph.count; row++) {
        const value = metricOf(graph, scale.metric, row);
        classes[row] = isAside(graph, picture, scale.metric, row) ? picture.aside
            : !(value > 0) ? picture.zero
            : Math.floor(positionOf(scale, value) * (picture.classes - 1) + 0.5);
    }
    return classes;
}
