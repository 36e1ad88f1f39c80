// Where the instance is: a place that is set, dragged, or follows a recorded track.
import { html, useEffect, useMemo, useState } from '../../html.js';
import { Field } from '../../ui/elements.js';
import { Known, Switch, changer, useAgent } from './agent_data.js';
import { LocationFeed } from './location_feed.js';
import { Picker } from './picker.js';
import { Replay } from './replay.js';

const path = '/1.0/location';
const presets = {
    Berlin: [52.5163, 13.3777], 'London': [51.5007, -0.1246], 'New York': [40.7484, -73.9857], 'São Paulo': [-23.5614, -46.6559], Nairobi: [-1.2864, 36.8172],
    Delhi: [28.6129, 77.2295], Tokyo: [35.6586, 139.7454], Sydney: [-33.8568, 151.2153], 'Null Island': [0, 0],
};
const fields = [
    ['latitude', 'Latitude', -90, 90, 'any'], ['longitude', 'Longitude', -180, 180, 'any'], ['altitude', 'Altitude, m', -1e5, 1e5, 'any'],
    ['speed', 'Speed, m/s', 0, 1e5, 'any'], ['bearing', 'Heading, degrees', 0, 360, 'any'], ['horizontal_accuracy', 'Accuracy, m', 0.1, 1e5, 'any'],
];
const first = { latitude: 52.5163, longitude: 13.3777, altitude: 35, speed: 0, bearing: 0, horizontal_accuracy: 20 };

// A number that is typed stays as it is typed, "48.0" on the way to 48.05, until it becomes another one elsewhere.
function NumberInput({ number, onNumber, ...rest }) {
    const [typed, setTyped] = useState(null);  // { text, number: what it means }
    const input = ({ target }) => {
        const good = target.validity.valid && target.value !== '', now = good ? Number(target.value) : number;
        setTyped({ text: target.value, number: now });
        if (good) onNumber(now);
    };
    return html`<input type="number" required value=${typed?.number === number ? typed.text : number} onInput=${input} ...${rest} />`;
}

function Fields({ place, move, send }) {
    const submit = (event) => {
        event.preventDefault();
        send();
    };
    return html`<form class="stack" onSubmit=${submit}><div class="fields narrow">${fields.map(([name, label, low, high, step]) => html`
        <${Field} key=${name} label=${label}><${NumberInput} min=${low} max=${high} step=${step} number=${place[name]} onNumber=${(number) => move({ ...place, [name]: number })} /><//>`)}</div>
        <div class="toolbar"><button class="primary">Send</button>
            <label>Place <select value="" onChange=${({ target }) => { const [latitude, longitude] = presets[target.value]; move({ ...place, latitude, longitude }, true); }}>
                <option value="" disabled>choose …</option>${Object.keys(presets).map((name) => html`<option key=${name}>${name}</option>`)}</select></label></div></form>`;
}

export default function Location({ id }) {
    const loaded = useAgent(id, path);
    const change = changer(id, loaded.reload);
    const [place, setPlace] = useState(first), [sent, setSent] = useState(null), [problem, setProblem] = useState('');
    const feed = useMemo(() => new LocationFeed(id, { onSent: (now) => { setSent(now); setProblem(''); }, onProblem: setProblem }), [id]);
    useEffect(() => () => feed.close(), [feed]);
    const move = (now, andSend) => {
        setPlace(now);
        if (andSend) feed.send(now);
    };
    return html`<${Known} loaded=${loaded}>${({ enabled }) => html`<div class="stack">
        <div class="toolbar"><${Switch} label="Inject locations" on=${enabled} path=${path} change=${change} />
            <span class="hint" role="status">${problem ? html`<strong class="danger">${problem}</strong>` : sent && `Sent: ${sent.latitude.toFixed(6)}, ${sent.longitude.toFixed(6)}`}</span></div>
        ${!enabled && html`<p class="hint">While it is off the guest is where its client is. The same: <code>svcctl instance location enable ${id}</code></p>`}
        <div class="wide-grid"><section class="card" aria-label="Map"><${Picker} place=${place} onMove=${(now) => move({ ...place, ...now }, enabled)} /></section>
            <section class="card" aria-label="Place"><${Fields} place=${place} move=${(now, chosen) => move(now, chosen && enabled)} send=${() => feed.send(place)} /></section></div>
        <${Replay} enabled=${enabled} onFix=${(fix) => move({ ...place, ...fix }, true)} />
    </div>`}<//>`;
}
