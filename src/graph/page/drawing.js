/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.js — draws a scene on a canvas, as the camera sees it. Only what is on the screen is
 * drawn. A text that would be too small to read is left out; the colour stays. */

const LEAST_TEXT = 10, MOST_TEXT = 15, TWO_LINES = 30, ONE_LINE = 12.5;
const LEAST_CHARACTERS = 5; /* of a name that is cut                                            */
const FONT = 'system-ui, "Segoe UI", "Liberation Sans", sans-serif';
const BOLD = 1.09;          /* how much wider bold text is, at most                             */
const LEAST_OUTLINE = 4;    /* pixels of a node that has an outline                             */
const MOST_CALLOUTS = 30;
const MANY_EDGES = 2500;    /* more are straight lines                                          */
const MANY_IN_MOTION = 300; /* the same while the picture moves                                 */
const MOST_IN_MOTION = 1200; /* more are left out while the picture moves, the short ones first */

/* camera: screen = (picture - camera) * zoom, in CSS pixels. */
function toScreenX(camera, x) { return (x - camera.x) * camera.zoom; }
function toScreenY(camera, y) { return (y - camera.y) * camera.zoom; }

const widths = new Map();   /* of texts, in pixels of a font of 100 pixels                      */
function textWidth(context, text, size) {
    let width = widths.get(text);
    if (width === undefined) {
        if (widths.size > 50000) widths.clear();
        const font = context.font;
        context.font = '100px ' + FONT;
        width = context.measureText(text).width;
        context.font = font;
        widths.set(text, width);
    }
    return width * size / 100;
}

/* As much of the text as fits and still says something: "aten::addmm", "addmm", "void at::n…t>)",
 * or ''. */
function fitting(context, text, size, room) {
    if (text.length < 80 && textWidth(context, text, size) <= room) return text;
    const bare = text.replace(/^([▸▾] )?[A-Za-z_]\w*::(\w+)$/, '$1$2');
    if (bare !== text && textWidth(context, bare, size) <= room) return bare;
    let low = 0, high = Math.min(bare.length, Math.ceil(room / (size * 0.25)));
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (textWidth(context, shortened(bare, middle), size) <= room) low = middle;
        else high = middle - 1;
    }
    return low >= LEAST_CHARACTERS ? shortened(bare, low) : '';
}

/* ---- parts of a picture ---- */

function isOnScreen(view, row) {
    const { camera, width, height, scene: { boxes } } = view;
    const x = toScreenX(camera, boxes.x[row]), y = toScreenY(camera, boxes.y[row]);
    return x < width && y < height && x + boxes.w[row] * camera.zoom > 0 &&
        y + boxes.h[row] * camera.zoom > 0;
}

function groundOf(view, row, colours) {
    return view.graph.depth[row] % 2 === 0 ? colours.group : colours['group-in'];
}

/* A line of one pixel, on pixels. */
function strokeBox(context, x, y, w, h) {
    context.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(w), Math.round(h));
}

function drawGroups(context, view, colours) {
    const { camera, scene: { groups, boxes }, graph } = view;
    context.lineWidth = 1;
    for (const row of groups) {
        if (!isOnScreen(view, row)) continue;
        const x = toScreenX(camera, boxes.x[row]), y = toScreenY(camera, boxes.y[row]);
        const w = boxes.w[row] * camera.zoom, h = boxes.h[row] * camera.zoom;
        context.fillStyle = groundOf(view, row, colours);
        context.fillRect(x, y, w, h);
        context.strokeStyle = graph.critical[row] && view.showsCritical
            ? colours.critical : colours['group-edge'];
        strokeBox(context, x, y, w, h);
    }
}

function titleOf(context, view, row, size, room) {
    const value = view.valueOf(row), name = view.graph.names[row];
    const whole = value === '' ? `▾ ${name}` : `▾ ${name}  ${value}`;
    if (textWidth(context, whole, size) * BOLD <= room) return whole;
    const part = fitting(context, name, size, room / BOLD - textWidth(context, '▾ ', size));
    return part === '' ? '' : '▾ ' + part;
}

