// Plays a recorded track.
import { html, useEffect, useRef, useState } from '../../html.js';
import { duration } from '../../ui/format.js';
import { attempt } from '../../ui/notice.js';
import { DropFile } from './agent_data.js';
import { readTrack, steps } from './track.js';

const tick = 100;  // milliseconds
const mostBytes = 64 << 20;
const speeds = [0.5, 1, 2, 4, 10, 50];

async function load(file) {
    if (file.size > mostBytes) throw new Error(`${file.name} is larger than 64 MiB`);
    return { name: file.name, steps: steps(readTrack(file.name, await file.text())) };
}

// The last step that has come at a time; by halving, as tracks are long.
function stepAt(all, time) {
    let low = 0, high = all.length - 1;
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (all[middle].after <= time) low = middle;
        else high = middle - 1;
    }
    return low;
}

// Where the replay is: { at, playing, set }. `onStep(step)` is told of each new one, not of those that were skipped.
function usePlayer(track, speed, onStep) {
    const [state, setState] = useState({ at: 0, playing: false });
    const told = useRef(-1), listener = useRef(onStep);
    listener.current = onStep;
    const length = track?.steps.at(-1).after ?? 0;
    useEffect(() => {
        told.current = -1;
        setState({ at: 0, playing: Boolean(track) });
    }, [track]);
    useEffect(() => {
        if (!track || !state.playing) return undefined;
        let last = performance.now();
        const timer = setInterval(() => {
            const now = performance.now(), passed = (now - last) / 1000 * speed;
            last = now;
            setState(({ at, playing }) => ({ at: Math.min(at + passed, length), playing: playing && at + passed < length }));
        }, tick);
        return () => clearInterval(timer);
    }, [track, state.playing, speed]);
    useEffect(() => {
        if (!track) return;
        const step = stepAt(track.steps, state.at);
        if (step !== told.current) listener.current(track.steps[step]);
        told.current = step;
    }, [track, state.at]);
    return { ...state, length, set: (more) => setState((now) => ({ ...now, ...more })) };
}

export function Replay({ enabled, onFix }) {
    const [track, setTrack] = useState(null), [speed, setSpeed] = useState(1);
    const { at, playing, length, set } = usePlayer(track, speed, ({ fix }) => enabled && onFix(fix));
    const take = (file) => attempt(async () => setTrack(await load(file)));
    const turn = () => set(at >= length && !playing ? { at: 0, playing: true } : { playing: !playing });
    return html`<section class="card stack" aria-label="Replay"><h2>Recorded track</h2>
        ${!enabled ? html`<p class="hint">Switch injection on to replay one.</p>` : html`<${DropFile} label="A GPX file, or a log of NMEA: drop it here, or choose it" accept=".gpx,.nmea,.txt,.log" onFile=${take} />`}
        ${track && html`<p><bdi>${track.name}</bdi>: ${track.steps.length.toLocaleString()} points, ${duration(length)}</p>
            <div class="toolbar"><button class="primary" onClick=${turn}>${playing ? 'Pause' : 'Play'}</button>
                <label>Speed <select value=${speed} onChange=${({ target }) => setSpeed(Number(target.value))}>${speeds.map((value) => html`<option key=${value} value=${value}>${value}×</option>`)}</select></label>
                <input class="grow" type="range" aria-label="Position in the track" min="0" max=${length} step="any" value=${at} onInput=${({ target }) => set({ at: Number(target.value) })} />
                <span class="hint">${duration(at)} of ${duration(length)}</span><button onClick=${() => setTrack(null)}>Close</button></div>`}
    </section>`;
}
