// Addons: what there is, with versions.
import { html, useState } from '../html.js';
import { list } from '../api.js';
import { Ago, Field, Page } from '../ui/elements.js';
import { bytes } from '../ui/format.js';
import { useLoaded } from '../ui/loaded.js';
import { say } from '../ui/notice.js';
import { Table } from '../ui/table.js';
import { Loaded, NoPackages, removeAsked, useOperationsOn, UsedBy } from './packages/parts.js';
import { requestHeader } from './packages/send.js';
import { packageEndings, UploadDialog } from './packages/upload_dialog.js';
import { Versions } from './packages/versions.js';

const path = (name) => `/1.0/addons/${encodeURIComponent(name)}`;
const newest = ({ versions }) => versions.at(-1) ?? {};
const columns = [
    { name: 'name', title: 'Name', value: ({ name }) => name, show: ({ name }) => html`<bdi>${name}</bdi>` },
    { name: 'version', title: 'Newest version', value: (row) => newest(row).version },
    { name: 'size', short: true, title: 'Size', value: (row) => newest(row).size, show: (row) => bytes(newest(row).size) },
    { name: 'used', short: true, title: 'Used by', value: ({ used_by }) => used_by?.length ?? 0, show: ({ used_by }) => html`<${UsedBy} ids=${used_by} />` },
    { name: 'created', short: true, title: 'Created', value: (row) => newest(row).created_at, show: (row) => html`<${Ago} time=${newest(row).created_at} />` },
];
const versionColumns = [
    { name: 'size', short: true, title: 'Size', show: ({ size }) => bytes(size) },
    { name: 'fingerprint', title: 'Fingerprint', show: ({ fingerprint }) => html`<code title=${fingerprint}>${fingerprint.slice(0, 12)}</code>` },
    { name: 'created', short: true, title: 'Created', show: ({ created_at }) => html`<${Ago} time=${created_at} />` },
];

function Upload({ addon, onClose }) {
    const done = () => {
        say(addon ? `${addon.name} has a new version` : 'The addon is stored');
        onClose();
    };
    const request = (form) => (addon ? { method: 'PATCH', path: path(addon.name), headers: requestHeader({}) }
        : { method: 'POST', path: '/1.0/addons', headers: requestHeader({ name: form.get('name').trim() }) });
    return html`<${UploadDialog} title=${addon ? `New version of ${addon.name}` : 'Add an addon'} folders accept=${packageEndings} request=${request} onDone=${done} onClose=${onClose}>
        <p class="hint">A folder with <code>manifest.yaml</code> and at least one hook in <code>hooks/</code>.</p>
        ${!addon && html`<${Field} label="Name"><input name="name" required autocomplete="off" /><//>`}
    <//>`;
}

function Buttons({ addon, onVersions, onUpload, me }) {
    const { name } = addon;
    return html`<span class="actions">
        <button class="small" aria-label="Versions of ${name}" onClick=${onVersions}>Versions (${addon.versions.length})</button>
        ${me.may('admin') && html`<button class="small" aria-label="New version of ${name}" onClick=${onUpload}>New version</button>
            <button class="small danger" aria-label="Delete ${name}" onClick=${() => removeAsked('Delete the addon?', `“${name}” and all its versions are deleted.`, path(name), undefined, `Addon ${name} is deleted`)}>Delete</button>`}
    </span>`;
}

export default function Addons({ me }) {
    const state = useLoaded((signal, onPage) => list('/1.0/addons', { signal, onPage }));
    useOperationsOn('addons', state.reload);
    useOperationsOn('applications', state.reload);
    const [dialog, setDialog] = useState({});
    const close = () => setDialog({});
    const add = me.may('admin') && html`<button class="primary" onClick=${() => setDialog({ kind: 'upload' })}>Add an addon</button>`;
    const all = [...columns, { name: 'actions', title: 'Actions', show: (addon) => html`<${Buttons} ...${{ addon, me }} onVersions=${() => setDialog({ kind: 'versions', name: addon.name })} onUpload=${() => setDialog({ kind: 'upload', name: addon.name })} />` }];
    const addon = state.value?.find(({ name }) => name === dialog.name);
    return html`<${Page} title="Addons" actions=${add}>
        <${Loaded} ...${state}>${(rows) => html`<${Table} label="Addons" filter="Filter addons" columns=${all} rows=${rows} keyOf=${({ name }) => name}
            empty=${html`<${NoPackages} title="There are no addons yet" button=${add} command="svcctl addon add ssh ./ssh-addon">
                An addon is a package of hooks that applications and instances share.<//>`} />`}<//>
        ${dialog.kind === 'upload' && html`<${Upload} addon=${addon} onClose=${close} />`}
        ${dialog.kind === 'versions' && addon && html`<${Versions} of=${addon.name} path=${path(addon.name)} versions=${addon.versions} columns=${versionColumns} me=${me} onClose=${close} />`}
    <//>`;
}
