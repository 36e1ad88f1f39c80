// Copies of the instance's disk.
import { download, list, run } from '../../api.js';
import { html, useState } from '../../html.js';
import { href } from '../../router.js';
import { bytes } from '../../ui/format.js';
import { Ago, Empty, Failure, Field, Spinner, State } from '../../ui/elements.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';
import { Dialog, ask, attempt } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';

const takeable = ({ status }) => status === 'stopped' || status === 'error';

function acts({ path, begin, reload }) {
    const doing = (title, method, place, body, done) => begin(title, (progress) => run(method, place, body, progress), done).then(reload);
    return {
        create: (name) => doing('Taking a snapshot', 'POST', path, name ? { name } : {}, 'The snapshot is there.'),
        restore: async ({ id, name }) => await ask(`Restore ${name || id}?`, 'The disk of the instance becomes what it was then. What it has written since is lost.', 'Restore')
            && doing('Restoring', 'POST', `${path}/${id}/restore`, undefined, 'The disk is what it was.'),
        remove: async ({ id, name }) => await ask(`Delete ${name || id}?`, 'Instances that were launched from it keep what they need.')
            && doing('Deleting the snapshot', 'DELETE', `${path}/${id}`, undefined, 'The snapshot is deleted.'),
        launch: ({ id, name }, wanted) => doing('Launching', 'POST', '/1.0/instances', { snapshot: id, ...(wanted ? { name: wanted } : {}) }, `An instance with the disk of ${name || id} runs.`),
    };
}

function columnsOf({ me, record, path, does, setDialog }) {
    const buttons = (snapshot) => snapshot.status === 'ready' && html`<div class="toolbar">
        <button class="small" onClick=${() => setDialog({ launch: snapshot })}>Launch …</button>
        ${takeable(record) && html`<button class="small" onClick=${() => does.restore(snapshot)}>Restore</button>`}
        <button class="small" onClick=${() => attempt(() => download(`${path}/${snapshot.id}/export`))}>Export</button>
        <button class="small danger" onClick=${() => does.remove(snapshot)}>Delete</button></div>`;
    return [
        { name: 'name', title: 'Name', value: ({ id, name }) => name || id, show: ({ id, name }) => html`<span><bdi>${name || id}</bdi></span>` },
        { name: 'status', title: 'Status', value: ({ status }) => status, show: ({ status }) => html`<${State} state=${status} />` },
        { name: 'created', title: 'Taken', value: (snapshot) => snapshot.created_at, show: (snapshot) => html`<${Ago} time=${snapshot.created_at} />` },
        { name: 'size', title: 'Size', value: ({ size }) => size, show: ({ size }) => bytes(size) },
        ...(me.may('operator') ? [{ name: 'does', title: '', show: buttons }] : []),
    ];
}

function Naming({ title, verb, onName, onClose }) {
    const submit = (event) => {
        event.preventDefault();
        const name = new FormData(event.target).get('name').trim();
        onClose();
        onName(name);
    };
    return html`<${Dialog} title=${title} onClose=${onClose}><form onSubmit=${submit}><${Field} label="Name" hint="Without one it is known by its id"><input name="name" minlength="3" maxlength="63" autocomplete="off" autofocus /><//>
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">${verb}</button></div></form><//>`;
}

export default function Snapshots({ me, record, begin }) {
    const path = `/1.0/instances/${record.id}/snapshots`;
    const { value: snapshots, error, reload } = useLoaded((signal) => list(path, { signal }), [path]);
    const [dialog, setDialog] = useState(null);
    useReloadOn('operation', reload, ({ metadata }) => JSON.stringify(metadata.resources ?? {}).includes('snapshots'));
    const does = acts({ path, begin, reload }), close = () => setDialog(null);
    const create = me.may('operator') && html`<button class="primary" disabled=${!takeable(record)} onClick=${() => setDialog({ create: true })}>Take a snapshot</button>`;
    if (error) return html`<${Failure} error=${error} again=${reload} />`;
    if (!snapshots) return html`<${Spinner} />`;
    const empty = html`<${Empty} title="No snapshots">A snapshot is a copy of the disk of a stopped instance: <code>svcctl stop ${record.id} && svcctl snapshot create ${record.id}</code>. <a href=${href('instances', record.id)}>State and actions</a><//>`;
    return html`<div class="stack">
        <div class="toolbar">${create}${me.may('operator') && !takeable(record) && html`<span class="hint">A snapshot is taken of a stopped instance; this one is ${record.status}.</span>`}</div>
        <${Table} columns=${columnsOf({ me, record, path, does, setDialog })} rows=${snapshots} keyOf=${({ id }) => id} label="Snapshots" empty=${empty} />
        ${dialog?.create && html`<${Naming} title="Take a snapshot" verb="Take it" onName=${does.create} onClose=${close} />`}
        ${dialog?.launch && html`<${Naming} title="Launch an instance with this disk" verb="Launch" onName=${(name) => does.launch(dialog.launch, name)} onClose=${close} />`}
    </div>`;
}
