// A table of some hundreds of rows at most: sorted by a column, filtered by a text. Longer lists: virtual_list.js.
import { html, useMemo, useState } from '../html.js';

const compare = (left, right) => (typeof left === 'number' && typeof right === 'number'
    ? left - right : String(left ?? '').localeCompare(String(right ?? ''), undefined, { numeric: true }));

function Head({ column, sort, setSort }) {
    if (!column.value) return html`<th scope="col">${column.title}</th>`;
    const active = sort.name === column.name;
    const order = active ? (sort.down ? 'descending' : 'ascending') : 'none';
    const turn = () => setSort({ name: column.name, down: active && !sort.down });
    return html`<th scope="col" aria-sort=${order}><button class="sort" onClick=${turn}>${column.title}
        <span aria-hidden="true">${active ? (sort.down ? ' ▾' : ' ▴') : ''}</span></button></th>`;
}

// `columns`: [{ name, title, value(row): to sort and filter by, show(row): what is shown, default: the value,
// short: never broken into lines }]. `keyOf(row)`. `filter`: a label makes a field to filter with. `empty`: shown without rows.
export function Table({ columns, rows, keyOf, filter, empty, label }) {
    const [sort, setSort] = useState({});
    const [wanted, setWanted] = useState('');
    const shown = useMemo(() => {
        const text = wanted.trim().toLowerCase();
        const found = rows.filter((row) => !text || columns.some(({ value }) => value && String(value(row) ?? '').toLowerCase().includes(text)));
        const by = columns.find(({ name }) => name === sort.name);
        if (by) found.sort((left, right) => compare(by.value(left), by.value(right)) * (sort.down ? -1 : 1));
        return found;
    }, [rows, columns, sort, wanted]);
    if (rows.length === 0) return empty ?? null;
    return html`
        ${filter && html`<input type="search" class="filter" aria-label=${filter} placeholder=${filter} value=${wanted} onInput=${(event) => setWanted(event.target.value)} />`}
        <div class="table-frame" tabindex="0" role="region" aria-label=${label}><table>
            <thead><tr>${columns.map((column) => html`<${Head} key=${column.name} ...${{ column, sort, setSort }} />`)}</tr></thead>
            <tbody>${shown.map((row) => html`<tr key=${keyOf(row)}>${columns.map(({ name, title, value, show, short }) => html`
                <td key=${name} class=${short ? 'short' : undefined} data-title=${title}>${show ? show(row) : value(row)}</td>`)}</tr>`)}</tbody>
        </table></div>
        ${shown.length === 0 && html`<p class="hint">Nothing matches “${wanted}”.</p>`}`;
}
