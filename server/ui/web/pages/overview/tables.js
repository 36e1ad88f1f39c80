// What is slow, what has failed, what was asked for last.
import { html } from '../../html.js';
import { call } from '../../api.js';
import { href } from '../../router.js';
import { Ago, Empty, Failure, Spinner } from '../../ui/elements.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';
import { Objects, Requestor } from '../../ui/objects.js';
import { OperationState, Result, Took } from '../../ui/operation.js';
import { Table } from '../../ui/table.js';
import { seconds } from './graphs.js';

const few = 8;

const nodeColumns = [
    { name: 'name', title: 'Node', value: ({ name }) => name, show: ({ name }) => html`<a href=${href('nodes', name)}>${name}</a>` },
    { name: 'duration', title: 'Launch takes', value: (node) => node.launch_duration ?? -1, show: (node) => (node.launch_duration === null ? '–' : seconds(node.launch_duration)) },
    { name: 'launches', title: 'Launches', value: ({ launches }) => launches },
    { name: 'instances', title: 'Instances', value: ({ instances }) => instances },
];

export function SlowestNodes({ nodes }) {
    return html`<section class="stack top" aria-label="Slowest nodes"><h2>Slowest nodes</h2>
        <${Table} label="Slowest nodes" columns=${nodeColumns} rows=${nodes.slice(0, few)} keyOf=${({ name }) => name}
            empty=${html`<${Empty} title="No nodes">A machine becomes a node when its <code>svcd</code> runs, or by <code>svcctl node add</code>.<//>`} />
    </section>`;
}

const failureColumns = [
    { name: 'name', title: 'Instance', value: ({ name }) => name, show: ({ id, name }) => html`<a href=${href('instances', id)}>${name}</a>` },
    { name: 'reason', title: 'Reason', value: (instance) => instance.error_message, show: (instance) => html`<span class="reason">${instance.error_message || 'no reason is known'}</span>` },
    { name: 'since', title: 'Launched', value: (instance) => instance.created_at, show: (instance) => html`<${Ago} time=${instance.created_at} />` },
];

// Lists are in the order of ids, thus of launches: the newest are at the end.
async function newestFailures(failed, signal) {
    if (failed === 0) return [];
    const query = `base=false&status=error&recursion=1&offset=${Math.max(0, failed - few)}&limit=${few}`;
    return (await call('GET', `/1.0/instances?${query}`, undefined, { signal })).metadata.reverse();
}

export function NewestFailures({ failed }) {
    const { value, error, reload } = useLoaded((signal) => newestFailures(failed, signal), [failed]);
    useReloadOn('lifecycle', reload, ({ metadata }) => metadata.action === 'container-failed');
    return html`<section class="stack top" aria-label="Newest failures"><h2>Newest failures</h2>
        ${!value ? (error ? html`<${Failure} error=${error} again=${reload} />` : html`<${Spinner} />`) : html`<${Table} label="Newest failures" columns=${failureColumns} rows=${value} keyOf=${({ id }) => id}
            empty=${html`<${Empty} title="Nothing has failed">An instance that fails is shown here, with the reason.<//>`} />`}
    </section>`;
}

const operationColumns = (me) => [
    { name: 'status', title: 'Status', value: ({ status }) => status, show: (operation) => html`<${OperationState} operation=${operation} />` },
    { name: 'what', title: 'What', value: ({ description }) => description },
    { name: 'objects', title: 'Of', value: null, show: (operation) => html`<${Objects} operation=${operation} />` },
    { name: 'who', title: 'Asked by', value: ({ requestor }) => requestor, show: ({ requestor }) => html`<${Requestor} name=${requestor} />` },
    { name: 'when', title: 'Began', value: (operation) => operation.created_at, show: (operation) => html`<${Ago} time=${operation.created_at} />` },
    { name: 'took', title: 'Took', value: null, show: (operation) => html`<${Took} operation=${operation} />` },
    { name: 'end', title: 'Result', value: ({ err }) => err, show: (operation) => html`<${Result} operation=${operation} me=${me} />` },
];

export function NewestOperations({ operations, me }) {
    return html`<section class="stack" aria-label="Newest operations"><h2><a href="#/operations">Newest operations</a></h2>
        ${!operations ? html`<${Spinner} />` : html`<${Table} label="Newest operations" columns=${operationColumns(me)} rows=${operations.slice(0, few)} keyOf=${({ id }) => id}
            empty=${html`<${Empty} title="No operations">Whatever takes a while is an operation: a launch, an import, a deletion.<//>`} />`}
    </section>`;
}
