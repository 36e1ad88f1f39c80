// Images: what there is, with versions; uploads, and imports from the image server.
import { html, useState } from '../html.js';
import { list } from '../api.js';
import { Ago, Field, Page, State } from '../ui/elements.js';
import { bytes } from '../ui/format.js';
import { useLoaded } from '../ui/loaded.js';
import { say } from '../ui/notice.js';
import { Table } from '../ui/table.js';
import { Import } from './images/import.js';
import { act, dash, Loaded, NoPackages, removeAsked, useOperationsOn, UsedBy } from './packages/parts.js';
import { requestHeader } from './packages/send.js';
import { imageEndings, UploadDialog } from './packages/upload_dialog.js';
import { Versions } from './packages/versions.js';

const path = (id, ...more) => `/1.0/images/${[id, ...more].join('/')}`;
const newest = ({ versions }) => versions.at(-1) ?? {};
const columns = [
    { name: 'name', title: 'Name', value: ({ name }) => name, show: (row) => html`<span class="named"><bdi>${row.name}</bdi>${row.default && html`<span class="state good">default</span>`}</span>` },
    { name: 'status', short: true, title: 'Status', value: ({ status }) => status, show: ({ status }) => html`<${State} state=${status} />` },
    { name: 'architecture', short: true, title: 'Architecture', value: ({ architecture }) => architecture },
    { name: 'from', short: true, title: 'From', value: ({ immutable }) => (immutable ? 'image server' : 'upload') },
    { name: 'size', short: true, title: 'Size', value: (row) => newest(row).size, show: (row) => bytes(newest(row).size) },
    { name: 'used', short: true, title: 'Used by', value: ({ used_by }) => used_by?.length ?? 0, show: ({ used_by }) => html`<${UsedBy} ids=${used_by} />` },
    { name: 'created', short: true, title: 'Newest version', value: (row) => newest(row).created_at, show: (row) => html`<${Ago} time=${newest(row).created_at} />` },
];
const versionColumns = [
    { name: 'status', title: 'Status', show: ({ status, error_message }) => html`<span class="named"><${State} state=${status} /> <bdi>${error_message}</bdi></span>` },
    { name: 'size', short: true, title: 'Size', show: ({ size }) => bytes(size) },
    { name: 'remote', title: 'On the server', show: ({ remote_id }) => dash(remote_id) },
    { name: 'fingerprint', title: 'Fingerprint', show: ({ fingerprint }) => html`<code title=${fingerprint}>${fingerprint.slice(0, 12)}</code>` },
    { name: 'created', short: true, title: 'Created', show: ({ created_at }) => html`<${Ago} time=${created_at} />` },
];

function Buttons({ image, onVersions, onUpload, me }) {
    const { id, name, immutable, default: chosen } = image;
    const text = `“${name}” and all its versions are deleted.${immutable ? ' It comes from the image server, and comes back with the next look there.' : ''}`;
    return html`<span class="actions">
        <button class="small" aria-label="Versions of ${name}" onClick=${onVersions}>Versions (${image.versions.length})</button>
        ${me.may('admin') && html`
            ${!immutable && html`<button class="small" aria-label="New version of ${name}" onClick=${onUpload}>New version</button>`}
            ${immutable && html`<button class="small" aria-label="Update ${name}" onClick=${() => act('PATCH', path(id), { force_sync: true }, `${name} is what the image server has`)}>Update</button>`}
            ${!chosen && html`<button class="small" aria-label="Make ${name} the default" onClick=${() => act('PATCH', path(id), { default: true }, `${name} is the default image`)}>Make default</button>`}
            <button class="small danger" aria-label="Delete ${name}" onClick=${() => removeAsked('Delete the image?', text, path(id), { force: immutable }, `Image ${name} is deleted`)}>Delete</button>`}
    </span>`;
}

const requestOf = (method, where) => (form) => ({
    method, path: where, headers: requestHeader({ ...(form.has('name') ? { name: form.get('name').trim() } : {}), ...(form.has('default') ? { default: true } : {}) }),
});

function Upload({ image, onClose }) {
    const done = () => {
        say(image ? `${image.name} has a new version` : 'The image is stored');
        onClose();
    };
    return html`<${UploadDialog} title=${image ? `New version of ${image.name}` : 'Upload an image'} accept=${imageEndings} onClose=${onClose} onDone=${done}
        request=${image ? requestOf('PATCH', path(image.id)) : requestOf('POST', '/1.0/images')}>
        <p class="hint">An archive of <code>metadata.yaml</code> and <code>rootfs/</code>. <code>svcctl image add NAME --oci SOURCE</code> makes one of an OCI image.</p>
        ${!image && html`<${Field} label="Name"><input name="name" required autocomplete="off" /><//>`}
        ${!image?.default && html`<label class="check"><input type="checkbox" name="default" /> Make it the default</label>`}
    <//>`;
}

export default function Images({ me }) {
    const state = useLoaded((signal, onPage) => list('/1.0/images', { signal, onPage }));
    useOperationsOn('images', state.reload);
    useOperationsOn('applications', state.reload);
    const [dialog, setDialog] = useState({});
    const close = () => setDialog({});
    const upload = me.may('admin') && html`<button class="primary" onClick=${() => setDialog({ kind: 'upload' })}>Upload an image</button>`;
    const actions = me.may('admin') && html`<button onClick=${() => setDialog({ kind: 'import' })}>From the image server</button>${upload}`;
    const all = [...columns, { name: 'actions', title: 'Actions', show: (image) => html`<${Buttons} ...${{ image, me }} onVersions=${() => setDialog({ kind: 'versions', id: image.id })} onUpload=${() => setDialog({ kind: 'upload', id: image.id })} />` }];
    const image = state.value?.find(({ id }) => id === dialog.id);
    return html`<${Page} title="Images" actions=${actions}>
        <${Loaded} ...${state}>${(rows) => html`<${Table} label="Images" filter="Filter images" columns=${all} rows=${rows} keyOf=${({ id }) => id}
            empty=${html`<${NoPackages} title="There are no images yet" button=${upload} command="svcctl image add base ./base.tar.xz">
                Applications and instances are made from an image. Upload one, or let the service follow an image server: set <code>images.url</code>.<//>`} />`}<//>
        ${dialog.kind === 'upload' && html`<${Upload} image=${image} onClose=${close} />`}
        ${dialog.kind === 'import' && html`<${Import} onClose=${close} />`}
        ${dialog.kind === 'versions' && image && html`<${Versions} of=${image.name} path=${path(image.id)} versions=${image.versions} columns=${versionColumns} me=${me} onClose=${close} />`}
    <//>`;
}
