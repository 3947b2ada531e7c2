/* SPDX-License-Identifier: Apache-2.0 */
/* main.js — opens the page: reads the data, and ties controls, keys and picture together. Last file
 * of the script.
 *
 * `view` is all that changes; `actions` is all that changes it. The page keeps nothing: no storage,
 * no address, no request. */

const THEMES = ['auto', 'light', 'dark'];
const byId = id => document.getElementById(id);

function coloursOf(picture, theme) {
    const name = theme !== 'auto' ? theme
        : window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    const { fills, tones } = picture[name];
    return { name, fills, ...tones, edges: picture.edges.map(edge => edge[name]) };
}

function viewOf(graph, picture) {
    const view = { graph, picture, metric: picture.metric, scaleKind: picture.scale,
        theme: picture.theme, open: openAtFirst(graph), camera: { x: 0, y: 0, zoom: 1 },
        width: 1, height: 1, selected: -1, hovered: -1, matching: [], outlineOrder: 'graph',
        showsCritical: true, showsEdge: picture.edges.map(() => true), isMoving: false,
        drawn: { nodes: 0, edges: 0, callouts: 0, frames: 0 } };
    view.colours = coloursOf(picture, view.theme);
    view.valueOf = row => {
        if (view.metric === 'memory')
            return graph.memory[row] > 0 ? scaledText(graph.memory[row], 'bytes') : '';
        if (!(graph.executions[row] > 0)) return '';
        if (view.metric === 'count') return countText(graph.executions[row]) + '\u202f×';
        const often = graph.executions[row] > 1 && childCount(graph, row) === 0
            ? `, ${countText(graph.executions[row])} ×` : '';
        return valueText(metricOf(graph, view.metric, row), UNITS[view.metric]) + often;
    };
    return view;
}

/* ---- what the page does ---- */

function paintLater(view) {
    const canvas = byId('canvas');
    const context = canvas.getContext('2d', { alpha: false });
    let asked = 0, settling = 0;
    const paint = () => {
        asked = 0;
        const density = window.devicePixelRatio || 1;
        const width = Math.round(view.width * density), height = Math.round(view.height * density);
        if (canvas.width !== width) canvas.width = width;
        if (canvas.height !== height) canvas.height = height;
        draw(context, view, view.colours, density);
    };
    const redraw = () => { if (asked === 0) asked = window.requestAnimationFrame(paint); };
    const moved = () => {
        view.isMoving = true;
        clearTimeout(settling);
        settling = setTimeout(() => { view.isMoving = false; redraw(); }, SETTLED_MS);
        redraw();
    };
    return { paint, redraw, moved };
}

function tellStatus(view) {
    const { graph, scene } = view;
    byId('status').textContent = graph.count === 0 ? 'no nodes' :
        `${countText(scene.rows.length)} of ${countText(graph.count)} nodes shown, ` +
        `${countText(scene.edges.from.length)} edges; all: ${durationText(graph.whole)}`;
}

function themeActions(view, actions) {
    const apply = theme => {
        view.theme = theme;
        view.colours = coloursOf(view.picture, theme);
        const style = document.documentElement.style, { colours } = view;
        for (const tone of Object.keys(view.picture.light.tones))
            style.setProperty('--' + tone, colours[tone]);
        style.setProperty('--bar', colours.fills[Math.round(view.picture.classes * 0.6)][0]);
        style.colorScheme = colours.name;
        byId('theme').textContent = 'Theme: ' + (theme === 'auto' ? 'system' : theme);
        if (view.scene) actions.recoloured();
    };
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        if (view.theme === 'auto') apply('auto');
    });
    let before = null;
    window.addEventListener('beforeprint', () => {
        before = view.theme;
        apply('light');
        actions.paint();
    });
    window.addEventListener('afterprint', () => apply(before ?? view.theme));
    actions.theme = () => apply(THEMES[(THEMES.indexOf(view.theme) + 1) % THEMES.length]);
    actions.applyTheme = apply;
}

/* Folding and unfolding leave the group where it is on the screen. */
function foldActions(view, actions, parts) {
    const { graph } = view;
    actions.refold = anchor => {
        const before = view.scene;
        view.scene = sceneOf(graph, view.open);
        if (before && anchor >= 0) {
            view.camera.x += view.scene.boxes.x[anchor] - before.boxes.x[anchor];
            view.camera.y += view.scene.boxes.y[anchor] - before.boxes.y[anchor];
        }
        view.hovered = -1;
        parts.outline.fill();
        parts.search.tell();
        tellStatus(view);
        actions.redraw();
    };
    actions.toggle = row => {
        if (childCount(graph, row) === 0) return;
        view.open[row] = view.open[row] ? 0 : 1;
        actions.refold(row);
        actions.reselect();
    };
    actions.reselect = () => {
        const row = view.selected >= 0 ? view.scene.standIn[view.selected] : -1;
        if (row !== view.selected) actions.select(row);
        else if (row >= 0) fillPanel(byId('panel-content'), view, row, actions);
    };
    actions.foldAll = isOpen => {
        for (let row = 0; row < graph.count; row++)
            view.open[row] = isOpen && childCount(graph, row) > 0 ? 1 : 0;
        actions.refold(-1);
        actions.reselect();
        actions.fit();
    };
    actions.go = row => {
        let isChanged = false;
        for (let above = graph.parent[row]; above >= 0; above = graph.parent[above]) {
            isChanged = isChanged || !view.open[above];
            view.open[above] = 1;
        }
        if (isChanged) actions.refold(-1);
        actions.select(row);
        bringIntoView(view, row);
        actions.moved();
    };
}

