// One node: what it is, what is on it, what it lacks, and what can be done to it.
import { html, useState } from '../../html.js';
import { call, get } from '../../api.js';
import { go, href } from '../../router.js';
import { useOperations } from '../../operations.js';
import { Ago, Empty, Failure, Page, Spinner, State } from '../../ui/elements.js';
import { Graph } from '../../ui/graph.js';
import { useHistory } from '../../ui/history.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';
import { Requestor } from '../../ui/objects.js';
import { OperationState, Result, Took } from '../../ui/operation.js';
import { Table } from '../../ui/table.js';
import { capacityOf, Use } from './capacity.js';
import { EvacuateDialog, RemoveDialog, setOpen, SettingsDialog } from './actions.js';
import { Facts } from './facts.js';

const few = 10;

function Actions({ me, node, open }) {
    if (!me.may('admin')) return null;
    return html`${node.unschedulable ? html`<button class="primary" onClick=${() => setOpen(node, true)}>Uncordon</button>`
        : html`<button onClick=${() => setOpen(node, false)}>Cordon</button>`}
        <button onClick=${() => open('empty')}>Evacuate …</button>
        <button onClick=${() => open('settings')}>Settings …</button>
        <button class="danger" onClick=${() => open('remove')}>Remove …</button>`;
}

const dialogs = { empty: EvacuateDialog, settings: SettingsDialog, remove: RemoveDialog };

const instanceColumns = [
    { name: 'name', title: 'Instance', value: ({ name }) => name, show: ({ id, name }) => html`<a href=${href('instances', id)}>${name}</a>` },
    { name: 'status', title: 'Status', value: ({ status }) => status, show: ({ status, paused }) => html`<${State} state=${paused ? 'paused' : status} />` },
    { name: 'application', title: 'Application', value: (instance) => instance.app_name ?? '–' },
    { name: 'launched', title: 'Launched', value: (instance) => instance.created_at, show: (instance) => html`<${Ago} time=${instance.created_at} />` },
];

function Instances({ node }) {
    const path = `/1.0/instances?node=${encodeURIComponent(node.name)}&recursion=1&offset=0&limit=${few}`;
    const { value, error, reload } = useLoaded((signal) => call('GET', path, undefined, { signal }), [path]);
    useReloadOn('lifecycle', reload);
    if (!value) return error ? html`<${Failure} error=${error} again=${reload} />` : html`<${Spinner} />`;
    const all = `#/instances?filter=${encodeURIComponent(`node=${node.name}`)}`;
    return html`<section class="stack top" aria-label="Instances"><h2><a href=${all}>${value.total_size.toLocaleString()} instances</a></h2>
        <${Table} label="Instances" columns=${instanceColumns} rows=${value.metadata} keyOf=${({ id }) => id}
            empty=${html`<${Empty} title="No instances">The scheduler places new ones where there is most room.<//>`} />
        ${value.total_size > few && html`<p><a href=${all}>Show all of them</a></p>`}
    </section>`;
}

const operationColumns = (me) => [
    { name: 'status', title: 'Status', show: (operation) => html`<${OperationState} operation=${operation} />` },
    { name: 'what', title: 'What', show: ({ description }) => description },
    { name: 'who', title: 'Asked by', show: ({ requestor }) => html`<${Requestor} name=${requestor} />` },
    { name: 'took', title: 'Took', show: (operation) => html`<${Took} operation=${operation} />` },
    { name: 'result', title: 'Result', show: (operation) => html`<${Result} operation=${operation} me=${me} whole />` },
];

function Work({ node, operations, me }) {
    const rows = (operations ?? []).filter(({ resources }) => resources?.nodes?.includes(`/1.0/nodes/${node.name}`)).slice(0, few);
    return rows.length > 0 && html`<section class="stack" aria-label="Work on this node"><h2>Work on this node</h2>
        <${Table} label="Work on this node" columns=${operationColumns(me)} rows=${rows} keyOf=${({ id }) => id} /></section>`;
}

const share = (values, total) => values.map((value) => (value === null || !total ? null : (value / total) * 100));
const percent = (value) => `${Math.round(value)} %`;

function Graphs({ node, history }) {
    const own = history?.node;
    if (!own) return null;
    const lines = capacityOf(node).map(({ name, total }) => [name, share({ CPUs: own.cpus, Memory: own.memory, Disk: own.disk, 'GPU slots': own.gpu_slots }[name], total)]);
    return html`<section class="wide-grid" aria-label="The last hour">
        <${Graph} title="Reserved" format=${percent} least=${10} series=${lines.map(([label]) => ({ label }))} data=${[history.times, ...lines.map(([, values]) => values)]} />
        <${Graph} title="Instances" series=${[{ label: 'instances' }]} data=${[history.times, own.instances]} />
        <${Graph} title="Launch duration" least=${1} format=${(value) => `${value.toLocaleString(undefined, { maximumFractionDigits: 2 })} s`} series=${[{ label: 'mean' }]} data=${[history.times, own.launch_duration]} />
        <${Graph} title="Launches a minute" series=${[{ label: 'succeeded', color: '--good' }]} data=${[history.times, own.launches.map((value) => (value === null ? null : (value * 60) / history.interval))]} />
    </section>`;
}

export function Node({ me, name }) {
    const path = `/1.0/nodes/${encodeURIComponent(name)}`;
    const { value: node, error, reload } = useLoaded((signal) => get(path, { signal }), [path]);
    const { history } = useHistory({ node: name, nodes: 256 });
    const { operations } = useOperations();
    const [dialog, setDialog] = useState(null);
    useReloadOn('operation', reload, ({ metadata }) => metadata.resources?.nodes?.includes(path));
    useReloadOn('logging', reload, ({ metadata }) => /node|manager/.test(metadata.message));
    if (error) return html`<${Page} title=${name}><${Failure} error=${error} again=${reload} /><p><a href="#/nodes">All nodes</a></p><//>`;
    if (!node) return html`<${Page} title=${name}><${Spinner} /><//>`;
    const figures = history?.slowest_nodes.find((one) => one.name === name);
    const Shown = dialogs[dialog];
    return html`<${Page} title=${name} actions=${html`<${Actions} me=${me} node=${node} open=${setDialog} />`}>
        <p class="states"><a href="#/nodes">Nodes</a> <${State} state=${node.status} />${node.unschedulable && html` <span class="state busy">cordoned</span>`}${node.is_master && html` <span class="state plain">leader</span>`}</p>
        <div class="wide-grid">
            <section class="card stack top" aria-label="Capacity"><h2>Reserved</h2>${capacityOf(node, figures).map((amount) => html`
                <div class="use" key=${amount.name}><span>${amount.name}</span><${Use} node=${node} figures=${figures} name=${amount.name} /></div>`)}
                <p class="hint">CPUs and memory after the allocation rates ${node.cpu_allocation_rate} and ${node.memory_allocation_rate}; the machine has ${node.cpus} CPUs, ${node.memory} of memory.</p></section>
            <${Facts} node=${node} />
        </div>
        <${Work} node=${node} operations=${operations} me=${me} />
        <${Graphs} node=${node} history=${history} />
        <${Instances} node=${node} />
        ${Shown && html`<${Shown} node=${node} onClose=${() => { setDialog(null); reload(); }} onRemoved=${() => go('nodes')} />`}
    <//>`;
}
