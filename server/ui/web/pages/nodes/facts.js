// What a node's record says of the machine, and what the runtime has to add: what it has for guests, and what it lacks.
import { html } from '../../html.js';

const facts = { address: 'Address', public_address: 'Public address', architecture: 'Architecture', runtime: 'Runtime', storage_pool: 'Storage pool',
    network_bridge_mtu: 'MTU of the bridge' };
const yesNo = (value) => (value ? 'yes' : 'no');

function written(value) {
    if (typeof value === 'boolean') return yesNo(value);
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return 'none';
    if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const spelled = (name) => name.replaceAll('_', ' ');

// Rows of [name, value]; objects within are rows of their own.
function rowsOf(details, prefix = '') {
    if (!details || typeof details !== 'object') return details ? [[prefix || 'details', written(details)]] : [];
    return Object.entries(details).flatMap(([name, value]) => (value && typeof value === 'object' && !Array.isArray(value)
        ? rowsOf(value, `${prefix}${spelled(name)}, `) : [[`${prefix}${spelled(name)}`, written(value)]]));
}

const Gpu = ({ gpu }) => html`<div><strong>${gpu.type || 'GPU'} ${gpu.id}</strong> ${gpu.pci_address} <span class="hint">${gpu.slots} slots, ${gpu.encoder_slots} of encoders, ${Object.keys(gpu.allocations ?? {}).length} instances</span></div>`;

const Fact = ({ name, children }) => html`<dt>${name}</dt><dd>${children}</dd>`;

export function Facts({ node }) {
    const details = rowsOf(node.details);
    return html`<section class="card stack top" aria-label="Facts"><h2>Facts</h2><dl class="facts">
        ${Object.entries(facts).filter(([key]) => node[key] !== undefined && node[key] !== '').map(([key, name]) => html`<${Fact} key=${key} name=${name}>${node[key]}<//>`)}
        <${Fact} name="Disk limit">${node.disk_limit_enforced ? 'enforced' : 'not enforced'}<//>
        <${Fact} name="Managed">${yesNo(node.managed)}<//>
        <${Fact} name="Tags">${node.tags.length ? node.tags.join(', ') : 'none'}<//>
        ${node.gpus.length > 0 && html`<${Fact} name="GPUs">${node.gpus.map((gpu) => html`<${Gpu} key=${gpu.id} gpu=${gpu} />`)}<//>`}
        ${details.map(([name, value]) => html`<${Fact} key=${name} name=${name}>${value}<//>`)}
    </dl></section>`;
}
