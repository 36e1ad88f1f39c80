// The versions of an image or an addon, and which of them to delete.
import { html } from '../../html.js';
import { Dialog } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { removeAsked } from './parts.js';

// `path`: of the object in the API. `columns`: what is shown of a version besides its number.
export function Versions({ of, path, versions, columns, me, onClose }) {
    const remove = ({ version }) => removeAsked('Delete the version?', `Version ${version} of “${of}” is deleted.`, `${path}/${version}`, undefined, `Version ${version} of ${of} is deleted`);
    const button = (row) => html`<button class="small danger" aria-label="Delete version ${row.version}" onClick=${() => remove(row)}>Delete</button>`;
    const all = [{ name: 'version', title: 'Version', show: ({ version }) => version }, ...columns,
        ...(me.may('admin') && versions.length > 1 ? [{ name: 'actions', title: 'Actions', show: button }] : [])];
    return html`<${Dialog} title="Versions of ${of}" wide onClose=${onClose}>
        <${Table} label="Versions of ${of}" columns=${all} rows=${[...versions].reverse()} keyOf=${({ version }) => version} />
    <//>`;
}
