/* SPDX-License-Identifier: Apache-2.0 */
/* search.js — "matmul", "kind:kernel", "kind:kernel gemm": every word must be in the node's name,
 * module or source, in any case; kind: names the kind. */

function matchesOf(graph, picture, query) {
    const words = query.toLowerCase().split(/\s+/).filter(word => word !== '');
    if (words.length === 0) return [];
    const kinds = words.filter(word => word.startsWith('kind:')).map(word => word.slice(5));
    const others = words.filter(word => !word.startsWith('kind:'));
    const found = [];
    for (let row = 0; row < graph.count; row++) {
        const kind = picture.kinds[graph.kind[row]];
        if (!kinds.every(word => kind.startsWith(word))) continue;
        const node = graph.nodes[row];
        const text = [graph.names[row], node.module ?? '', node.source ?? ''].join('\n');
        const lower = text.toLowerCase();
        if (others.every(word => lower.includes(word))) found.push(row);
    }
    return found;
}

function searchBox(view, actions) {
    const input = document.getElementById('search-text');
    const output = document.getElementById('search-count');
    const search = { rows: [], at: -1 };

    function tell() {
        const count = countText(search.rows.length);
        output.textContent = input.value.trim() === '' ? '' : search.rows.length === 0 ? 'none'
            : search.at < 0 ? count : `${countText(search.at + 1)} of ${count}`;
        view.matching = Array.from(new Set(search.rows.map(row => view.scene.standIn[row])));
    }

    function find() {
        search.rows = matchesOf(view.graph, view.picture, input.value);
        search.at = -1;
        tell();
        actions.redraw();
    }

    function step(by) {
        if (search.rows.length === 0) return;
        search.at = search.at < 0 ? (by > 0 ? 0 : search.rows.length - 1)
            : (search.at + by + search.rows.length) % search.rows.length;
        actions.go(search.rows[search.at]);
        tell();
        actions.redraw();
    }

    input.addEventListener('input', find);
    document.getElementById('search').addEventListener('submit', event => event.preventDefault());
    input.addEventListener('keydown', event => {
        if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape') actions.leaveSearch();
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
    document.getElementById('search-next').addEventListener('click', () => step(1));
    document.getElementById('search-previous').addEventListener('click', () => step(-1));
    search.step = step;
    search.tell = tell;
    return search;
}
