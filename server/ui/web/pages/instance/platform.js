// Items of the platform, and traces of what agent and guests do.
import { agent, joined, request, run } from '../../agent.js';
import { html, useState } from '../../html.js';
import { attempt } from '../../ui/notice.js';
import { save } from '../../ui/save.js';
import { Known, changer, useAgent } from './agent_data.js';

const path = '/1.0/platform', tracing = '/1.0/tracing';
const readOnly = new Set(['stream_active']);

// A value in the type that the item has.
const asTyped = (text, former) => (typeof former === 'number' ? Number(text) : typeof former === 'boolean' ? text === 'true' : text);

function Item({ name, value, change }) {
    const fixed = readOnly.has(name);
    const submit = (event) => {
        event.preventDefault();
        change('PATCH', path, { config: { [name]: asTyped(new FormData(event.target).get('value'), value) } }, `${name} is set.`);
    };
    const field = typeof value === 'boolean' ? html`<select name="value" aria-label=${name} disabled=${fixed}><option selected=${value}>true</option><option selected=${!value}>false</option></select>`
        : html`<input name="value" aria-label=${name} type=${typeof value === 'number' ? 'number' : 'text'} defaultValue=${value} disabled=${fixed} required />`;
    return html`<tr><td data-title="Item"><code>${name}</code></td><td data-title="Value"><form class="toolbar" onSubmit=${submit}>${field}
        ${fixed ? html`<span class="hint">read only</span>` : html`<button class="small">Set</button><button class="small" type="button" onClick=${() => change('DELETE', path, { configs: [name] }, `${name} has its default.`)}>Default</button>`}</form></td></tr>`;
}

function Items({ id }) {
    const loaded = useAgent(id, path);
    const change = changer(id, loaded.reload);
    return html`<section class="card stack" aria-label="Platform"><h2>Platform</h2><${Known} loaded=${loaded}>${({ name, config = {} }) => html`<p>${name}</p>
        ${Object.keys(config).length === 0 ? html`<p class="hint">This platform has no items.</p>` : html`<table><thead><tr><th scope="col">Item</th><th scope="col">Value</th></tr></thead>
            <tbody>${Object.entries(config).map(([item, value]) => html`<${Item} key=${`${item} ${value}`} name=${item} value=${value} change=${change} />`)}</tbody></table>`}`}<//></section>`;
}

async function stop(id) {
    const chunks = [];
    await run(id, agent('ctl', 'trace', 'stop', '--output', '-'), { onOutput: (bytes) => chunks.push(bytes) });
    save(new Blob([await joined(chunks)]), `${id}.pftrace`);
}

function Trace({ id }) {
    const loaded = useAgent(id, tracing);
    const [busy, setBusy] = useState(false);
    const act = async (action, done) => {
        setBusy(true);
        await attempt(action, done);
        await loaded.reload();
        setBusy(false);
    };
    return html`<section class="card stack" aria-label="Trace"><h2>Trace</h2><${Known} loaded=${loaded}>${({ active }) => html`
        <p>${active ? 'A recording goes on.' : 'What the agent and guests do, as a file for Perfetto.'}</p>
        <div class="toolbar">${active ? html`<button class="primary" disabled=${busy} onClick=${() => act(() => stop(id), 'The trace is whole.')}>Stop and download</button>`
            : html`<button class="primary" disabled=${busy} onClick=${() => act(() => request(id, 'POST', tracing, { enable: true }), 'The recording has begun.')}>Start</button>`}</div>`}<//></section>`;
}

export default ({ id }) => html`<div class="wide-grid"><${Items} id=${id} /><${Trace} id=${id} /></div>`;