/* Titles stay on the screen while their group is: at its upper edge, or at the screen's. */
function drawTitles(context, view, colours) {
    const { camera, scene: { groups, boxes }, graph } = view;
    const size = Math.min(MOST_TEXT, Math.max(LEAST_TEXT, 13 * camera.zoom));
    context.textAlign = 'left';
    context.font = '600 ' + size + 'px ' + FONT;
    for (const row of groups) {
        const w = boxes.w[row] * camera.zoom, head = HEAD * camera.zoom;
        if (head < ONE_LINE - 4.5 || w < 40 || !isOnScreen(view, row)) continue;
        const x = toScreenX(camera, boxes.x[row]), y = toScreenY(camera, boxes.y[row]);
        const left = Math.max(x, 0) + 8, room = Math.min(x + w, view.width) - left - 8;
        const title = titleOf(context, view, row, size, room);
        if (title === '') continue;
        context.fillStyle = groundOf(view, row, colours); /* over edges that pass below it */
        context.fillRect(left - 2, y + head / 2 - size * 0.65 + 1,
                         textWidth(context, title, size) * BOLD + 4, size * 1.3);
        context.fillStyle = colours.ink;
        context.fillText(title, left, y + head / 2 + 1);
    }
}

function edgeIsOnScreen(view, edge) {
    const { camera, scene: { lines } } = view, aside = Math.abs(lines.aside[edge]);
    const x1 = lines.x1[edge], x2 = lines.x2[edge], y1 = lines.y1[edge], y2 = lines.y2[edge];
    const bend = lines.bend[edge];
    return Math.max(x1, x2) + aside >= camera.x && Math.max(y1, y2) + bend >= camera.y &&
        Math.min(x1, x2) - aside <= camera.x + view.width / camera.zoom &&
        Math.min(y1, y2) - bend <= camera.y + view.height / camera.zoom;
}

function addEdge(context, view, edge, isCurved) {
    const { camera, scene: { lines } } = view, aside = lines.aside[edge], bend = lines.bend[edge];
    const x1 = toScreenX(camera, lines.x1[edge]), y1 = toScreenY(camera, lines.y1[edge]);
    const x2 = toScreenX(camera, lines.x2[edge]), y2 = toScreenY(camera, lines.y2[edge]);
    context.moveTo(x1, y1);
    if (!isCurved) context.lineTo(x2, y2);
    else context.bezierCurveTo(x1 + aside * camera.zoom, y1 + bend * camera.zoom,
                               x2 + aside * camera.zoom, y2 - bend * camera.zoom, x2, y2);
}

function addHead(context, view, edge, size) {
    const x = toScreenX(view.camera, view.scene.lines.x2[edge]);
    const y = toScreenY(view.camera, view.scene.lines.y2[edge]);
    context.moveTo(x, y);
    context.lineTo(x - size * 0.5, y - size);
    context.lineTo(x + size * 0.5, y - size);
    context.closePath();
}

/* All edges of one look in one path. */
function strokeEdges(context, view, chosen, style) {
    const zoom = view.camera.zoom;
    const isCurved = chosen.length <= (view.isMoving ? MANY_IN_MOTION : MANY_EDGES);
    context.strokeStyle = context.fillStyle = style.colour;
    context.lineWidth = Math.max(style.least, style.width * Math.min(1.4, Math.sqrt(zoom)));
    context.setLineDash(zoom > 0.35 && isCurved ? style.dash : []);
    context.beginPath();
    for (const edge of chosen) addEdge(context, view, edge, isCurved);
    context.stroke();
    context.setLineDash([]);
    view.drawn.edges += chosen.length;
    if (zoom < 0.35 || !isCurved) return;
    context.beginPath();
    for (const edge of chosen) addHead(context, view, edge, Math.min(9, 7 * zoom + style.width));
    context.fill();
}

/* The edges to draw: by kind, of the critical path, and of the chosen node. Those that would be a
 * dot are left out. */
