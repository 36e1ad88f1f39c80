// The machines that instances run on.
import { html, useState } from '../html.js';
import { list } from '../api.js';
import { href } from '../router.js';
import { Empty, Failure, Page, Spinner, State } from '../ui/elements.js';
import { useHistory } from '../ui/history.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';
import { Table } from '../ui/table.js';
import { AddDialog } from './nodes/actions.js';
import { Use } from './nodes/capacity.js';
import { Node } from './nodes/node.js';

const use = (name, figuresOf, key) => ({ name: key, title: name, value: (node) => figuresOf(node)?.[key] ?? 0, show: (node) => html`<${Use} node=${node} figures=${figuresOf(node)} name=${name} />` });

function columnsOf(figuresOf, gpus) {
    const columns = [
        { name: 'name', title: 'Node', value: ({ name }) => name, show: ({ name, is_master: leads }) => html`<span><a class="name" href=${href('nodes', name)}>${name}</a>${leads && html` <span class="hint">leader</span>`}</span>` },
        { name: 'status', title: 'Status', value: ({ status }) => status, show: ({ status, unschedulable }) => html`<span class="states"><${State} state=${status} />${unschedulable && status === 'online' && html` <span class="state busy">cordoned</span>`}</span>` },
        { name: 'instances', title: 'Instances', value: (node) => figuresOf(node)?.instances ?? 0, show: (node) => html`<a href="#/instances?filter=${encodeURIComponent(`node=${node.name}`)}">${figuresOf(node)?.instances ?? '–'}</a>` },
        use('CPUs', figuresOf, 'cpus'), use('Memory', figuresOf, 'memory'), use('Disk', figuresOf, 'disk'),
        ...(gpus ? [use('GPU slots', figuresOf, 'gpu_slots')] : []),
        { name: 'address', title: 'Address', value: ({ address }) => address, show: ({ address }) => html`<span class="figure">${address}</span>` },
        { name: 'runtime', title: 'Runtime', value: ({ runtime, architecture }) => [runtime, architecture].filter(Boolean).join(', ') },
    ];
    return columns;
}

function List({ me }) {
    const { value: nodes, error, reload } = useLoaded((signal) => list('/1.0/nodes', { signal }));
    const { history } = useHistory({ nodes: 256 });
    const [adding, setAdding] = useState(false);
    useReloadOn('operation', reload, ({ metadata }) => metadata.resources?.nodes !== undefined);
    useReloadOn('logging', reload, ({ metadata }) => /node|manager/.test(metadata.message));
    const figures = new Map((history?.slowest_nodes ?? []).map((one) => [one.name, one]));
    const add = me.may('admin') && html`<button onClick=${() => setAdding(true)}>Add a node …</button>`;
    const empty = html`<${Empty} title="No nodes">A machine becomes a node when its <code>svcd</code> runs, or by <code>svcctl node add NAME ADDRESS</code>.<//>`;
    return html`<${Page} title="Nodes" actions=${add}>
        ${error && html`<${Failure} error=${error} again=${reload} />`}
        ${nodes ? html`<${Table} label="Nodes" filter=${nodes.length > 5 ? 'Filter nodes' : ''} rows=${nodes} keyOf=${({ name }) => name} empty=${empty}
            columns=${columnsOf((node) => figures.get(node.name), nodes.some((node) => node.gpu_slots > 0))} />` : !error && html`<${Spinner} />`}
        ${adding && html`<${AddDialog} onClose=${() => setAdding(false)} />`}
    <//>`;
}

export default function Nodes({ me, place }) {
    const name = place.parts[1];
    return name ? html`<${Node} key=${name} me=${me} name=${name} />` : html`<${List} me=${me} />`;
}
