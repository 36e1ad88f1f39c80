// What sensors measure. A guest gets a value of the sensors that it uses.
import { latest, request } from '../../agent.js';
import { html, useMemo, useState } from '../../html.js';
import { Known, Switch, changer, useAgent } from './agent_data.js';
import { Phone } from './phone.js';

const path = '/1.0/sensors';
const axes = (low, high, values) => ['x', 'y', 'z'].map((name, at) => [name, low, high, values[at]]);
// Fields of each: name, lowest, highest, at first.
const kinds = {
    acceleration: { title: 'Acceleration', unit: 'm/s²', fields: axes(-20, 20, [0, 0, 9.81]) },
    gyroscope: { title: 'Gyroscope', unit: 'rad/s', fields: axes(-10, 10, [0, 0, 0]) },
    'magnetic-field': { title: 'Magnetic field', unit: 'µT', fields: axes(-100, 100, [0, 20, -40]) },
    orientation: { title: 'Orientation', unit: 'degrees', fields: [['azimuth', 0, 360, 0], ['pitch', -180, 180, 0], ['roll', -90, 90, 0]] },
    light: { title: 'Light', unit: 'lux', fields: [['value', 0, 10000, 300]] },
    proximity: { title: 'Proximity', unit: 'cm', fields: [['value', 0, 10, 5]] },
    temperature: { title: 'Temperature', unit: '°C', fields: [['value', -40, 80, 21]] },
    pressure: { title: 'Pressure', unit: 'hPa', fields: [['value', 800, 1100, 1013]] },
    humidity: { title: 'Humidity', unit: '%', fields: [['value', 0, 100, 45]] },
};
const begin = (type) => Object.fromEntries(kinds[type].fields.map(([name, , , value]) => [name, value]));

function Sensor({ type, values, used, problem, change }) {
    const { title, unit, fields } = kinds[type];
    return html`<section class="card stack" aria-label=${title}><h3>${title} <small>${unit}</small> ${used && html`<span class="state good">used by the guest</span>`}</h3>
        ${fields.map(([name, low, high]) => html`<label class="slider" key=${name}><span>${name}</span>
            <input type="range" min=${low} max=${high} step="any" value=${values[name]} onInput=${({ target }) => change({ ...values, [name]: Number(target.value) })} />
            <output>${values[name].toFixed(2)}</output></label>`)}
        ${problem && html`<p class="danger" role="status">${problem}</p>`}</section>`;
}

// Gravity as a phone feels it that is turned so.
const gravity = (pitch, roll) => {
    const [p, r] = [pitch, roll].map((degrees) => degrees * Math.PI / 180);
    return { x: -9.81 * Math.sin(r) * Math.cos(p), y: -9.81 * Math.sin(p), z: 9.81 * Math.cos(p) * Math.cos(r) };
};

export default function Sensors({ id }) {
    const loaded = useAgent(id, path);
    const change = changer(id, loaded.reload);
    const [values, setValues] = useState({}), [problems, setProblems] = useState({});
    const send = useMemo(() => Object.fromEntries(Object.keys(kinds).map((type) => [type, latest(async (reading) => {
        const problem = await request(id, 'PATCH', path, [{ type, ...reading }]).then(() => '', (error) => error.message);
        setProblems((now) => ({ ...now, [type]: problem }));
    })])), [id]);
    const set = (type, reading) => {
        setValues((now) => ({ ...now, [type]: reading }));
        send[type](reading);
    };
    return html`<${Known} loaded=${loaded}>${({ enabled, active_sensors: active, supported_sensors: supported }) => {
        const used = new Set(active.map(({ type }) => type));
        const turn = (orientation) => {
            set('orientation', orientation);
            set('acceleration', gravity(orientation.pitch, orientation.roll));
        };
        return html`<div class="stack"><div class="toolbar"><${Switch} label="Inject sensor values" on=${enabled} path=${path} change=${change} />
                <button class="small" onClick=${loaded.reload}>Which ones does the guest use now?</button></div>
            <p class="hint">${enabled ? 'The agent takes values of sensors that the guest uses.' : html`While it is off the guest has its client's sensors. The same: <code>svcctl instance sensors enable ${id}</code>`}</p>
            ${enabled && html`<div class="grid"><${Phone} orientation=${values.orientation ?? begin('orientation')} onTurn=${turn} />
                ${supported.filter((type) => kinds[type]).map((type) => html`<${Sensor} key=${type} type=${type} values=${values[type] ?? begin(type)} used=${used.has(type)} problem=${problems[type]} change=${(reading) => set(type, reading)} />`)}</div>`}
        </div>`;
    }}<//>`;
}