function chosenEdges(view) {
    const { scene: { edges, lines, standIn }, camera } = view;
    const looks = view.picture.edges.map(() => []), critical = [], chosen = [];
    const selected = view.selected >= 0 ? standIn[view.selected] : -1;
    const isSparse = view.isMoving && edges.from.length > MOST_IN_MOTION;
    const least = (isSparse ? 12 : 2) / camera.zoom;
    let left = isSparse ? MOST_IN_MOTION : Infinity;
    for (let edge = 0; edge < edges.from.length; edge++) {
        if (!view.showsEdge[edges.kind[edge]] || !edgeIsOnScreen(view, edge)) continue;
        if (edges.from[edge] === selected || edges.to[edge] === selected) chosen.push(edge);
        else if (left <= 0 || Math.abs(lines.x1[edge] - lines.x2[edge]) +
                 Math.abs(lines.y1[edge] - lines.y2[edge]) < least) continue;
        else if (edges.critical[edge] && view.showsCritical) critical.push(edge);
        else looks[edges.kind[edge]].push(edge);
        left--;
    }
    return { looks, critical, chosen };
}

function drawEdges(context, view, colours) {
    const { looks, critical, chosen } = chosenEdges(view);
    for (let kind = looks.length - 1; kind >= 0; kind--) {
        const { dash, width } = view.picture.edges[kind];
        context.globalAlpha = Math.min(0.8, Math.max(0.06, 700 / looks[kind].length));
        if (looks[kind].length > 0)
            strokeEdges(context, view, looks[kind],
                        { colour: colours.edges[kind], dash, width, least: 0.6 });
    }
    context.globalAlpha = 1;
    if (critical.length > 0)
        strokeEdges(context, view, critical,
                    { colour: colours.critical, dash: [], width: 3, least: 1 });
    if (chosen.length > 0)
        strokeEdges(context, view, chosen,
                    { colour: colours.ink, dash: [], width: 2.4, least: 1.6 });
}

function drawLeaves(context, view, colours) {
    const { camera, scene: { leaves, boxes }, graph, classes } = view;
    const zoom = camera.zoom, isOutlined = NODE_HEIGHT * zoom >= 9;
    const byClass = new Map();
    for (const row of leaves) {
        if (!isOnScreen(view, row)) continue;
        const rows = byClass.get(classes[row]);
        if (rows === undefined) byClass.set(classes[row], [row]);
        else rows.push(row);
        view.drawn.nodes++;
    }
    context.lineWidth = 1;
    context.strokeStyle = colours.outline;
    for (const [colour, rows] of byClass) {
        context.fillStyle = colours.fills[colour][0];
        for (const row of rows) {
            const x = toScreenX(camera, boxes.x[row]), y = toScreenY(camera, boxes.y[row]);
            const w = Math.max(1, boxes.w[row] * zoom), h = Math.max(1, boxes.h[row] * zoom);
            const isStack = isOutlined && childCount(graph, row) > 0; /* a folded group */
            if (isStack) {
                context.fillRect(x + 4, y + 4, w, h);
                strokeBox(context, x + 4, y + 4, w, h);
            }
            context.fillRect(x, y, w, h);
            if (!isOutlined) continue;
            context.setLineDash(colour === view.picture.aside ? [3, 3] : []);
            strokeBox(context, x, y, w, h);
        }
    }
    context.setLineDash([]);
    return byClass;
}

function drawLabels(context, view, colours, byClass) {
    const { camera, scene: { boxes }, graph } = view;
    const height = NODE_HEIGHT * camera.zoom;
    if (height < ONE_LINE) return;
    const size = Math.min(MOST_TEXT, Math.max(LEAST_TEXT, 12 * camera.zoom));
    context.textAlign = 'center';
    for (const [colour, rows] of byClass) {
        context.fillStyle = colours.fills[colour][1];
        for (const row of rows) {
            const w = boxes.w[row] * camera.zoom, room = w - 6;
            const x = toScreenX(camera, boxes.x[row]) + w / 2, y = toScreenY(camera, boxes.y[row]);
            const sign = childCount(graph, row) > 0 ? '▸ ' : '';
            context.font = (sign ? '600 ' : '') + size + 'px ' + FONT;
            const name = fitting(context, sign + graph.names[row], size, sign ? room / BOLD : room);
            if (name === '') continue;
            if (height < TWO_LINES) {
                context.fillText(name, x, y + height / 2);
                continue;
            }
            context.fillText(name, x, y + height / 2 - size * 0.58);
            const small = Math.max(LEAST_TEXT, size * 0.92);
            context.font = small + 'px ' + FONT;
            const value = fitting(context, view.valueOf(row), small, room);
            context.fillText(value, x, y + height / 2 + size * 0.68);
        }
    }
}

