// Applications: what there is, one of them, one of its versions; and the registry, where there is one.
import { html, useState } from '../html.js';
import { get, list } from '../api.js';
import { go, href } from '../router.js';
import { Ago, Page, State } from '../ui/elements.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';
import { say } from '../ui/notice.js';
import { Table } from '../ui/table.js';
import { Application } from './applications/application.js';
import { Registry } from './applications/registry.js';
import { Version } from './applications/version.js';
import { dash, Loaded, NoPackages, Tags, useOperationsOn } from './packages/parts.js';
import { packageEndings, UploadDialog } from './packages/upload_dialog.js';

const published = ({ versions }) => versions.filter((version) => version.published).map(({ number }) => number).join(', ');
const columns = [
    { name: 'name', title: 'Name', value: ({ name }) => name, show: ({ id, name }) => html`<a href=${href('applications', id)}><bdi>${name}</bdi></a>` },
    { name: 'status', short: true, title: 'Status', value: ({ status }) => status, show: ({ status }) => html`<${State} state=${status} />` },
    { name: 'versions', title: 'Versions', value: ({ versions }) => versions.length },
    { name: 'published', short: true, title: 'Published', value: published, show: (row) => dash(published(row)) },
    { name: 'type', short: true, title: 'Type', value: ({ instance_type }) => instance_type },
    { name: 'abi', short: true, title: 'ABI', value: ({ abi }) => abi, show: ({ abi }) => dash(abi) },
    { name: 'addons', title: 'Addons', value: ({ addons }) => addons.join(' '), show: ({ addons }) => html`<${Tags} values=${addons} />` },
    { name: 'tags', title: 'Tags', value: ({ tags }) => (tags ?? []).join(' '), show: ({ tags }) => html`<${Tags} values=${tags} />` },
    { name: 'created', short: true, title: 'Created', value: ({ created_at }) => created_at, show: ({ created_at }) => html`<${Ago} time=${created_at} />` },
];
const withLaunch = [...columns, { name: 'launch', title: 'Launch', show: ({ id, name, published: ready }) => (ready
    ? html`<a class="button small" aria-label="Launch ${name}" href="${href('instances', 'launch')}?application=${id}">Launch</a>` : '–') }];

function Create({ onClose }) {
    const done = ({ resources }) => {
        say('The package is stored. The first version is being made.');
        go('applications', resources.applications[0].split('/').pop());
    };
    return html`<${UploadDialog} title="New application" folders accept=${packageEndings} action="Create" onClose=${onClose} onDone=${done}
        request=${() => ({ method: 'POST', path: '/1.0/applications' })}>
        <p class="hint">A package is a folder with <code>manifest.yaml</code>, and <code>app.apk</code>, <code>hooks/</code> and other files where they are needed. The name is that of the manifest.</p>
    <//>`;
}

function Tabs({ current }) {
    const { value } = useLoaded((signal) => get('/1.0/config', { signal }));
    if (!value?.config['registry.url']) return null;
    const tab = (name, title, address) => html`<a href=${address} aria-current=${name === current ? 'page' : undefined}>${title}</a>`;
    return html`<nav class="tabs" aria-label="Where from">${tab('here', 'Applications', href('applications'))}${tab('registry', 'Registry', `${href('applications')}?tab=registry`)}</nav>`;
}

function Applications({ me }) {
    const state = useLoaded((signal, onPage) => list('/1.0/applications', { signal, onPage }));
    useOperationsOn('applications', state.reload);
    useReloadOn('lifecycle', state.reload, ({ metadata }) => metadata.action === 'container-failed');
    const [creating, setCreating] = useState(false);
    const create = me.may('admin') && html`<button class="primary" onClick=${() => setCreating(true)}>New application</button>`;
    return html`<${Page} title="Applications" actions=${create}>
        <${Tabs} current="here" />
        <${Loaded} ...${state}>${(rows) => html`<${Table} label="Applications" filter="Filter applications" columns=${me.may('operator') ? withLaunch : columns} rows=${rows} keyOf=${({ id }) => id}
            empty=${html`<${NoPackages} title="There are no applications yet" button=${create} command="svcctl application create ./my-app">
                An application is a package with a manifest that is installed once; instances start from the result.<//>`} />`}<//>
        ${creating && html`<${Create} onClose=${() => setCreating(false)} />`}
    <//>`;
}

export default function Chosen({ me, place }) {
    const [, id, number] = place.parts;
    if (number !== undefined) return html`<${Version} key=${`${id}/${number}`} ...${{ me, id, number: Number(number) }} />`;
    if (id !== undefined) return html`<${Application} key=${id} ...${{ me, id }} />`;
    return place.query.get('tab') === 'registry' ? html`<${Registry} me=${me} tabs=${html`<${Tabs} current="registry" />`} />` : html`<${Applications} me=${me} />`;
}
