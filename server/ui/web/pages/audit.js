// Who has changed what, and who was refused.
import { html, useMemo, useState } from '../html.js';
import { Empty, Page } from '../ui/elements.js';
import { count, moment } from '../ui/format.js';
import { save } from '../ui/save.js';
import { Table } from '../ui/table.js';
import { useTrail } from './audit/trail.js';
import { dash } from './packages/parts.js';

const shownAtMost = 500;
const isRefused = ({ status, error }) => Boolean(error) || !(status < 400);
const operationOf = ({ operation }) => operation?.split('/').pop();
const columns = [
    { name: 'time', short: true, title: 'Time', value: ({ time }) => time, show: ({ time }) => moment(time) },
    { name: 'who', title: 'Who', value: ({ who }) => who, show: ({ who, role }) => html`<span class="named"><bdi>${dash(who)}</bdi>${role && html`<span class="state">${role}</span>`}</span>` },
    { name: 'requestor', title: 'As', value: ({ requestor }) => requestor, show: ({ requestor }) => html`<bdi>${dash(requestor)}</bdi>` },
    { name: 'address', title: 'From', value: ({ address }) => address, show: ({ address }) => dash(address) },
    { name: 'method', short: true, title: 'Method', value: ({ method }) => method },
    { name: 'path', title: 'Path', value: ({ path }) => path, show: ({ path }) => (path ? html`<code><bdi>${path}</bdi></code>` : '–') },
    { name: 'status', short: true, title: 'Answer', value: ({ status }) => status, show: (row) => (row.status ? html`<span class="state ${isRefused(row) ? 'bad' : 'good'}">${row.status}</span>` : '–') },
    { name: 'error', title: 'Reason', value: ({ error }) => error, show: ({ error, count: times }) => html`<bdi>${dash(error)}${times && ` (${times})`}</bdi>` },
    { name: 'operation', short: true, title: 'Operation', value: operationOf, show: (row) => (operationOf(row) ? html`<a href="#/operations?filter=${encodeURIComponent(operationOf(row))}">${operationOf(row).slice(0, 8)}</a>` : '–') },
];
const textOf = (row) => columns.map(({ value }) => value(row) ?? '').join(' ').toLowerCase();

function useShown(events, wanted, refused) {
    return useMemo(() => {
        const text = wanted.trim().toLowerCase();
        const rows = events.filter(({ type }) => type === 'audit').map(({ sequence, timestamp, metadata }) => ({ key: sequence, time: timestamp, ...metadata }));
        return rows.filter((row) => (!refused || isRefused(row)) && (!text || textOf(row).includes(text)));
    }, [events, wanted, refused]);
}

export default function Audit() {
    const [paused, setPaused] = useState(false);
    const [wanted, setWanted] = useState('');
    const [refused, setRefused] = useState(false);
    const { events, here, held } = useTrail(paused);
    const rows = useShown(events, wanted, refused);
    const lines = () => rows.map(({ key, ...row }) => `${JSON.stringify(row)}\n`).join('');
    const actions = html`<button onClick=${() => setPaused(!paused)} aria-pressed=${paused}>${paused ? `Go on (${held} new)` : 'Pause'}</button>
        <button disabled=${rows.length === 0} onClick=${() => save(new Blob([lines()], { type: 'application/jsonl' }), 'audit.jsonl')}>Download</button>`;
    const gap = events.some(({ type }) => type === 'gap');
    return html`<${Page} title="Audit" actions=${actions}>
        <div class="actions"><input type="search" class="filter" aria-label="Filter the audit" placeholder="Filter the audit" value=${wanted} onInput=${({ target }) => setWanted(target.value)} />
            <label class="check"><input type="checkbox" checked=${refused} onChange=${() => setRefused(!refused)} /> Only what was refused</label></div>
        <p class="hint" role="status">${!here ? 'Connecting …' : `${count(rows.length, 'entry', 'entries')}${rows.length > shownAtMost ? `, the newest ${shownAtMost} are shown` : ''}.`}
            ${gap ? ' Older ones are in audit.log of the state directory.' : ''}</p>
        <${Table} label="Audit" columns=${columns} rows=${rows.slice(0, shownAtMost)} keyOf=${({ key }) => key}
            empty=${here && html`<${Empty} title="Nothing to show">What changes something, each login and each refusal of one is listed here, and is a line of <code>audit.log</code> in the state directory.<//>`} />
    <//>`;
}
