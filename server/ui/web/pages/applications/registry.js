// The applications of the registry: what is there, and what may be brought here or sent there.
import { html } from '../../html.js';
import { get, list } from '../../api.js';
import { href } from '../../router.js';
import { Empty, Page } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { Table } from '../../ui/table.js';
import { act, dash, Loaded, removeAsked, Tags, useOperationsOn } from '../packages/parts.js';

const address = (name, verb) => `/1.0/registry/applications/${encodeURIComponent(name)}${verb ? `/${verb}` : ''}`;
const versionsOf = ({ versions }) => Object.keys(versions ?? {}).join(', ');

// One row an application, whether it is here, there, or both.
async function load(signal) {
    const [there, here, { config }] = await Promise.all([
        get('/1.0/registry/applications?recursion=1', { signal }), list('/1.0/applications', { signal }), get('/1.0/config', { signal })]);
    const mine = new Map(here.map((application) => [application.name, application]));
    const rows = there.map((record) => ({ ...record, there: true, mine: mine.get(record.name) }));
    const only = here.filter(({ name }) => !there.some((record) => record.name === name)).map((application) => ({ ...application, versions: {}, mine: application }));
    return { rows: [...rows, ...only], mode: config['registry.mode'], url: config['registry.url'] };
}

function Buttons({ row, mode, reload }) {
    const { name, there, mine } = row;
    const then = async (work) => (await work) && reload();
    return html`<span class="actions">
        ${there && mode !== 'push' && html`<button class="small" aria-label="Pull ${name}" onClick=${() => then(act('POST', address(name, 'pull'), {}, `${name} is fetched`))}>Pull</button>`}
        ${mine && !mine.immutable && mode !== 'pull' && html`<button class="small" aria-label="Push ${name}" onClick=${() => then(act('POST', address(mine.id, 'push'), {}, `${name} is sent`))}>Push</button>`}
        ${there && mode !== 'pull' && html`<button class="small danger" aria-label="Delete ${name} in the registry"
            onClick=${() => then(removeAsked('Delete it in the registry?', `“${name}” is removed from the registry. Services that have it from there remove it, too.`, address(name), undefined, `${name} is deleted in the registry`))}>Delete</button>`}
    </span>`;
}

const columns = [
    { name: 'name', title: 'Name', value: ({ name }) => name, show: ({ name, mine }) => (mine ? html`<a href=${href('applications', mine.id)}><bdi>${name}</bdi></a>` : html`<bdi>${name}</bdi>`) },
    { name: 'there', title: 'In the registry', value: versionsOf, show: (row) => dash(versionsOf(row)) },
    { name: 'here', title: 'Here', value: ({ mine }) => (mine ? mine.versions.map(({ number }) => number).join(', ') : ''), show: ({ mine }) => dash(mine?.versions.map(({ number }) => number).join(', ')) },
    { name: 'architectures', title: 'Architectures', value: ({ architectures }) => (architectures ?? []).join(', '), show: ({ architectures }) => dash(architectures?.join(', ')) },
    { name: 'tags', title: 'Tags', value: ({ tags }) => (tags ?? []).join(' '), show: ({ tags }) => html`<${Tags} values=${tags} />` },
];

export function Registry({ me, tabs }) {
    const state = useLoaded(load);
    useOperationsOn('applications', state.reload);
    const all = (mode) => (me.may('admin') ? [...columns, { name: 'actions', title: 'Actions', show: (row) => html`<${Buttons} ...${{ row, mode, reload: state.reload }} />` }] : columns);
    return html`<${Page} title="Applications">
        ${tabs}
        <${Loaded} ...${state}>${({ rows, mode, url }) => html`<p class="hint">${url}, mode <code>${mode}</code></p>
            <${Table} label="Registry" filter="Filter the registry" columns=${all(mode)} rows=${rows} keyOf=${({ name }) => name}
                empty=${html`<${Empty} title="The registry is empty">A published version is sent there in the mode push, or with <code>svcctl registry push my-app</code>.<//>`} />`}<//>
    <//>`;
}
