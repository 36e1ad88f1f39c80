// A phone that is turned by dragging: its orientation, and the gravity that it feels.
import { html, useRef } from '../../html.js';

const turn = 0.5;  // degrees a pixel
const clamp = (value, most) => Math.min(Math.max(value, -most), most);

// Keyboards have the sliders of the orientation.
export function Phone({ orientation, onTurn }) {
    const from = useRef(null);
    const begin = (event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, y: event.clientY, ...orientation };
    };
    const move = ({ clientX, clientY }) => {
        if (!from.current) return;
        const { x, y, azimuth, pitch, roll } = from.current;
        onTurn({ azimuth, pitch: clamp(pitch + (clientY - y) * turn, 180), roll: clamp(roll + (clientX - x) * turn, 90) });
    };
    const transform = `rotateX(${-orientation.pitch}deg) rotateY(${orientation.roll}deg) rotateZ(${orientation.azimuth}deg)`;
    return html`<section class="card stack" aria-label="Turn it"><h3>Turn it <small>drag</small></h3>
        <div class="phone-room" aria-hidden="true" onPointerDown=${begin} onPointerMove=${move} onPointerUp=${() => { from.current = null; }}><div class="phone" style=${{ transform }}><i></i></div></div>
        <p class="hint">Sets orientation and acceleration. With keys: the sliders of the orientation.</p></section>`;
}
