/* SPDX-License-Identifier: Apache-2.0 */
/* legend.js — what the colours and lines of the picture mean, and what the graph does not know. */

function drawRamp(view) {
    const canvas = document.getElementById('ramp'), { picture, scale, colours } = view;
    canvas.width = picture.classes * 8;
    canvas.height = 12;
    const context = canvas.getContext('2d');
    for (let at = 0; at < picture.classes; at++) {
        const isMiddle = scale.ranks.length === 1;
        context.fillStyle = colours.fills[isMiddle ? (picture.classes - 1) / 2 : at][0];
        context.fillRect(at * 8, 0, 8, 12);
    }
}

function rampTexts(view) {
    const { scale, picture } = view, unit = UNITS[view.metric];
    const says = (list, word) => list.find(([name]) => name === word)[1];
    const title = says(picture.metrics, scale.metric) + ', ' + says(picture.scales, scale.kind);
    if (scale.ranks.length === 0) return [title + ': no node has any', []];
    if (scale.ranks.length === 1) return [title + ': all equal', [valueText(scale.most, unit)]];
    return [title, [0, 0.5, 1].map(position => valueText(valueAt(scale, position), unit))];
}

function showRamp(view) {
    drawRamp(view);
    const [title, ticks] = rampTexts(view);
    document.getElementById('ramp-title').textContent = title;
    document.getElementById('ramp').setAttribute('aria-label', `${title}: ${ticks.join(', ')}`);
    const spans = ticks.map(text => element('span', {}, text));
    document.getElementById('ramp-ticks').replaceChildren(...spans);
    const classes = [];
    const add = (colour, says, isDashed) => {
        const patch = element('i', isDashed ? { class: 'dashed' } : {});
        patch.style.background = view.colours.fills[colour][0];
        classes.push(element('span', {}, patch, says));
    };
    const used = new Set(view.classes), { zero, aside } = view.picture;
    if (used.has(zero))
        add(zero, view.metric === 'memory' ? 'no memory, or not known' : 'no time', false);
    if (used.has(aside)) add(aside, 'time not known, or of what is not shown', true);
    document.getElementById('classes').replaceChildren(...classes);
}

function lineSample(view, kind) {
    const { dash, width } = view.picture.edges[kind];
    const sample = drawing('svg', { viewBox: '0 0 34 10', 'aria-hidden': 'true' });
    sample.append(drawing('line', { x1: 1, y1: 5, x2: 33, y2: 5, stroke: view.colours.edges[kind],
                                    'stroke-width': width * 1.3,
                                    'stroke-dasharray': dash.join(' ') }));
    return sample;
}

/* Kinds that the graph has, each with a switch; then those that it has not, and those that nobody
 * knows. The notes say why. */
function showEdgeKinds(view, changed) {
    const box = document.getElementById('edges'), absent = new Map();
    const counts = new Array(view.picture.edges.length).fill(0);
    for (const kind of view.graph.edges.kind) counts[kind]++;
    box.replaceChildren(box.querySelector('legend'));
    view.picture.edges.forEach(({ kind, says }, index) => {
        const note = view.graph.notes.find(({ key }) => key === kind + ' edges');
        if (counts[index] === 0) {
            const word = note && note.text.startsWith('not known') ? 'not known' : 'none';
            absent.set(word, [...absent.get(word) ?? [], kind]);
            return;
        }
        const input = element('input', { type: 'checkbox', id: 'edge-' + kind });
        input.checked = view.showsEdge[index];
        input.addEventListener('change', () => changed(index, input.checked));
        box.append(element('label', { title: says + (note ? ': ' + note.text : '') }, input,
                           lineSample(view, index), `${kind} (${countText(counts[index])})`));
    });
    for (const [word, kinds] of absent)
        box.append(element('span', { class: 'absent' }, `${word}: ${kinds.join(', ')}`));
}

function showNotes(view) {
    const list = document.getElementById('notes-list');
    list.replaceChildren(...view.graph.notes.flatMap(({ key, text }) =>
        [element('dt', {}, key), element('dd', {}, text)]));
    document.getElementById('notes').hidden = view.graph.notes.length === 0;
}
