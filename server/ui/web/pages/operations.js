// Background work: what runs first, then what has ended, newest first; live.
import { html, useMemo, useState } from '../html.js';
import { setQuery } from '../router.js';
import { hasEnded, useOperations } from '../operations.js';
import { Ago, Empty, Failure, Page, Spinner } from '../ui/elements.js';
import { count } from '../ui/format.js';
import { Objects, Requestor, resourcesOf } from '../ui/objects.js';
import { OperationState, Result, Took } from '../ui/operation.js';
import { Table } from '../ui/table.js';

const page = 200;  // rows that are shown at once
const states = ['all', 'running', 'success', 'failure', 'cancelled'];

const columns = (me) => [
    { name: 'status', title: 'Status', show: (operation) => html`<${OperationState} operation=${operation} />` },
    { name: 'what', title: 'What', show: ({ description, id }) => html`<span title=${id}>${description}</span>` },
    { name: 'objects', title: 'Of', show: (operation) => html`<${Objects} operation=${operation} />` },
    { name: 'who', title: 'Asked by', show: ({ requestor }) => html`<${Requestor} name=${requestor} />` },
    { name: 'when', title: 'Began', show: (operation) => html`<${Ago} time=${operation.created_at} />` },
    { name: 'took', title: 'Took', show: (operation) => html`<${Took} operation=${operation} />` },
    { name: 'result', title: 'Result', show: (operation) => html`<${Result} operation=${operation} me=${me} whole />` },
];

const textOf = (operation) => [operation.id, operation.status, operation.description, operation.requestor, operation.err, ...resourcesOf(operation)].join(' ').toLowerCase();

function matches(operation, state, words) {
    const status = hasEnded(operation) ? operation.status.toLowerCase() : 'running';
    return (state === 'all' || state === status) && words.every((word) => textOf(operation).includes(word));
}

function Filters({ text, setText, state, setState }) {
    return html`<div class="filters">
        <input type="search" class="filter" aria-label="Filter operations" placeholder="Filter: what, object, who, error" value=${text} onInput=${(event) => setText(event.target.value)} />
        <label class="inline">Status <select value=${state} onChange=${(event) => setState(event.target.value)}>${states.map((name) => html`<option key=${name}>${name}</option>`)}</select></label>
    </div>`;
}

function Found({ operations, found, me }) {
    const [most, setMost] = useState(page);
    if (operations.length === 0) return html`<${Empty} title="No operations">Whatever takes a while is an operation: a launch, an import, a deletion. Begin with <a href="#/images">an image</a>, or <code>svcctl image add NAME FILE</code>.<//>`;
    if (found.length === 0) return html`<p class="hint">None of ${count(operations.length, 'operation')} matches.</p>`;
    return html`<${Table} label="Operations" columns=${columns(me)} rows=${found.slice(0, most)} keyOf=${({ id }) => id} />
        ${found.length > most && html`<button onClick=${() => setMost(most + page)}>Show more of ${count(found.length, 'operation')}</button>`}`;
}

export default function Operations({ me, place }) {
    const { operations, error, reload } = useOperations();
    const [text, setText] = useState(place.query.get('filter') ?? '');
    const [state, setState] = useState(states.includes(place.query.get('status')) ? place.query.get('status') : 'all');
    const found = useMemo(() => {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        return (operations ?? []).filter((operation) => matches(operation, state, words));
    }, [operations, text, state]);
    const remember = (set, name) => (value) => {
        set(value);
        setQuery({ [name]: value === 'all' ? '' : value });
    };
    const running = (operations ?? []).filter((operation) => !hasEnded(operation)).length;
    return html`<${Page} title="Operations" actions=${operations && html`<span class="hint" role="status">${running} running</span>`}>
        ${error && html`<${Failure} error=${error} again=${reload} />`}
        <${Filters} text=${text} setText=${remember(setText, 'filter')} state=${state} setState=${remember(setState, 'status')} />
        ${operations ? html`<${Found} operations=${operations} found=${found} me=${me} />` : !error && html`<${Spinner} />`}
    <//>`;
}
