/* SPDX-License-Identifier: Apache-2.0 */
/* camera.js — where the reader looks: moves, zooms, fits; the mouse and fingers on the canvas. */

const LEAST_ZOOM = 1e-4, MOST_ZOOM = 4, SETTLED_MS = 140;

function clampedZoom(zoom) {
    return Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom));
}

function zoomAt(view, factor, x, y) {
    const { camera } = view, zoom = clampedZoom(camera.zoom * factor);
    camera.x += x / camera.zoom - x / zoom;
    camera.y += y / camera.zoom - y / zoom;
    camera.zoom = zoom;
}

function fitAll(view) {
    const { boxes } = view.scene, margin = 24;
    const zoom = Math.min((view.width - 2 * margin) / Math.max(boxes.width, 1),
                          (view.height - 2 * margin) / Math.max(boxes.height, 1), 1.25);
    view.camera.zoom = clampedZoom(zoom);
    view.camera.x = boxes.width / 2 - view.width / 2 / view.camera.zoom;
    view.camera.y = boxes.height / 2 - view.height / 2 / view.camera.zoom;
}

/* Moves no further than a node needs that is chosen and would be covered. */
function keepInView(view, row) {
    const { camera, scene: { boxes }, width, height } = view, margin = 16;
    const slide = (at, size, room) => size > room - 2 * margin ? 0
        : Math.min(at - margin, 0) + Math.max(at + size + margin - room, 0);
    const { zoom } = camera;
    camera.x += slide(toScreenX(camera, boxes.x[row]), boxes.w[row] * zoom, width) / zoom;
    camera.y += slide(toScreenY(camera, boxes.y[row]), boxes.h[row] * zoom, height) / zoom;
}

/* Moves so that a node is well inside the screen, and near enough to be read. */
function bringIntoView(view, row) {
    const { camera, scene: { boxes }, width, height } = view;
    const isGroup = boxes.isOpen[row] === 1;
    if (!isGroup && NODE_HEIGHT * camera.zoom < ONE_LINE) camera.zoom = 0.8;
    const x = toScreenX(camera, boxes.x[row]), y = toScreenY(camera, boxes.y[row]);
    const w = boxes.w[row] * camera.zoom, h = boxes.h[row] * camera.zoom;
    if (x >= 10 && y >= 10 && x + w <= width - 10 && y + h <= height - 10) return;
    if (isGroup && (w > width || h > height))
        camera.zoom = Math.min(camera.zoom, 0.9 * width / boxes.w[row],
                               0.9 * height / boxes.h[row]);
    camera.x = boxes.x[row] + boxes.w[row] / 2 - width / 2 / camera.zoom;
    camera.y = boxes.y[row] + boxes.h[row] / 2 - height / 2 / camera.zoom;
}

/* The nearest node in a direction of the screen, for the arrow keys. */
function neighbourOf(view, row, dx, dy) {
    const { scene: { leaves, boxes } } = view;
    const cx = boxes.x[row] + boxes.w[row] / 2, cy = boxes.y[row] + boxes.h[row] / 2;
    let best = -1, least = Infinity;
    for (const other of leaves) {
        if (other === row) continue;
        const x = boxes.x[other] + boxes.w[other] / 2 - cx;
        const y = boxes.y[other] + boxes.h[other] / 2 - cy;
        const ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
        if (ahead <= 1) continue;
        const far = ahead + 2.5 * aside;
        if (far < least) {
            least = far;
            best = other;
        }
    }
    return best;
}

function watchPointer(canvas, view, actions) {
    const fingers = new Map();
    let moved = 0, pinch = 0;
    const place = event => {
        const box = canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const spread = () => {
        const [a, b] = Array.from(fingers.values());
        return { length: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    };
    canvas.addEventListener('pointerdown', event => {
        if (event.button !== 0) return;
        fingers.set(event.pointerId, place(event));
        canvas.setPointerCapture(event.pointerId);
        moved = fingers.size > 1 ? Infinity : 0;
        if (fingers.size === 2) pinch = spread().length;
    });
    canvas.addEventListener('pointermove', event => {
        const now = place(event), before = fingers.get(event.pointerId);
        if (before === undefined) {
            actions.hover(nodeAt(view, now.x, now.y), now);
            return;
        }
        fingers.set(event.pointerId, now);
        if (fingers.size === 2) {
            const { length, x, y } = spread();
            if (pinch > 0 && length > 0) zoomAt(view, length / pinch, x, y);
            pinch = length;
        } else {
            moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
            if (moved < 4) return;
            view.camera.x -= (now.x - before.x) / view.camera.zoom;
            view.camera.y -= (now.y - before.y) / view.camera.zoom;
        }
        actions.hover(-1, now);
        actions.moved();
    });
    const lift = event => {
        if (!fingers.delete(event.pointerId)) return;
        const now = place(event);
        if (event.type === 'pointerup' && moved < 4) actions.select(nodeAt(view, now.x, now.y));
    };
    canvas.addEventListener('pointerup', lift);
    canvas.addEventListener('pointercancel', lift);
    canvas.addEventListener('pointerleave', event => actions.hover(-1, place(event)));
    canvas.addEventListener('dblclick', event => {
        const now = place(event), row = nodeAt(view, now.x, now.y);
        if (row >= 0 && childCount(view.graph, row) > 0) actions.toggle(row);
    });
    canvas.addEventListener('wheel', event => {
        event.preventDefault();
        const now = place(event), lines = event.deltaMode === 1 ? 16 : 1;
        const turned = event.deltaY * lines, speed = event.ctrlKey ? 0.01 : 0.0016;
        if (event.shiftKey) view.camera.x += turned / view.camera.zoom;
        else zoomAt(view, Math.exp(-turned * speed), now.x, now.y);
        actions.moved();
    }, { passive: false });
}
