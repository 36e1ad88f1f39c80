// What can be done with the selected instances: only with those in a state that allows it.
import { call } from '../../api.js';
import { html, useState } from '../../html.js';
import { count } from '../../ui/format.js';
import { ask, attempt, Dialog } from '../../ui/notice.js';
import { beginRun } from '../../ui/run.js';
import { nameOf } from './columns.js';

const operationOf = async (method, id, body) => (await call(method, `/1.0/instances/${id}`, body)).metadata;
const wish = (status) => (row) => operationOf('PATCH', row.id, { desired_status: status });

export const actions = [
    { name: 'Start', doing: 'Starting', allowed: ['prepared', 'stopped', 'error'], begin: wish('running') },
    { name: 'Stop', doing: 'Stopping', allowed: ['started', 'running', 'paused'], begin: wish('stopped') },
    { name: 'Pause', doing: 'Pausing', allowed: ['running'], begin: wish('paused') },
    { name: 'Resume', doing: 'Resuming', allowed: ['paused'], begin: wish('running') },
];

export const allows = ({ allowed }, row) => row.type !== 'base' && allowed.includes(row.status);

const itemsOf = (rows, begin) => rows.map((row) => ({ label: nameOf(row), id: row.id, begin: () => begin(row) }));

// Starting one that has failed drops the logs that were kept of it.
async function confirmed({ name }, rows) {
    const failed = name === 'Start' ? rows.filter(({ status }) => status === 'error').length : 0;
    if (failed > 0) return ask('Start failed instances?', `${count(failed, 'instance')} of ${rows.length.toLocaleString()} failed. Starting drops their stored logs.`, 'Start');
    if (name === 'Stop') return ask('Stop instances?', `${count(rows.length, 'instance')} will be stopped; their disks stay.`, 'Stop');
    return true;
}

async function act(action, rows) {
    if (await confirmed(action, rows)) attempt(async () => beginRun(`${action.doing} ${count(rows.length, 'instance')}`, itemsOf(rows, action.begin)));
}

const mostNamed = 5;

function DeleteDialog({ rows, onClose }) {
    const [force, setForce] = useState(false);
    const remove = () => {
        onClose();
        attempt(async () => beginRun(`Deleting ${count(rows.length, 'instance')}`, itemsOf(rows, (row) => operationOf('DELETE', row.id, { force }))));
    };
    const named = rows.slice(0, mostNamed).map(nameOf).join(', ');
    return html`<${Dialog} title="Delete ${count(rows.length, 'instance')}?" onClose=${onClose}>
        <p class="names">${named}${rows.length > mostNamed && ` and ${(rows.length - mostNamed).toLocaleString()} more`}</p>
        <p class="hint">Their disks go with them. Protected ones stay.</p>
        <label class="check"><input type="checkbox" checked=${force} onChange=${(event) => setForce(event.target.checked)} />Without a graceful stop</label>
        <div class="choices"><button onClick=${onClose}>Cancel</button><button class="danger-filled" onClick=${remove}>Delete ${rows.length.toLocaleString()}</button></div>
    <//>`;
}

// `rows`: the selected ones.
export function Actions({ rows, busy }) {
    const [deleting, setDeleting] = useState(null);
    return html`<div class="actions" role="group" aria-label="Actions for the selection">
        ${actions.map((action) => {
            const fit = rows.filter((row) => allows(action, row));
            return html`<button class="small" key=${action.name} disabled=${busy || fit.length === 0} onClick=${() => act(action, fit)}>${action.name}${fit.length > 0 && fit.length < rows.length && ` ${fit.length.toLocaleString()}`}</button>`;
        })}
        <button class="small danger" disabled=${busy || rows.length === 0} onClick=${() => setDeleting(rows)}>Delete</button>
        ${deleting && html`<${DeleteDialog} rows=${deleting} onClose=${() => setDeleting(null)} />`}
    </div>`;
}
