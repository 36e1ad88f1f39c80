// Which columns are shown; what narrow windows, which have no heads of columns, sort by.
import { html, useState } from '../../html.js';
import { Dialog } from '../../ui/notice.js';
import { rememberColumns } from './columns.js';

export function ColumnsButton({ all, chosen, onChange }) {
    const [open, setOpen] = useState(false);
    const has = (name) => chosen.some((column) => column.name === name);
    const turn = (name) => {
        const names = chosen.map((column) => column.name);
        rememberColumns(has(name) ? names.filter((other) => other !== name) : [...names, name]);
        onChange();
    };
    return html`<button onClick=${() => setOpen(true)}>Columns</button>
        ${open && html`<${Dialog} title="Columns" onClose=${() => setOpen(false)}>
            <div class="fields">${all.filter(({ always }) => !always).map(({ name, title }) => html`
                <label class="check" key=${name}><input type="checkbox" checked=${has(name)} onChange=${() => turn(name)} />${title}</label>`)}</div>
            <div class="choices"><button class="primary" onClick=${() => setOpen(false)}>Done</button></div>
        <//>`}`;
}

export function SortChoice({ columns, sort, onSort }) {
    return html`<div class="sort-choice"><label>Sort by <select value=${sort.name} onChange=${(event) => onSort({ ...sort, name: event.target.value })}>
            ${columns.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}</select></label>
        <button aria-pressed=${sort.down} onClick=${() => onSort({ ...sort, down: !sort.down })}>${sort.down ? 'Descending' : 'Ascending'}</button></div>`;
}
