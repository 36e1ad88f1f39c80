// Instances that a stream gateway has launched for its sessions. The service knows them by a tag, and no more of the session.
import { html, useEffect, useRef, useState } from '../html.js';
import { get, list } from '../api.js';
import { onEvent } from '../live.js';
import { href } from '../router.js';
import { Ago, Empty, Failure, Page, Spinner, State } from '../ui/elements.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';
import { attempt, Dialog } from '../ui/notice.js';
import { Table } from '../ui/table.js';

const key = 'svc-gateway';  // where this browser remembers the gateway's address

const tagOf = (instance, name) => instance.tags?.find((tag) => tag.startsWith(`${name}=`))?.slice(name.length + 1);

// Only an address of the web: it becomes a link.
function addressOf(text) {
    const url = new URL(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error('The address of a gateway begins with https://');
    return url.origin;
}

const columns = [
    { name: 'session', title: 'Session', value: (instance) => tagOf(instance, 'session'), show: (instance) => html`<span class="name">${tagOf(instance, 'session')}</span>` },
    { name: 'instance', title: 'Instance', value: ({ name }) => name, show: ({ id, name }) => html`<a href=${href('instances', id)}>${name}</a>` },
    { name: 'status', title: 'Status', value: ({ status }) => status, show: ({ status, paused }) => html`<${State} state=${paused ? 'paused' : status} />` },
    { name: 'application', title: 'Application', value: (instance) => instance.app_name ?? '', show: (instance) => (instance.app_name ? html`<a href=${href('applications', instance.app_id)}>${instance.app_name}</a>` : '–') },
    { name: 'node', title: 'Node', value: ({ node }) => node, show: ({ node }) => html`<a href=${href('nodes', node)}>${node}</a>` },
    { name: 'since', title: 'Since', value: (instance) => instance.created_at, show: (instance) => html`<${Ago} time=${instance.created_at} />` },
];

const sessionsIn = (instances) => instances.filter((instance) => tagOf(instance, 'session'));

// The list again when an event concerns one of these instances, or a new one that is of a session: others may come by the hundred.
function useSessions() {
    const loaded = useLoaded(async (signal) => sessionsIn(await list('/1.0/instances?base=false', { signal })));
    const shown = useRef([]);
    shown.current = loaded.value ?? [];
    const known = ({ metadata }) => shown.current.some(({ id }) => metadata.source.endsWith(`/${id}`));
    useReloadOn('lifecycle', loaded.reload, known);
    useEffect(() => onEvent('lifecycle', async ({ metadata }) => {
        if (metadata.action !== 'container-created') return;
        const instance = await get(metadata.source).catch(() => null);  // gone already
        if (instance && tagOf(instance, 'session')) loaded.reload();
    }), [loaded.reload]);
    return loaded;
}

function GatewayDialog({ gateway, onClose, onSave }) {
    const submit = async (event) => {
        event.preventDefault();
        const text = new FormData(event.target).get('address').trim();
        if (await attempt(() => onSave(text ? addressOf(text) : ''))) onClose();
    };
    return html`<${Dialog} title="Gateway" onClose=${onClose}><form class="stack" onSubmit=${submit}>
        <label class="field"><span>Address of the gateway</span><input name="address" defaultValue=${gateway} placeholder="https://gateway.example:4000" /></label>
        <p class="hint">This browser remembers it; the service does not know which gateways use it.</p>
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Save</button></div></form><//>`;
}

const none = html`<${Empty} title="No streams">A stream gateway launches an instance for each session; such instances are shown here. <code>svcctl gateway</code> has the commands for a gateway.<//>`;

export default function Streams() {
    const { value, error, reload } = useSessions();
    const [gateway, setGateway] = useState(localStorage.getItem(key) ?? '');
    const [editing, setEditing] = useState(false);
    const save = (address) => {
        address ? localStorage.setItem(key, address) : localStorage.removeItem(key);
        setGateway(address);
    };
    const actions = html`${gateway && html`<a class="button" href=${gateway} target="_blank" rel="noreferrer">Open the gateway</a>`}
        <button onClick=${() => setEditing(true)}>${gateway ? 'Change the gateway' : 'Name the gateway'} …</button>`;
    return html`<${Page} title="Streams" actions=${actions}>
        ${error && html`<${Failure} error=${error} again=${reload} />`}
        ${value ? html`<${Table} label="Streams" filter="Filter streams" columns=${columns} rows=${value} keyOf=${({ id }) => id} empty=${none} />` : !error && html`<${Spinner} />`}
        ${editing && html`<${GatewayDialog} gateway=${gateway} onClose=${() => setEditing(false)} onSave=${save} />`}
    <//>`;
}
