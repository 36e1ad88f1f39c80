// A graph over time. What it draws can be read without seeing it, too: its last values are its label, and a table has all.
import uPlot from '../lib/uplot.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from '../html.js';
import { duration } from './format.js';
import { gapsOf } from './gaps.js';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const timeOf = (seconds) => (seconds ? clock.format(seconds * 1000) : '');
const colorOf = ({ color }, index) => color ?? `--graph-${(index % 6) + 1}`;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (value) => value.toLocaleString(undefined, { maximumFractionDigits: 2 });

// Colours are asked for at each drawing: the theme may have changed meanwhile.
const axis = (size, values) => ({
    size, values, stroke: () => style('--soft'), font: '12px system-ui, sans-serif', gap: 6,
    grid: { stroke: () => style('--line'), width: 1 }, ticks: { show: false },
});

const shortest = 600;  // seconds that a graph shows at least
const span = (_, first, last) => [Math.min(first, last - shortest), last];

// A drawing of a single time would show the day around it.
const drawable = (data) => (data[0].length === 1 ? data.map(([value], row) => [row === 0 ? value - shortest : null, value]) : data);
const steps = [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)));

// No line leads over a gap. `own`: where the drawing has broken it already, because values are null.
function gaps(plot, series, first, last, own) {
    const at = (index) => Math.round(plot.valToPos(plot.data[0][index], 'x', true));
    const missing = gapsOf(plot.data[0]).filter(([before, after]) => before >= first && after <= last).map((ends) => ends.map(at));
    const all = [...own, ...missing].sort(([left], [right]) => left - right);
    return all.filter(([, end], index) => !all.slice(0, index).some(([, further]) => further >= end));
}

function options({ series, format, height, least }, width, onCursor) {
    return {
        width, height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        padding: [8, 8, 0, 0],
        scales: { x: { time: true, range: span }, y: { range: (_, low, high) => [0, Math.max(high ?? 0, least) * 1.05] } },
        axes: [{ ...axis(26, (_, times) => times.map(timeOf)), space: 70 }, { ...axis(62, (_, values) => values.map(format)), space: 24, incrs: steps }],
        series: [{}, ...series.map((one, index) => ({ label: one.label, width: 2, stroke: () => style(colorOf(one, index)), points: { size: 4 }, gaps }))],
        hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)] },
    };
}

// Calls `change` whenever colours may be others: the user chooses a theme, or the system does.
function onTheme(change) {
    const watcher = new MutationObserver(change);
    watcher.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', change);
    return () => {
        watcher.disconnect();
        system.removeEventListener('change', change);
    };
}

// Owns the drawing within `frame`: made anew for other lines, told of new values unless the tab is hidden.
function useDrawing(frame, given, onCursor) {
    const { series, data, height } = given;
    const plot = useRef(), shown = useRef();
    shown.current = data;
    const lines = series.map(({ label, color }) => `${label} ${color}`).join('|');
    useLayoutEffect(() => {
        plot.current = new uPlot(options(given, frame.current.clientWidth, onCursor), drawable(shown.current), frame.current);
        const sizes = new ResizeObserver(() => plot.current.setSize({ width: frame.current.clientWidth, height }));
        sizes.observe(frame.current);
        const end = onTheme(() => plot.current.redraw());
        return () => {
            end();
            sizes.disconnect();
            plot.current.destroy();
        };
    }, [lines, height]);
    useEffect(() => {
        const draw = () => document.hidden || plot.current.setData(drawable(shown.current));
        draw();
        document.addEventListener('visibilitychange', draw);
        return () => document.removeEventListener('visibilitychange', draw);
    }, [data]);
}

const written = (value, format) => (value === null || value === undefined ? '–' : format(value));

function Legend({ series, data, at, format }) {
    return html`<ul class="legend">${series.map((one, index) => html`<li key=${one.label}>
        <span class="swatch" style=${{ background: `var(${colorOf(one, index)})` }}></span>${one.label} <b>${written(data[index + 1][at], format)}</b></li>`)}
        <li class="legend-time">${timeOf(data[0][at])}</li></ul>`;
}

function Values({ title, series, data, format }) {
    const rows = [...data[0].keys()].reverse();
    const gapBefore = new Set(gapsOf(data[0]).map(([, after]) => after));
    return html`<div class="table-frame values" tabindex="0" role="region" aria-label="Values of ${title}"><table>
        <thead><tr><th scope="col">Time</th>${series.map(({ label }) => html`<th scope="col" key=${label}>${label}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr key=${data[0][row]}><td data-title="Time">${timeOf(data[0][row])}</td>
            ${series.map(({ label }, index) => html`<td key=${label} data-title=${label}>${written(data[index + 1][row], format)}</td>`)}</tr>
            ${gapBefore.has(row) && html`<tr key=${`gap ${row}`}><td colspan=${data.length}>nothing is known for ${duration(data[0][row] - data[0][row - 1])}</td></tr>`}`)}</tbody>
    </table></div>`;
}

// `series`: [{ label, color: a custom property, else one of --graph-1 to -6 }]; `data`: [times in seconds, values of the first
// line, ...], null where there is no value; `format(value)`: how a value is written; `least`: what the scale reaches at least.
export function Graph({ title, series, data, format = number, height = 170, least = 4 }) {
    const frame = useRef();
    const [cursor, setCursor] = useState(null);
    const [table, setTable] = useState(false);
    useDrawing(frame, { series, data, format, height, least }, setCursor);
    const last = data[0].length - 1;
    const words = series.map(({ label }, index) => `${label} ${written(data[index + 1][last], format)}`).join(', ');
    return html`<figure class="graph card">
        <figcaption><h2>${title}</h2>
            <button class="quiet small" aria-expanded=${table} onClick=${() => setTable(!table)}>${table ? 'Hide values' : 'Values'}<span class="unseen"> of ${title}</span></button></figcaption>
        <div ref=${frame} role="img" aria-label=${last < 0 ? `${title}: no values yet` : `${title}, last values: ${words}`}></div>
        <${Legend} ...${{ series, data, format }} at=${Math.min(cursor ?? last, last)} />
        ${table && html`<${Values} ...${{ title, series, data, format }} />`}
    </figure>`;
}
