// Invitations: each lets one client add its certificate, once.
import { html, useState } from '../../html.js';
import { get, post } from '../../api.js';
import { Ago, Empty, Failure, Field } from '../../ui/elements.js';
import { moment } from '../../ui/format.js';
import { useLoaded } from '../../ui/loaded.js';
import { Dialog } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { dash, Loaded, removeAsked, useOperationsOn } from '../packages/parts.js';
import { hasRoles, RoleField } from './roles.js';
import { ShownOnce } from './shown_once.js';

const columns = [
    { name: 'name', title: 'For', value: ({ name }) => name, show: ({ name }) => html`<bdi>${name}</bdi>` },
    { name: 'created', short: true, title: 'Made', value: ({ created_at }) => created_at, show: ({ created_at }) => html`<${Ago} time=${created_at} />` },
    { name: 'expires', short: true, title: 'Good until', value: ({ expires_at }) => expires_at, show: ({ expires_at }) => moment(expires_at) },
];
const roleColumn = { name: 'role', title: 'Role', value: ({ role }) => role, show: ({ role }) => dash(role) };

function Invite({ me, onClose, onMade }) {
    const [problem, setProblem] = useState(null);
    const submit = async (event) => {
        event.preventDefault();
        try {
            onMade(await post('/1.0/certificates/tokens', Object.fromEntries(new FormData(event.target))));
        } catch (error) {
            setProblem(error);
        }
    };
    return html`<${Dialog} title="Invite a client" onClose=${onClose}><form class="stack" onSubmit=${submit}>
        <${Field} label="Who it is for"><input name="name" required autocomplete="off" /><//>
        <${Field} label="How long it is good" hint="a duration like 30m or 24h"><input name="expiry" required defaultValue="24h" autocomplete="off" /><//>
        <${RoleField} me=${me} chosen="operator" />
        ${problem && html`<${Failure} error=${problem} />`}
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Invite</button></div>
    </form><//>`;
}

export function Invitations({ me }) {
    const state = useLoaded((signal) => get('/1.0/certificates/tokens?recursion=1', { signal }));
    useOperationsOn('certificates', state.reload);
    const [inviting, setInviting] = useState(false);
    const [made, setMade] = useState(null);
    const show = (token) => {
        setInviting(false);
        setMade(token);
        state.reload();
    };
    const revoke = async ({ id, name }) => {
        if (await removeAsked('Take the invitation back?', `The invitation for “${name}” is not good any more.`, `/1.0/certificates/tokens/${id}`, undefined, 'The invitation is taken back', 'Revoke')) state.reload();
    };
    const button = me.may('admin') && html`<button class="primary" onClick=${() => setInviting(true)}>Invite a client</button>`;
    const all = [...columns, ...(hasRoles(me) ? [roleColumn] : []),
        ...(me.may('admin') ? [{ name: 'actions', title: 'Actions', show: (row) => html`<button class="small danger" aria-label="Revoke the invitation for ${row.name}" onClick=${() => revoke(row)}>Revoke</button>` }] : [])];
    return html`${button && html`<div class="actions">${button}</div>`}
        <${Loaded} ...${state}>${(rows) => html`<${Table} label="Invitations" columns=${all} rows=${rows} keyOf=${({ id }) => id}
            empty=${html`<${Empty} title="There are no invitations">An invitation lets one client add its certificate: <code>svcctl trust token laptop</code> makes one, <code>svcctl remote add office https://HOST:PORT --token TEXT</code> uses it.<//>`} />`}<//>
        ${inviting && html`<${Invite} me=${me} onClose=${() => setInviting(false)} onMade=${show} />`}
        ${made && html`<${ShownOnce} title="Invitation for ${made.name}" text=${made.token} until=${made.expires_at} onClose=${() => setMade(null)}>The client uses it with <code>svcctl remote add NAME ${location.origin} --token TEXT</code>.<//>`}`;
}