function kindAndValue(view, row) {
    const value = view.valueOf(row);
    return view.picture.kinds[view.graph.kind[row]] + (value ? ', ' + value : '');
}

function nameAndValue(view, row) {
    return `${shortened(view.graph.names[row], 300) || '(no name)'}, ${kindAndValue(view, row)}`;
}

function selectActions(view, actions, parts) {
    const tip = byId('tip');
    actions.select = row => {
        view.selected = row;
        byId('panel').hidden = row < 0;
        byId('announcement').textContent = row < 0 ? '' : nameAndValue(view, row);
        if (row >= 0) fillPanel(byId('panel-content'), view, row, actions);
        if (row >= 0) byId('panel').scrollTop = 0;
        actions.measure();
        if (row >= 0) keepInView(view, view.scene.standIn[row]);
        parts.outline.show();
        if (row >= 0) parts.outline.reveal(row);
        actions.redraw();
    };
    actions.close = () => {
        actions.select(-1);
        byId('canvas').focus();
    };
    actions.hover = (row, at) => {
        if (row !== view.hovered) {
            view.hovered = row;
            byId('canvas').style.cursor = row >= 0 ? 'pointer' : 'grab';
            actions.redraw();
        }
        tip.hidden = row < 0;
        if (row < 0) return;
        tip.replaceChildren(shortened(view.graph.names[row], 300) || '(no name)',
                            element('span', {}, kindAndValue(view, row)));
        tip.style.left = Math.max(4, Math.min(at.x + 14, view.width - tip.offsetWidth - 6)) + 'px';
        tip.style.top = Math.max(4, Math.min(at.y + 16, view.height - tip.offsetHeight - 6)) + 'px';
    };
}

function lookActions(view, actions, parts) {
    actions.recoloured = () => {
        view.scale = scaleOf(view.graph, view.picture, view.metric, view.scaleKind);
        view.classes = classesOf(view.graph, view.picture, view.scale);
        view.byValue = byValue(view.graph, view.metric);
        byId('metric').value = view.metric;
        byId('scale').value = view.scaleKind;
        showRamp(view);
        showEdgeKinds(view, actions.showEdges);
        if (view.outlineOrder === 'value' && view.scene) parts.outline.fill();
        else if (view.scene) parts.outline.show();
        if (view.selected >= 0) fillPanel(byId('panel-content'), view, view.selected, actions);
        actions.redraw();
    };
    const { metrics, scales } = view.picture;
    const nextOf = (list, word) =>
        list[(list.findIndex(([name]) => name === word) + 1) % list.length][0];
    actions.metric = word => {
        view.metric = word ?? nextOf(metrics, view.metric);
        actions.recoloured();
    };
    actions.scale = word => {
        view.scaleKind = word ?? nextOf(scales, view.scaleKind);
        actions.recoloured();
    };
    actions.critical = () => {
        view.showsCritical = !view.showsCritical;
        byId('critical').setAttribute('aria-pressed', String(view.showsCritical));
        actions.redraw();
    };
    actions.showEdges = (kind, isShown) => { view.showsEdge[kind] = isShown; actions.redraw(); };
    actions.fit = () => { fitAll(view); actions.redraw(); };
    actions.zoom = factor => {
        zoomAt(view, factor, view.width / 2, view.height / 2);
        actions.moved();
    };
    actions.outline = () => {
        const isHidden = !byId('outline').hidden;
        byId('outline').hidden = isHidden;
        byId('show-outline').setAttribute('aria-pressed', String(!isHidden));
    };
    actions.order = order => { view.outlineOrder = order; parts.outline.fill(); };
    actions.leaveSearch = () => byId('canvas').focus();
}

/* ---- keys: what they do, and the words of the help ---- */

