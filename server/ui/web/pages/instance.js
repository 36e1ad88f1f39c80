// One instance: what it is, and the tabs of what can be done with it.
import { get } from '../api.js';
import { stateOf } from '../fleet_row.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { href } from '../router.js';
import { Failure, Page, Spinner, State } from '../ui/elements.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';
import { useWork, Work } from '../ui/work.js';
import { Actions } from './instance/actions.js';

// `role`: the least that may use the tab.
const tabs = [
    { name: 'summary', title: 'Summary', load: () => import('./instance/summary.js') },
    { name: 'terminal', title: 'Terminal', role: 'operator', load: () => import('./instance/terminal.js') },
    { name: 'logs', title: 'Logs', load: () => import('./instance/logs.js') },
    { name: 'files', title: 'Files', role: 'operator', load: () => import('./instance/files.js') },
    { name: 'snapshots', title: 'Snapshots', load: () => import('./instance/snapshots.js') },
    { name: 'injection', title: 'Injection', role: 'operator', load: () => import('./instance/injection.js') },
    { name: 'screen', title: 'Screen', role: 'operator', load: () => import('./instance/screen.js') },
];

export const titleOf = (record) => record.name || record.id;

function Tabs({ me, id, current }) {
    return html`<nav class="tabs" aria-label="Of this instance">${tabs.filter(({ role }) => !role || me.may(role)).map(({ name, title }) => html`
        <a key=${name} href=${href('instances', id, name)} aria-current=${name === current ? 'page' : undefined}>${title}</a>`)}</nav>`;
}

// The tab's module, loaded when it is opened.
function Tab({ name, ...rest }) {
    const [state, setState] = useState({});
    useEffect(() => {
        let current = true;
        tabs.find((tab) => tab.name === name).load().then((module) => current && setState({ name, View: module.default }),
            (error) => current && setState({ name, error }));
        return () => { current = false; };
    }, [name]);
    if (state.name !== name) return html`<${Spinner} />`;
    return state.error ? html`<${Failure} error=${state.error} />` : html`<${state.View} ...${rest} />`;
}

const concerns = ({ status_code: code, resources }, concerned) => code >= 200 && Object.values(resources ?? {}).flat().some(concerned);

// The record of an id or a name; the listeners outlive a render. It stays while the address changes from its name to its id.
function useRecord(wanted) {
    const { value, error, reload } = useLoaded((signal) => get(`/1.0/instances/${encodeURIComponent(wanted)}`, { signal }), [wanted]);
    const known = useRef();
    if (value) known.current = value;
    const record = value ?? ([known.current?.id, known.current?.name].includes(wanted) ? known.current : undefined);
    const concerned = (url) => url.endsWith(`/${known.current?.id}`);
    useReloadOn('lifecycle', reload, ({ metadata }) => concerned(metadata.source));
    useReloadOn('operation', reload, ({ metadata }) => concerns(metadata, concerned));  // protection has no event of its own
    return { record, error, reload };
}

export default function Instance({ me, place }) {
    const { record, error, reload } = useRecord(place.parts[1]);
    useEffect(() => { if (record) document.title = `${titleOf(record)} – Instances`; }, [record?.name, record?.id]);
    if (record) return html`<${One} key=${record.id} ...${{ me, place, record, error, reload }} />`;
    return html`<${Page} title="Instance">${error ? html`<${Failure} error=${error} again=${reload} />` : html`<${Spinner} />`}<//>`;
}

// What is begun here belongs to this one instance, whatever its tabs.
function One({ me, place, record, error, reload }) {
    const [, , tab = 'summary', ...deeper] = place.parts;
    const { work, begin } = useWork(), { id } = record, gone = error?.status === 404;
    const chosen = tabs.find(({ name, role }) => name === tab && (!role || me.may(role)));
    const title = html`<bdi>${titleOf(record)}</bdi> ${!gone && html`<${State} state=${stateOf(record)} />`}`;
    return html`<section class="page instance" aria-label=${titleOf(record)}>
        <header class="page-head"><h1 tabindex="-1">${title}</h1><div class="actions">${!gone && html`<${Actions} ...${{ me, record, begin, reload, busy: Boolean(work) }} />`}</div></header>
        <${Work} work=${work} />
        ${error && html`<${Failure} error=${error} again=${reload} />`}
        ${!gone && html`<${Tabs} me=${me} id=${id} current=${tab} />`}
        ${gone ? html`<p><a href=${href('instances')}>All instances</a></p>` : chosen ? html`<${Tab} key=${`${id} ${tab}`} name=${tab} ...${{ me, record, reload, begin, deeper, state: stateOf(record) }} />`
            : html`<${Failure} error=${{ message: `There is no tab “${tab}” that you may use.` }} />`}
    </section>`;
}
