// How an operation is shown, and how it is cancelled.
import { remove } from '../api.js';
import { html } from '../html.js';
import { hasEnded, secondsOf } from '../operations.js';
import { bytes, duration } from './format.js';
import { Meter, State } from './elements.js';
import { ask, attempt } from './notice.js';

export const mayCancel = (operation, me) => me.may('operator') && !hasEnded(operation) && operation.may_cancel && operation.status_code !== 104;

export async function cancel(operation) {
    const sure = await ask('Cancel the operation?', `“${operation.description}” is cancelled, and what it has done so far is undone where that is possible.`, 'Cancel the operation');
    if (sure) await attempt(() => remove(`/1.0/operations/${operation.id}`), 'The operation is being cancelled.');
}

export const CancelButton = ({ operation, me }) => mayCancel(operation, me)
    && html`<button class="small" aria-label="Cancel ${operation.description}" onClick=${() => cancel(operation)}>Cancel</button>`;

// Of transfers: how much there is of how much. Of operations on many objects: how many are done.
export function Progress({ operation }) {
    const { progress, instances } = operation.metadata ?? {};
    if (hasEnded(operation)) return null;
    if (progress?.total) return html`<${Meter} value=${progress.processed} most=${progress.total} text="${progress.percent} % of ${bytes(progress.total)}" />`;
    if (progress?.processed) return html`<span class="hint">${bytes(progress.processed)}</span>`;
    const done = instances ? Object.keys(instances).length : 0;
    return done > 0 && html`<span class="hint">${done} done</span>`;
}

// How far it is, or why it has failed.
export function Result({ operation, me, whole = false }) {
    if (hasEnded(operation)) return operation.err ? html`<span class="reason ${whole ? 'whole' : ''}">${operation.err}</span>` : null;
    return html`<span class="result"><${Progress} operation=${operation} /><${CancelButton} operation=${operation} me=${me} /></span>`;
}

export const Took = ({ operation }) => html`<span class="figure">${duration(secondsOf(operation))}</span>`;
export const OperationState = ({ operation }) => html`<${State} state=${operation.status} />`;
