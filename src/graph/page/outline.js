/* SPDX-License-Identifier: Apache-2.0 */
/* outline.js — what is seen as a tree of lines, for the eye, the keyboard and screen readers. Only
 * the lines on the screen are elements, so that 100,000 nodes cost what fifty cost. */

const LINE = 24, BEYOND = 8;

function outlineOf(view, actions) {
    const tree = document.getElementById('tree'), holder = document.getElementById('tree-rows');
    const outline = { rows: [], at: new Map(), active: -1, sizes: [] };

    /* Children in the graph's order, or the largest first. */
    function fill() {
        const { graph, scene: { boxes, leaves, groups } } = view;
        const byValue = view.outlineOrder === 'value';
        const value = row => metricOf(graph, view.metric, row);
        const largestFirst = (a, b) => value(b) - value(a) || a - b;
        const ordered = children => byValue ? Array.from(children).sort(largestFirst) : children;
        const rows = [], sizes = [], waiting = [[ordered(graph.roots), 0]];
        while (waiting.length > 0) {
            const top = waiting[waiting.length - 1];
            if (top[1] === top[0].length) {
                waiting.pop();
                continue;
            }
            const row = top[0][top[1]++];
            rows.push(row);
            sizes.push([top[1], top[0].length]);
            if (boxes.isOpen[row]) waiting.push([ordered(childrenOf(graph, row)), 0]);
        }
        outline.rows = rows;
        outline.sizes = sizes;
        outline.at = new Map(rows.map((row, at) => [row, at]));
        if (rows.length !== leaves.length + groups.length)
            throw new Error('the outline lacks nodes');
        holder.style.height = rows.length * LINE + 'px';
        show();
    }

    function line(at) {
        const row = outline.rows[at], { graph } = view;
        const inside = childCount(graph, row), isOpen = view.scene.boxes.isOpen[row] === 1;
        const name = graph.names[row] || '(no name)', value = view.valueOf(row);
        const [place, count] = outline.sizes[at];
        const item = element('div', {
            role: 'treeitem', id: 'item-' + row,
            class: at === outline.active ? 'item active' : 'item',
            'aria-level': graph.depth[row] + 1, 'aria-posinset': place, 'aria-setsize': count,
            'aria-selected': row === view.selected ? 'true' : 'false',
            'aria-label': nameAndValue(view, row) });
        if (inside > 0) item.setAttribute('aria-expanded', String(isOpen));
        const sign = element('span', { class: 'sign', 'aria-hidden': 'true' },
                             inside === 0 ? '' : isOpen ? '▾' : '▸');
        if (inside > 0)
            sign.addEventListener('click', event => {
                event.stopPropagation();
                actions.toggle(row);
            });
        const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
        swatch.style.background = view.colours.fills[view.classes[row]][0];
        item.style.top = at * LINE + 'px';
        item.style.paddingLeft = 4 + Math.min(graph.depth[row], 12) * 12 + 'px';
        item.append(sign, swatch, element('span', { class: 'name' }, shortened(name, 200)),
                    element('span', { class: 'value' }, value));
        item.addEventListener('click', () => { outline.active = at; actions.go(row); });
        item.addEventListener('dblclick', () => { if (inside > 0) actions.toggle(row); });
        return item;
    }

    function show() {
        const first = Math.max(0, Math.floor(tree.scrollTop / LINE) - BEYOND);
        const end = Math.min(outline.rows.length,
                             Math.ceil((tree.scrollTop + tree.clientHeight) / LINE) + BEYOND);
        const items = [];
        for (let at = first; at < end; at++) items.push(line(at));
        holder.replaceChildren(...items);
        const active = outline.rows[outline.active];
        if (active !== undefined && outline.active >= first && outline.active < end)
            tree.setAttribute('aria-activedescendant', 'item-' + active);
        else tree.removeAttribute('aria-activedescendant');
    }

    function activate(at) {
        if (outline.rows.length === 0) return;
        outline.active = Math.min(outline.rows.length - 1, Math.max(0, at));
        const top = outline.active * LINE;
        if (top < tree.scrollTop) tree.scrollTop = top;
        else if (top + LINE > tree.scrollTop + tree.clientHeight)
            tree.scrollTop = top + LINE - tree.clientHeight;
        show();
    }

    function key(event) {
        const row = outline.rows[outline.active] ?? -1;
        const page = Math.floor(tree.clientHeight / LINE) - 1;
        const isGroup = row >= 0 && childCount(view.graph, row) > 0;
        const isOpen = isGroup && view.scene.boxes.isOpen[row] === 1;
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                        Home: -Infinity, End: Infinity };
        if (event.key in moves) activate(outline.active + moves[event.key]);
        else if (event.key === 'ArrowRight' && isGroup && !isOpen) actions.toggle(row);
        else if (event.key === 'ArrowRight' && isOpen) activate(outline.active + 1);
        else if (event.key === 'ArrowLeft' && isOpen) actions.toggle(row);
        else if (event.key === 'ArrowLeft' && row >= 0 && view.graph.parent[row] >= 0)
            activate(outline.at.get(view.graph.parent[row]));
        else if ((event.key === 'Enter' || event.key === ' ') && row >= 0) actions.go(row);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    tree.addEventListener('scroll', show);
    tree.addEventListener('keydown', key);
    tree.addEventListener('focus', () => { if (outline.active < 0) activate(0); });
    new ResizeObserver(show).observe(tree);
    outline.fill = fill;
    outline.show = show;
    outline.reveal = row => { if (outline.at.has(row)) activate(outline.at.get(row)); };
    return outline;
}
