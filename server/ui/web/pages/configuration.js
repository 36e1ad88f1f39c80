// The configuration of the cluster: each item with its meaning, edited as its type says.
import { html, useState } from '../html.js';
import { get } from '../api.js';
import { setQuery } from '../router.js';
import { Failure, Page, Spinner } from '../ui/elements.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';
import { Item } from './configuration/item.js';

async function load(signal) {
    const [{ config }, schema] = await Promise.all([get('/1.0/config', { signal }), get('/1.0/config/schema', { signal })]);
    return { values: config, schema };
}

const names = {
    application: 'Applications', console: 'Console', container: 'Instances', core: 'The service', cpu: 'CPUs', gpu: 'GPUs', images: 'Image server', load_balancer: 'Load balancer',
    oidc: 'Login by a provider', registry: 'Application registry', scheduler: 'Scheduler', sessions: 'Sessions of browsers',
};
const prefixOf = ({ name }) => name.split('.')[0];

function groupsOf(items) {
    const groups = new Map();
    for (const item of items) groups.set(prefixOf(item), [...(groups.get(prefixOf(item)) ?? []), item]);
    return [...groups];
}

const isSet = ({ name, default: initial, secret }, values) => (secret ? values[name] === true : String(values[name]) !== initial);

function Items({ me, state, wanted, changed }) {
    const { values, schema } = state.value;
    const text = wanted.trim().toLowerCase();
    const shown = schema.filter((item) => (!text || `${item.name} ${item.meaning}`.toLowerCase().includes(text)) && (!changed || isSet(item, values)));
    if (shown.length === 0) return html`<p class="hint">No item matches.</p>`;
    return groupsOf(shown).map(([prefix, items]) => html`<section class="card stack" key=${prefix} aria-label=${names[prefix] ?? prefix}><h2>${names[prefix] ?? prefix}</h2>
        ${items.map((item) => html`<${Item} key=${item.name} item=${item} value=${values[item.name]} set=${isSet(item, values)} may=${me.may('admin')} onChanged=${state.reload} />`)}</section>`);
}

export default function Configuration({ me, place }) {
    const state = useLoaded(load);
    useReloadOn('operation', state.reload, ({ metadata }) => metadata.description === 'Applying configuration');
    const [wanted, setWanted] = useState(place.query.get('filter') ?? '');
    const [changed, setChanged] = useState(false);
    const filter = ({ target }) => {
        setWanted(target.value);
        setQuery({ filter: target.value });
    };
    return html`<${Page} title="Configuration">
        <div class="actions">
            <input type="search" class="filter" aria-label="Filter the configuration" placeholder="Filter the configuration" value=${wanted} onInput=${filter} />
            <label class="check"><input type="checkbox" checked=${changed} onChange=${() => setChanged(!changed)} /> Only what differs from the default</label>
        </div>
        ${state.error ? html`<${Failure} error=${state.error} again=${state.reload} />` : !state.value ? html`<${Spinner} />` : html`<${Items} ...${{ me, state, wanted, changed }} />`}
        <p class="hint">${me.may('admin') ? html`A change is effective at once. <code>svcctl config set NAME VALUE</code> does the same.` : 'Only admins change the configuration.'}</p>
    <//>`;
}
