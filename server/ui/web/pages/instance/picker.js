// A place on a plain grid of degrees: no map of anybody is asked. Dragged, clicked, or moved with the arrow keys.
import { html, useRef, useState } from '../../html.js';

const width = 480, height = 300;
const metresOfDegree = 111_320;
const spans = [0.002, 0.005, 0.02, 0.05, 0.2, 1, 5, 20, 90, 360];  // degrees of longitude that are shown

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const around = (longitude) => ((longitude + 540) % 360) - 180;
const rounded = (value) => Number(value.toFixed(6));

// A distance between lines that gives some lines and not too many: 1, 2 or 5 times a power of ten.
function stepOf(span) {
    const power = 10 ** Math.floor(Math.log10(span / 4));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => span / step <= 6);
}

function lines(middle, span) {
    const step = stepOf(span), first = Math.ceil((middle - span / 2) / step);
    return Array.from({ length: Math.floor((middle + span / 2) / step) - first + 1 }, (_, at) => Number(((first + at) * step).toFixed(6)));
}

const metres = (value) => (value >= 1000 ? `${Math.round(value / 1000)} km` : `${Math.round(value)} m`);

function Grid({ centre, span }) {
    const tall = span * height / width;
    const x = (longitude) => ((longitude - centre.longitude) / span + 0.5) * width, y = (latitude) => (0.5 - (latitude - centre.latitude) / tall) * height;
    return html`<g aria-hidden="true">
        ${lines(centre.longitude, span).map((value) => html`<g key=${`x${value}`}><line x1=${x(value)} x2=${x(value)} y1="0" y2=${height} /><text x=${x(value) + 3} y=${height - 4}>${around(value).toFixed(span < 1 ? 3 : 0)}°</text></g>`)}
        ${lines(centre.latitude, tall).map((value) => html`<g key=${`y${value}`}><line x1="0" x2=${width} y1=${y(value)} y2=${y(value)} /><text x="3" y=${y(value) - 3}>${value.toFixed(span < 1 ? 3 : 0)}°</text></g>`)}</g>`;
}

// `place`: { latitude, longitude, bearing, speed }; `onMove({ latitude, longitude })`.
export function Picker({ place, onMove }) {
    const [zoom, setZoom] = useState(3), [held, setHeld] = useState(null);
    const shape = useRef();
    const span = spans[zoom], tall = span * height / width;
    // While it is dragged the grid stands still; else it has the place in its middle.
    const centre = held ?? place;
    const move = (latitude, longitude) => onMove({ latitude: rounded(clamp(latitude, -90, 90)), longitude: rounded(around(longitude)) });
    const to = ({ clientX, clientY }) => {
        const box = shape.current.getBoundingClientRect();
        move(centre.latitude + (0.5 - (clientY - box.top) / box.height) * tall, centre.longitude + ((clientX - box.left) / box.width - 0.5) * span);
    };
    const begin = (event) => {
        shape.current.setPointerCapture(event.pointerId);
        setHeld({ latitude: place.latitude, longitude: place.longitude });
    };
    const end = (event) => {
        to(event);
        setHeld(null);
    };
    const keys = { ArrowUp: [0.02, 0], ArrowDown: [-0.02, 0], ArrowLeft: [0, -0.02], ArrowRight: [0, 0.02] };
    const key = (event) => {
        const [up, right] = keys[event.key] ?? [];
        if (up === undefined) return;
        event.preventDefault();
        move(place.latitude + up * span, place.longitude + right * span);
    };
    const x = ((place.longitude - centre.longitude) / span + 0.5) * width, y = (0.5 - (place.latitude - centre.latitude) / tall) * height;
    const scale = metresOfDegree * Math.cos(place.latitude * Math.PI / 180) * span / 4;
    return html`<div class="stack"><svg class="picker" viewBox="0 0 ${width} ${height}" ref=${shape} tabindex="0" role="application" aria-label="Place: ${place.latitude}, ${place.longitude}. Arrow keys move it."
            onPointerDown=${begin} onPointerMove=${(event) => held && to(event)} onPointerUp=${end} onPointerCancel=${() => setHeld(null)} onKeyDown=${key}>
        <${Grid} centre=${centre} span=${span} />
        <g class="point" transform="translate(${x} ${y}) rotate(${place.bearing ?? 0})">${place.speed > 0 && html`<path d="M0 -22 L6 -9 L-6 -9 Z" />`}<circle r="8" /></g>
        <g class="scale"><line x1=${width - 20 - width / 4} x2=${width - 20} y1="18" y2="18" /><text x=${width - 20 - width / 4} y="34">${metres(scale)}</text></g></svg>
        <div class="toolbar"><button class="small" disabled=${zoom === 0} onClick=${() => setZoom(zoom - 1)}>Closer</button><button class="small" disabled=${zoom === spans.length - 1} onClick=${() => setZoom(zoom + 1)}>Farther</button>
            <span class="hint">Click, drag, or use the arrow keys.</span></div></div>`;
}
