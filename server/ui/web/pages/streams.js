// Instances that a stream gateway has launched for its sessions. The service knows them by a tag, and no more of the session.
import { useFleet } from '../fleet.js';
import { NoGateway, sessionOf, useGateway } from '../gateway.js';
import { html, useMemo } from '../html.js';
import { href } from '../router.js';
import { Ago, Empty, Failure, Page, Spinner, State } from '../ui/elements.js';
import { Table } from '../ui/table.js';

const columns = [
    { name: 'session', title: 'Session', value: sessionOf, show: (instance) => html`<span class="name">${sessionOf(instance)}</span>` },
    { name: 'instance', title: 'Instance', value: ({ name }) => name, show: ({ id, name }) => html`<a href=${href('instances', id)}>${name}</a>` },
    { name: 'status', title: 'Status', value: ({ status }) => status, show: ({ status }) => html`<${State} state=${status} />` },
    { name: 'application', title: 'Application', value: ({ appName }) => appName, show: ({ app, appName }) => (appName ? html`<a href=${href('applications', app)}>${appName}</a>` : '–') },
    { name: 'node', title: 'Node', value: ({ node }) => node, show: ({ node }) => html`<a href=${href('nodes', node)}>${node}</a>` },
    { name: 'since', title: 'Since', value: ({ created }) => created, show: ({ created }) => html`<${Ago} time=${created} />` },
];

// Of those who may use the tab to which it leads.
const streamColumn = { name: 'stream', title: '', show: ({ id }) => html`<a class="button small" href=${href('instances', id, 'screen', 'stream')}>Stream</a>` };

const none = html`<${Empty} title="No streams">A stream gateway launches an instance for each session; such instances are shown here. <code>svcctl gateway</code> has the commands for a gateway.<//>`;

export default function Streams({ me }) {
    const { rows, complete, error } = useFleet(), { gateway } = useGateway();
    const sessions = useMemo(() => rows.filter(sessionOf), [rows]);
    const shown = me.may('operator') ? [...columns, streamColumn] : columns;
    const actions = gateway && html`<a class="button" href=${gateway} target="_blank" rel="noopener noreferrer">Open the gateway</a>`;
    return html`<${Page} title="Streams" actions=${actions}>
        ${error && html`<${Failure} error=${error} />`}
        ${gateway === '' && html`<${NoGateway} me=${me} />`}
        ${complete || sessions.length > 0 ? html`<${Table} label="Streams" filter="Filter streams" columns=${shown} rows=${sessions} keyOf=${({ id }) => id} empty=${none} />` : !error && html`<${Spinner} />`}
    <//>`;
}
