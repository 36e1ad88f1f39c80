// Browsers that are logged in, and links with which others log in.
import { html, useState } from '../../html.js';
import { get, post } from '../../api.js';
import { Ago, Empty, Failure, Field } from '../../ui/elements.js';
import { moment } from '../../ui/format.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';
import { Dialog } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { Loaded, removeAsked } from '../packages/parts.js';
import { RoleField } from './roles.js';
import { ShownOnce } from './shown_once.js';

const columns = [
    { name: 'name', title: 'Name', value: ({ name }) => name, show: ({ name, current }) => html`<span class="named"><bdi>${name}</bdi>${current && html`<span class="state good">this one</span>`}</span>` },
    { name: 'role', title: 'Role', value: ({ role }) => role },
    { name: 'method', title: 'By', value: ({ method }) => ({ oidc: 'provider' }[method] ?? method) },
    { name: 'address', short: true, title: 'Address', value: ({ address }) => address },
    { name: 'agent', title: 'Browser', value: ({ user_agent }) => user_agent, show: ({ user_agent }) => html`<bdi class="agent" title=${user_agent}>${user_agent}</bdi>` },
    { name: 'created', short: true, title: 'Since', value: ({ created_at }) => created_at, show: ({ created_at }) => html`<${Ago} time=${created_at} />` },
    { name: 'used', short: true, title: 'Last use', value: ({ used_at }) => used_at, show: ({ used_at }) => html`<${Ago} time=${used_at} />` },
    { name: 'expires', short: true, title: 'Ends', value: ({ expires_at }) => expires_at, show: ({ expires_at }) => moment(expires_at) },
];

function MakeLink({ me, onClose, onMade }) {
    const [problem, setProblem] = useState(null);
    const submit = async (event) => {
        event.preventDefault();
        const form = Object.fromEntries(new FormData(event.target));
        if (!form.name) delete form.name;
        try {
            onMade(await post('/1.0/sessions/links', form));
        } catch (error) {
            setProblem(error);
        }
    };
    return html`<${Dialog} title="Make a login link" onClose=${onClose}><form class="stack" onSubmit=${submit}>
        ${me.may('admin') && html`<${Field} label="Who it is for" hint="empty: you"><input name="name" autocomplete="off" /><//>`}
        <${RoleField} me=${me} chosen="viewer" />
        ${problem && html`<${Failure} error=${problem} />`}
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Make the link</button></div>
    </form><//>`;
}

// The link leads to where this page is: another address of the service may not be reachable from here.
const linkOf = ({ secret }) => `${location.origin}/ui/#login=${secret}`;

export function Sessions({ me }) {
    const state = useLoaded((signal) => get('/1.0/sessions', { signal }));
    useReloadOn('gap', state.reload);  // no event tells of sessions
    const [making, setMaking] = useState(false);
    const [made, setMade] = useState(null);
    const show = (link) => {
        setMaking(false);
        setMade(link);
    };
    const end = async ({ id, name, current }) => {
        const text = current ? 'You are logged out.' : `“${name}” is logged out, and what its page has open ends.`;
        if (await removeAsked('End the session?', text, `/1.0/sessions/${id}`, undefined, 'The session has ended', 'End the session')) state.reload();
    };
    const all = [...columns, { name: 'actions', title: 'Actions', show: (row) => html`<button class="small danger" aria-label="End the session of ${row.name}" onClick=${() => end(row)}>End</button>` }];
    return html`<div class="actions"><button class="primary" onClick=${() => setMaking(true)}>Make a login link</button><button onClick=${state.reload}>Look again</button></div>
        <${Loaded} ...${state}>${(rows) => html`<${Table} label="Sessions" columns=${all} rows=${rows} keyOf=${({ id }) => id}
            empty=${html`<${Empty} title="No browser is logged in">A login link opens the console in another browser, as <code>svcctl ui --print</code> does.<//>`} />`}<//>
        ${making && html`<${MakeLink} me=${me} onClose=${() => setMaking(false)} onMade=${show} />`}
        ${made && html`<${ShownOnce} title="Login link" text=${linkOf(made)} until=${made.expires_at} onClose=${() => setMade(null)}>Open it in the browser that is to be logged in.<//>`}`;
}