function keysOf(view, actions, parts) {
    const step = (dx, dy) => {
        const at = view.selected >= 0 ? view.scene.standIn[view.selected] : -1;
        const next = at >= 0 ? neighbourOf(view, at, dx, dy) : view.scene.rows[0] ?? -1;
        if (next < 0) return;
        actions.select(next);
        bringIntoView(view, next);
        actions.moved();
    };
    const pan = (dx, dy) => {
        view.camera.x += dx * 80 / view.camera.zoom;
        view.camera.y += dy * 80 / view.camera.zoom;
        actions.moved();
    };
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const keys = [
        [['?'], 'this list', () => byId('help').showModal()],
        [['/'], 'search; Enter and Shift+Enter go on', () => byId('search-text').focus()],
        [['n', 'N'], 'next match, previous match', key => parts.search.step(key === 'n' ? 1 : -1)],
        [Object.keys(arrows), 'to the next node that way; with Shift: move the picture',
         (key, shift) => (shift ? pan : step)(...arrows[key])],
        [['Enter', ' '], 'fold or unfold the chosen group',
         () => { if (view.selected >= 0) actions.toggle(view.selected); }],
        [['f', 'u'], 'fold all, unfold all', key => actions.foldAll(key === 'u')],
        [['+', '=', '-'], 'zoom in, zoom out', key => actions.zoom(key === '-' ? 1 / 1.3 : 1.3)],
        [['0'], 'see all', actions.fit],
        [['m'], 'next metric', () => actions.metric()],
        [['s'], 'next scale', () => actions.scale()],
        [['c'], 'critical path', actions.critical],
        [['t'], 'theme', actions.theme],
        [['l'], 'outline', actions.outline],
        [['Escape'], 'close the panel', actions.close],
    ];
    return { keys, arrows };
}

const KEY_NAMES = { ' ': 'Space', Escape: 'Esc', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑',
                    ArrowDown: '↓' };

function watchKeys(view, actions, parts) {
    const { keys, arrows } = keysOf(view, actions, parts);
    byId('help-keys').replaceChildren(...keys.flatMap(([names, says]) =>
        [element('dt', {}, ...names.map(name => element('kbd', {}, KEY_NAMES[name] ?? name))),
         element('dd', {}, says)]));
    const known = new Map(keys.flatMap(([names, , act]) => names.map(name => [name, act])));
    document.addEventListener('keydown', event => {
        const { target, key } = event;
        const isTyping = target.matches('input, select') || byId('help').open;
        const isPressing = (key === 'Enter' || key === ' ') && target.matches('button, summary');
        const isElsewhere = key in arrows && target !== byId('canvas') && target !== document.body;
        const isOther = event.ctrlKey || event.metaKey || event.altKey || !known.has(key);
        if (isOther || isPressing || isElsewhere) return;
        if (isTyping && !(key === 'Escape' && !byId('help').open)) return;
        event.preventDefault();
        known.get(key)(key, event.shiftKey);
    });
}

function watchControls(actions) {
    const on = (id, act) => byId(id).addEventListener('click', act);
    on('show-outline', actions.outline);
    on('fold-all', () => actions.foldAll(false));
    on('unfold-all', () => actions.foldAll(true));
    on('critical', actions.critical);
    on('zoom-in', () => actions.zoom(1.3));
    on('zoom-out', () => actions.zoom(1 / 1.3));
    on('fit', actions.fit);
    on('theme', actions.theme);
    on('help-open', () => byId('help').showModal());
    on('panel-close', actions.close);
    byId('metric').addEventListener('change', event => actions.metric(event.target.value));
    byId('scale').addEventListener('change', event => actions.scale(event.target.value));
    byId('outline-order').addEventListener('change', event => actions.order(event.target.value));
}

/* The panel takes its room from the picture. */
function watchSize(view, actions) {
    const stage = byId('stage');
    let isFirst = true;
    actions.measure = () => {
        view.width = Math.max(1, stage.clientWidth);
        view.height = Math.max(1, stage.clientHeight);
        if (isFirst) fitAll(view);
        isFirst = false;
        actions.paint();
    };
    const observer = new ResizeObserver(actions.measure);
    observer.observe(stage);
    try { /* the screen's pixels change, too, when the window goes to another screen */
        observer.observe(byId('canvas'), { box: 'device-pixel-content-box' });
    } catch {
        window.addEventListener('resize', actions.measure);
    }
    actions.measure();
}

function openPage() {
    const picture = JSON.parse(byId('varve-picture').textContent);
    const graph = readGraph(byId('varve-graph').textContent, picture);
    const view = viewOf(graph, picture), parts = {};
    const actions = paintLater(view);
    for (const [id, list] of [['metric', picture.metrics], ['scale', picture.scales]])
        byId(id).append(...list.map(([word, says]) => element('option', { value: word }, says)));
    themeActions(view, actions);
    selectActions(view, actions, parts);
    lookActions(view, actions, parts);
    foldActions(view, actions, parts);
    parts.outline = outlineOf(view, actions);
    parts.search = searchBox(view, actions);
    actions.applyTheme(view.theme);
    actions.recoloured();
    actions.refold(-1);
    showNotes(view);
    watchControls(actions);
    watchKeys(view, actions, parts);
    watchPointer(byId('canvas'), view, actions);
    watchSize(view, actions);
    const title = graph.notes.find(({ key }) => key === 'graph');
    if (title) byId('title').textContent = title.text;
    byId('message').hidden = graph.count > 0;
    if (graph.count === 0)
        byId('message').textContent = 'No nodes: nothing ran in what was asked for.';
    return { view, actions };
}

let page = null;
try {
    page = openPage();
} catch (error) {
    byId('message').hidden = false;
    byId('message').textContent = 'This page could not be drawn: ' + error.message;
    throw error;
}
