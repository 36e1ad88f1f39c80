// Instances that a stream gateway has launched for its sessions. The service knows them by a tag, and no more of the session.
import { useFleet } from '../fleet.js';
import { rememberedGateway, rememberGateway } from '../gateway.js';
import { html, useMemo, useState } from '../html.js';
import { href } from '../router.js';
import { Ago, Empty, Failure, Page, Spinner, State } from '../ui/elements.js';
import { Dialog } from '../ui/notice.js';
import { Table } from '../ui/table.js';

const tagOf = (instance, name) => instance.tags.find((tag) => tag.startsWith(`${name}=`))?.slice(name.length + 1);

const columns = [
    { name: 'session', title: 'Session', value: (instance) => tagOf(instance, 'session'), show: (instance) => html`<span class="name">${tagOf(instance, 'session')}</span>` },
    { name: 'instance', title: 'Instance', value: ({ name }) => name, show: ({ id, name }) => html`<a href=${href('instances', id)}>${name}</a>` },
    { name: 'status', title: 'Status', value: ({ status }) => status, show: ({ status }) => html`<${State} state=${status} />` },
    { name: 'application', title: 'Application', value: ({ appName }) => appName, show: ({ app, appName }) => (appName ? html`<a href=${href('applications', app)}>${appName}</a>` : '–') },
    { name: 'node', title: 'Node', value: ({ node }) => node, show: ({ node }) => html`<a href=${href('nodes', node)}>${node}</a>` },
    { name: 'since', title: 'Since', value: ({ created }) => created, show: ({ created }) => html`<${Ago} time=${created} />` },
];

function GatewayDialog({ gateway, onClose, onSave }) {
    const [problem, setProblem] = useState(null);
    const submit = (event) => {
        event.preventDefault();
        try {
            onSave(rememberGateway(new FormData(event.target).get('address')));
            onClose();
        } catch (error) {
            setProblem(error);
        }
    };
    return html`<${Dialog} title="Gateway" onClose=${onClose}><form class="stack" onSubmit=${submit}>
        <label class="field"><span>Address of the gateway</span><input name="address" defaultValue=${gateway} placeholder="https://gateway.example:4000" /></label>
        ${problem && html`<${Failure} error=${problem} />`}
        <p class="hint">This browser remembers it; the service does not know which gateways use it.</p>
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Save</button></div></form><//>`;
}

const none = html`<${Empty} title="No streams">A stream gateway launches an instance for each session; such instances are shown here. <code>svcctl gateway</code> has the commands for a gateway.<//>`;

export default function Streams() {
    const { rows, complete, error } = useFleet();
    const sessions = useMemo(() => rows.filter((instance) => tagOf(instance, 'session')), [rows]);
    const [gateway, setGateway] = useState(rememberedGateway);
    const [editing, setEditing] = useState(false);
    const actions = html`${gateway && html`<a class="button" href=${gateway} target="_blank" rel="noreferrer">Open the gateway</a>`}
        <button onClick=${() => setEditing(true)}>${gateway ? 'Change the gateway' : 'Name the gateway'} …</button>`;
    return html`<${Page} title="Streams" actions=${actions}>
        ${error && html`<${Failure} error=${error} />`}
        ${complete || sessions.length > 0 ? html`<${Table} label="Streams" filter="Filter streams" columns=${columns} rows=${sessions} keyOf=${({ id }) => id} empty=${none} />` : !error && html`<${Spinner} />`}
        ${editing && html`<${GatewayDialog} gateway=${gateway} onClose=${() => setEditing(false)} onSave=${setGateway} />`}
    <//>`;
}
