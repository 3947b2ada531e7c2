'use strict';
/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.js — numbers and names as people read them: three significant digits and a unit, as
 * src/sheet/number.c writes them. First file of the page's script. */

const STEPS = {
    ns: [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's']],
    bytes: [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']],
    flop: [[1, 'FLOP'], [1e3, 'kFLOP'], [1e6, 'MFLOP'], [1e9, 'GFLOP'], [1e12, 'TFLOP'],
           [1e15, 'PFLOP']],
};

function grouped(digits) {
    const [whole, rest] = digits.split('.');
    const blanks = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
    return rest === undefined ? blanks : blanks + '.' + rest;
}

function countText(count) {
    return Number.isFinite(count) ? grouped(String(Math.round(count))) : '?';
}

function scaledText(value, unit) {
    let step = 0;
    while (step + 1 < STEPS[unit].length && Math.abs(value) >= 999.5 * STEPS[unit][step][0]) step++;
    const [size, name] = STEPS[unit][step];
    const shown = value / size, large = Math.abs(shown);
    const decimals = size === 1 || large >= 99.95 ? 0 : large >= 9.995 ? 1 : 2;
    return grouped(shown.toFixed(decimals)) + '\u202f' + name;
}

function durationText(ns) {
    return ns > 0 && ns < 1 ? (ns * 1000).toFixed(0) + '\u202fps' : scaledText(ns, 'ns');
}

function percentText(ratio) {
    return grouped((ratio * 100).toFixed(1)) + '\u202f%';
}

function valueText(value, unit) {
    return unit === 'ratio' ? percentText(value) : unit === 'ns' ? durationText(value)
        : unit === 'count' ? countText(value) : scaledText(value, unit);
}

/* Characters that do not show, or change how those after them show: controls, the marks that
 * reverse text, lone halves of pairs. */
const HARMFUL = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e' +
                           '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]|[\\ud800-\\udfff]', 'gu');

/* A text of a trace, on one line, each character in its place. */
function shown(text) {
    return String(text).replace(/\r\n|\n/g, ' ⏎ ').replace(/\t/g, ' ').replace(HARMFUL, '\ufffd');
}

/* At most `length` characters of it; the middle is left out, for names differ at their ends. Of
 * very few characters the first ones say most. */
function shortened(text, length) {
    if (text.length <= length) return text;
    const signs = Array.from(text.length > 4 * length + 64
        ? text.slice(0, 2 * length) + text.slice(-2 * length) : text);
    if (signs.length <= length) return text;
    const head = length < 12 ? length - 1 : Math.ceil((length - 1) * 0.6);
    const tail = signs.length - length + 1 + head;
    return signs.slice(0, head).join('') + '…' + signs.slice(tail).join('');
}