function outline(context, view, row, width, colour) {
    const { camera, scene: { boxes } } = view;
    if (!isOnScreen(view, row)) return;
    const x = toScreenX(camera, boxes.x[row]), y = toScreenY(camera, boxes.y[row]);
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.strokeRect(x - width / 2, y - width / 2,
                       Math.max(2, boxes.w[row] * camera.zoom) + width,
                       Math.max(2, boxes.h[row] * camera.zoom) + width);
}

function drawMarks(context, view, colours) {
    const { scene, graph } = view;
    if (view.showsCritical && view.camera.zoom * NODE_HEIGHT >= LEAST_OUTLINE)
        for (const row of scene.leaves)
            if (graph.critical[row]) outline(context, view, row, view.camera.zoom > 0.3 ? 2.5 : 1.2,
                                             colours.critical);
    for (const row of view.matching)
        outline(context, view, row, 2, colours.ink);
    if (view.hovered >= 0 && view.hovered !== view.selected)
        outline(context, view, view.hovered, 1.5, colours.ink);
    if (view.selected < 0) return;
    outline(context, view, scene.standIn[view.selected], 5, colours.ground);
    outline(context, view, scene.standIn[view.selected], 3, colours.ink);
}

/* Where nodes are too small for their names, the names of the largest stand on the picture, as
 * those of towns on a map: as many as do not lie on each other. */
function drawCallouts(context, view, colours) {
    const { camera, scene: { boxes, isLeaf }, graph } = view, size = 11, height = 16;
    if (NODE_HEIGHT * camera.zoom >= ONE_LINE) return;
    const placed = [];
    context.font = size + 'px ' + FONT;
    context.textAlign = 'center';
    context.lineWidth = 1;
    for (let at = 0; at < view.byValue.length && placed.length < MOST_CALLOUTS; at++) {
        const row = view.byValue[at];
        if (!isLeaf[row] || !isOnScreen(view, row)) continue;
        const name = shortened(graph.names[row], 32), w = textWidth(context, name, size) + 8;
        const middle = toScreenX(camera, boxes.x[row] + boxes.w[row] / 2);
        const x = Math.max(w / 2 + 2, Math.min(middle, view.width - w / 2 - 2));
        const y = toScreenY(camera, boxes.y[row] + boxes.h[row] / 2);
        if (placed.some(other => Math.abs(other.x - x) < (other.w + w) / 2 + 2 &&
                        Math.abs(other.y - y) < height + 2)) continue;
        placed.push({ x, y, w });
        const [fill, text] = colours.fills[view.classes[row]];
        context.fillStyle = fill;
        context.strokeStyle = graph.critical[row] && view.showsCritical ? colours.critical
            : colours.outline;
        context.fillRect(x - w / 2, y - height / 2, w, height);
        strokeBox(context, x - w / 2, y - height / 2, w, height);
        context.fillStyle = text;
        context.fillText(name, x, y + 0.5);
    }
    view.drawn.callouts = placed.length;
}

/* view: graph, picture, scene, classes, camera, width, height (CSS pixels), selected, hovered,
 * matching, shows…; see main.js. Counts into view.drawn what it draws. */
function draw(context, view, colours, density) {
    context.setTransform(density, 0, 0, density, 0, 0);
    context.direction = 'ltr';
    context.textBaseline = 'middle';
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, view.width, view.height);
    view.drawn = { nodes: 0, edges: 0, callouts: 0, frames: view.drawn.frames + 1 };
    drawGroups(context, view, colours);
    drawEdges(context, view, colours);
    const byClass = drawLeaves(context, view, colours);
    drawMarks(context, view, colours);
    drawLabels(context, view, colours, byClass);
    drawTitles(context, view, colours);
    drawCallouts(context, view, colours);
}

/* The innermost node at a place of the screen; -1: none. */
function nodeAt(view, screenX, screenY) {
    const { camera, scene: { rows, boxes } } = view;
    const x = screenX / camera.zoom + camera.x, y = screenY / camera.zoom + camera.y;
    let found = -1;
    for (const row of rows)
        if (x >= boxes.x[row] && x <= boxes.x[row] + boxes.w[row] &&
            y >= boxes.y[row] && y <= boxes.y[row] + boxes.h[row]) found = row;
    return found;
}
