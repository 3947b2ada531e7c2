/* SPDX-License-Identifier: Apache-2.0 */
/* panel.js — the side panel: all that the graph knows of one node. Texts of the trace are set as
 * text, never as markup. */

const LINKS_AT_FIRST = 30, MOST_BARS = 120;

function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (name === 'onclick') made.addEventListener('click', value);
        else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

function drawing(tag, attributes, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

function rowsTable(pairs) {
    const table = element('table');
    for (const [key, text] of pairs)
        if (text !== '' && text !== undefined)
            table.append(element('tr', {}, element('th', { scope: 'row' }, key),
                                 element('td', {}, text)));
    return table.childElementCount > 0 ? table : element('p', {}, 'no time known');
}

function timesOf(graph, row) {
    const node = graph.nodes[row];
    const known = graph.executions[row] > 0, isGroup = childCount(graph, row) > 0;
    const isSpread = known && (node.max_ns > 0 || graph.total[row] === 0); /* else not known */
    const time = name => isSpread ? durationText(number(node[name], 0)) : '';
    return [
        ['total', known ? durationText(graph.total[row]) : ''],
        ['self', known ? durationText(graph.self[row]) : ''],
        ['share', known && graph.whole > 0 ? percentText(graph.total[row] / graph.whole) : ''],
        ['mean', known && !isGroup ? durationText(graph.total[row] / graph.executions[row]) : ''],
        ['least', time('min_ns')], ['p50', time('p50_ns')], ['p95', time('p95_ns')],
        ['most', time('max_ns')],
        [isGroup ? 'executions inside' : 'count', countText(graph.executions[row])],
        ['on the critical path', node.critical_ns > 0 ? durationText(node.critical_ns) : ''],
        ['begins', known ? durationText(graph.begin[row] - graph.earliest) + ' after the first'
            : ''],
    ];
}

function factsOf(graph, row) {
    const node = graph.nodes[row], text = name => node[name] ? shown(node[name]) : '';
    const amount = (name, unit) => node[name] > 0 ? scaledText(node[name], unit) : '';
    return [
        ['inputs', text('inputs')], ['outputs', text('outputs')],
        ['memory', amount('memory_bytes', 'bytes')], ['moved', amount('bytes', 'bytes')],
        ['operations', amount('flop', 'flop')],
        ['module', text('module')], ['phase', text('phase')], ['source', text('source')],
        ['where', text('where')], ['device', text('device')],
        ['group', graph.parent[row] >= 0 ? graph.names[graph.parent[row]] : ''],
        ['level', graph.level[row] < NO_LEVEL ? countText(graph.level[row]) : ''],
        ['unfinished', node.unfinished === true ? 'the end was not recorded' : ''],
    ];
}

/* Steps as bars; if there are too many, each bar has the sum of several. */
function barsOf(occurrences) {
    const each = Math.ceil(occurrences.length / MOST_BARS);
    const bars = [];
    occurrences.forEach(([step, count, total], at) => {
        if (at % each === 0) bars.push({ first: step, last: step, total, count });
        else {
            const bar = bars[bars.length - 1];
            bar.last = step;
            bar.total += total;
            bar.count += count;
        }
    });
    return { bars, each };
}

function occurrencesChart(occurrences) {
    const { bars, each } = barsOf(occurrences);
    const most = bars.reduce((largest, bar) => Math.max(largest, bar.total), 0);
    const width = 300, height = 70, step = width / bars.length;
    const chart = drawing('svg', { viewBox: `0 0 ${width} ${height + 4}`, role: 'img',
                                   preserveAspectRatio: 'none' });
    chart.setAttribute('aria-label', `time in each of ${occurrences.length} steps; most ` +
                       durationText(most));
    bars.forEach((bar, at) => {
        const tall = most > 0 ? Math.max(1, bar.total / most * height) : 1;
        const title = drawing('title', {});
        const steps = bar.first === bar.last ? `step ${bar.first}`
            : `steps ${bar.first} to ${bar.last}`;
        title.textContent = `${steps}: ${durationText(bar.total)}, ${countText(bar.count)} ×`;
        chart.append(drawing('rect', { x: at * step + step * 0.08, y: height - tall + 2,
                                       width: step * 0.84, height: tall }, title));
    });
    chart.append(drawing('line', { x1: 0, x2: width, y1: height + 2.5, y2: height + 2.5 }));
    const axis = element('div', { class: 'axis' },
        element('span', {}, `step ${bars[0].first}`),
        element('span', {}, `${each > 1 ? `${each} steps a bar; ` : ''}most ${durationText(most)}`),
        element('span', {}, String(bars[bars.length - 1].last)));
    return [chart, axis];
}

/* links: { row, says }; longer lists open by a button. */
function linkList(links, graph, go) {
    const list = element('ul');
    const add = (first, end) => {
        for (const { row, says } of links.slice(first, end))
            list.append(element('li', {},
                element('button', { type: 'button', class: 'link', onclick: () => go(row) },
                        shortened(graph.names[row], 120) || '(no name)'),
                element('span', {}, says)));
        if (end >= links.length) return;
        const more = element('button', { type: 'button', class: 'more' },
                             `${countText(links.length - end)} more`);
        more.addEventListener('click', () => { more.remove(); add(end, end + 200); });
        list.append(more);
    };
    add(0, LINKS_AT_FIRST);
    return list;
}

function edgeLinks(graph, picture, lists, far, row) {
    const links = [];
    for (let at = lists.start[row]; at < lists.start[row + 1]; at++) {
        const edge = lists.rows[at], file = graph.edges.rows[edge];
        const says = [picture.edges[graph.edges.kind[edge]].kind];
        if (file.name) says.push(shortened(shown(file.name), 28));
        const count = graph.edges.standsFor[edge];
        if (count > 1) says.push(countText(count) + ' ×');
        if (file.bytes > 0) says.push(scaledText(file.bytes, 'bytes'));
        links.push({ row: graph.edges[far][edge], says: says.join(' · ') });
    }
    return links;
}

function fillPanel(content, view, row, actions) {
    const { graph, picture } = view;
    const kind = picture.kinds[graph.kind[row]], inside = childCount(graph, row);
    content.replaceChildren(
        element('h2', { id: 'panel-name' }, shown(graph.nodes[row].name ?? '') || '(no name)'),
        element('p', { class: 'kind' }, kind +
            (inside > 0 ? `, ${countText(inside)} nodes inside` : '') +
            (graph.critical[row] ? ', on the critical path' : '')));
    if (inside > 0)
        content.append(element('button', { type: 'button', id: 'panel-fold',
                                           onclick: () => actions.toggle(row) },
                               view.open[row] ? 'Fold' : 'Unfold'));
    content.append(element('h3', {}, 'Times'), rowsTable(timesOf(graph, row)));
    const facts = factsOf(graph, row);
    if (facts.some(([, text]) => text !== ''))
        content.append(element('h3', {}, 'What it is'), rowsTable(facts));
    const occurrences = graph.nodes[row].occurrences;
    if (Array.isArray(occurrences) && occurrences.length > 0)
        content.append(element('h3', {}, 'Time in each step'), ...occurrencesChart(occurrences));
    const largestFirst = (a, b) => graph.total[b] - graph.total[a] || a - b;
    const sections = [
        ['From', edgeLinks(graph, picture, graph.arriving, 'from', row)],
        ['To', edgeLinks(graph, picture, graph.leaving, 'to', row)],
        ['Inside', Array.from(childrenOf(graph, row)).sort(largestFirst).map(
            child => ({ row: child, says: view.valueOf(child) }))],
    ];
    for (const [title, links] of sections) {
        if (links.length === 0) continue;
        content.append(element('h3', {}, `${title} (${countText(links.length)})`),
                       linkList(links, graph, actions.go));
    }
}
