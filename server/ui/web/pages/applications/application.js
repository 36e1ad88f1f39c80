// One application: its fields and its versions.
import { html, useState } from '../../html.js';
import { get } from '../../api.js';
import { go, href } from '../../router.js';
import { Ago, Failure, Page, State } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { say } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { act, dash, Facts, Loaded, removeAsked, Tags, useOperationsOn } from '../packages/parts.js';
import { packageEndings, UploadDialog } from '../packages/upload_dialog.js';
import { Bootstrap } from './bootstrap.js';
import { Fields } from './fields.js';

const path = (id, ...more) => `/1.0/applications/${[id, ...more].join('/')}`;
// What was made or published last is what one looks for.
const newestFirst = (versions) => [...versions].reverse();

const versionColumns = (id) => [
    { name: 'number', title: 'Version', value: ({ number }) => number, show: ({ number }) => html`<a href=${href('applications', id, String(number))}>Version ${number}</a>` },
    { name: 'status', short: true, title: 'Status', value: ({ status }) => status, show: ({ status }) => html`<${State} state=${status} />` },
    { name: 'published', short: true, title: 'Published', value: (row) => (row.published ? 'yes' : 'no'), show: (row) => (row.published ? html`<${State} state="published" />` : 'no') },
    { name: 'manifest', short: true, title: 'Manifest version', value: ({ manifest_version }) => manifest_version, show: ({ manifest_version }) => html`<bdi>${dash(manifest_version)}</bdi>` },
    { name: 'image', short: true, title: 'Image version', value: ({ parent_image_version }) => parent_image_version },
    { name: 'created', short: true, title: 'Created', value: ({ created_at }) => created_at, show: ({ created_at }) => html`<${Ago} time=${created_at} />` },
    { name: 'note', title: 'What happened', value: ({ error_message, notes }) => error_message || (notes ?? []).join('; '), show: ({ error_message, notes }) => html`<bdi>${dash(error_message || (notes ?? []).join('; '))}</bdi>` },
];

function Actions({ me, application, onUpload, onEdit }) {
    const { id, name, immutable, versions } = application;
    const remove = async () => {
        const text = `“${name}” and its ${versions.length === 1 ? 'version' : `${versions.length} versions`} are deleted. Instances that run go on.`;
        if (await removeAsked('Delete the application?', text, path(id), { force: immutable }, `Application ${name} is deleted`)) go('applications');
    };
    const update = () => act('PATCH', path(id), undefined, 'Looked for a newer image and newer addons');
    return html`${me.may('operator') && application.published && html`<a class="button primary" href="${href('instances', 'launch')}?application=${id}">Launch</a>`}
        ${me.may('admin') && html`
            ${!immutable && html`<button onClick=${onUpload}>New version</button><button onClick=${onEdit}>Edit</button>
                <button onClick=${update} title="Makes a version when the image or an addon has a newer one">Update</button>`}
            <button class="danger" onClick=${remove}>Delete</button>`}`;
}

const resourcesOf = ({ cpus, memory, 'disk-size': disk, 'gpu-slots': slots, 'gpu-type': type }) => [
    cpus && `${cpus} CPUs`, memory && `${memory} memory`, disk && `${disk} disk`, slots > 0 && `${slots} GPU slots`, type].filter(Boolean).join(', ');

const sizeOf = ({ min, max }) => (min === max ? min : `${min} to ${max}`);
const poolOf = (pool) => `${sizeOf(pool)} booted instance${pool.max === 1 ? '' : 's'}${pool.late_data ? ', told their data late' : ''}`;

const factsOf = (application, image) => [
    ['Status', html`<${State} state=${application.status} />`],
    ['Id', html`<code>${application.id}</code>`],
    ['Image', html`<a href=${href('images')}><bdi>${image?.name ?? application.parent_image_id}</bdi></a>`],
    ['Instance type', application.instance_type],
    ['Resources', resourcesOf(application.resources ?? {})],
    ['Package', application.boot_package],
    ['ABI', application.abi],
    ['Addons', html`<${Tags} values=${application.addons} />`],
    ['Tags', html`<${Tags} values=${application.tags} />`],
    ['Nodes with', application.node_selector && html`<${Tags} values=${application.node_selector} />`],
    ['Pool', application.pool && poolOf(application.pool)],
    ['Updates', application.immutable ? 'by the registry' : application.inhibit_auto_updates ? 'on request' : 'automatic'],
    ['Created', html`<${Ago} time=${application.created_at} />`],
];

async function load(id, signal) {
    const application = await get(path(id), { signal });
    const image = await get(`/1.0/images/${application.parent_image_id}`, { signal }).catch(() => undefined);
    return { application, image };
}

export function Application({ me, id }) {
    const state = useLoaded((signal) => load(id, signal), [id]);
    useOperationsOn('applications', state.reload);
    const [dialog, setDialog] = useState('');
    const close = () => setDialog('');
    const stored = () => {
        close();
        say('The package is stored. The new version is being made.');
        state.reload();
    };
    const application = state.value?.application;
    return html`<${Page} title=${application?.name ?? 'Application'} actions=${application && !state.error && html`<${Actions} ...${{ me, application }} onUpload=${() => setDialog('upload')} onEdit=${() => setDialog('edit')} />`}>
        <p><a href=${href('applications')}>All applications</a></p>
        <${Loaded} ...${state}>${({ image }) => html`
            ${application.status === 'error' && html`<${Failure} error=${{ message: application.versions.at(-1).error_message }} />`}
            <${Bootstrap} me=${me} application=${application} />
            <section class="card"><h2>About</h2><${Facts} rows=${factsOf(application, image)} /></section>
            <h2>Versions</h2>
            <${Table} label="Versions" columns=${versionColumns(id)} rows=${newestFirst(application.versions)} keyOf=${({ number }) => number} />`}<//>
        ${dialog === 'upload' && html`<${UploadDialog} title="New version of ${application.name}" folders accept=${packageEndings} onClose=${close} onDone=${stored}
            request=${() => ({ method: 'PATCH', path: path(id) })} />`}
        ${dialog === 'edit' && html`<${Fields} id=${id} onClose=${close} onDone=${state.reload} />`}
    <//>`;
}
