// The field of the filter with what the last word may become, states to choose, and how many instances are shown.
import { html, useMemo } from '../../html.js';
import { suggestions, withCondition } from './filter.js';

const order = ['running', 'paused', 'pooled', 'started', 'prepared', 'created', 'stopped', 'error'];

function countsOf(rows) {
    const counts = new Map();
    for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
    return [...counts].sort(([left], [right]) => order.indexOf(left) - order.indexOf(right));
}

const StateButton = ({ status, number, on, onClick }) => html`<button class="small chip" aria-pressed=${on} onClick=${onClick}>${status} <b>${number.toLocaleString()}</b></button>`;

export function FilterBar({ text, filter, rows, images, found, total, loading, onChange }) {
    const counts = useMemo(() => countsOf(rows), [rows]);
    const proposals = useMemo(() => suggestions(text, rows, images), [text, rows, images]);
    const isOn = (status) => filter.conditions.some(([key, value]) => key === 'status' && value.split(',').includes(status));
    return html`<div class="filter-bar">
        <div class="filter-field">
            <input type="search" class="filter" aria-label="Filter instances" placeholder="status=running or any text" value=${text} list="instance-filters" autocomplete="off" spellcheck=${false}
                aria-invalid=${Boolean(filter.problem)} aria-describedby=${filter.problem ? 'filter-problem' : undefined} onInput=${(event) => onChange(event.target.value)} />
            <datalist id="instance-filters">${proposals.map((value) => html`<option key=${value} value=${value}></option>`)}</datalist>
            ${filter.problem && html`<small id="filter-problem" class="problem" role="alert">${filter.problem}</small>`}
        </div>
        <div class="chips" role="group" aria-label="States">${counts.map(([status, number]) => html`
            <${StateButton} key=${status} status=${status} number=${number} on=${isOn(status)} onClick=${() => onChange(withCondition(text, 'status', status))} />`)}</div>
        <span class="count" role="status">${found.toLocaleString()} of ${total.toLocaleString()}${loading && ' (loading)'}</span>
    </div>`;
}
