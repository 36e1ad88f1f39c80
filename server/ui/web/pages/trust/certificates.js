// Certificates that the service trusts.
import { html, useRef, useState } from '../../html.js';
import { list, post } from '../../api.js';
import { Empty, Failure, Field } from '../../ui/elements.js';
import { moment } from '../../ui/format.js';
import { useLoaded } from '../../ui/loaded.js';
import { ask, Dialog, say } from '../../ui/notice.js';
import { Table } from '../../ui/table.js';
import { act, dash, Loaded, removeAsked, useOperationsOn } from '../packages/parts.js';
import { hasRoles, RoleField, RoleOptions } from './roles.js';
import { derOf, readCertificate } from './x509.js';

const load = async (signal) => (await list('/1.0/certificates', { signal })).map((record) => ({ role: 'admin', ...record, ...readCertificate(record.certificate) }));
const expired = ({ until }) => until > 0 && until * 1000 < Date.now();
const shortly = (fingerprint) => fingerprint.slice(0, 12);
const path = ({ fingerprint }) => `/1.0/certificates/${fingerprint}`;

const columns = [
    { name: 'name', title: 'Name', value: ({ name }) => name, show: ({ name }) => html`<bdi>${dash(name)}</bdi>` },
    { name: 'fingerprint', short: true, title: 'Fingerprint', value: ({ fingerprint }) => fingerprint, show: ({ fingerprint }) => html`<code title=${fingerprint}>${shortly(fingerprint)}</code>` },
    { name: 'from', short: true, title: 'Valid from', value: ({ from }) => from, show: ({ from }) => moment(from) },
    { name: 'until', title: 'Until', value: ({ until }) => until, show: (row) => html`<span class="named">${moment(row.until)} ${expired(row) && html`<span class="state bad">expired</span>`}</span>` },
];

function Role({ me, row, reload }) {
    const change = async ({ target }) => {
        const name = row.name || shortly(row.fingerprint), role = target.value;
        if (await ask('Change the role?', `${name} is ${role} then, and no longer ${row.role}.`, 'Change')) await act('PATCH', path(row), { role }, `${name} is ${role} now`);
        else target.value = row.role;
        reload();
    };
    return me.may('admin') && hasRoles(me) ? html`<select aria-label="Role of ${row.name || shortly(row.fingerprint)}" value=${row.role} onChange=${change}><${RoleOptions} me=${me} chosen=${row.role} /></select>` : row.role;
}

function Add({ me, onClose, onDone }) {
    const [problem, setProblem] = useState(null);
    const area = useRef();
    const take = async (file) => {
        const bytes = new Uint8Array(await file.arrayBuffer());
        area.current.value = bytes[0] === 0x30 ? btoa(String.fromCharCode(...bytes)) : new TextDecoder().decode(bytes);
    };
    const drop = (event) => {
        event.preventDefault();
        if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]).catch(setProblem);
    };
    const submit = async (event) => {
        event.preventDefault();
        const form = new FormData(event.target), text = form.get('certificate').trim(), { name } = readCertificate(text);
        try {
            derOf(text);
        } catch {
            return setProblem({ message: 'This is no certificate: it has to be PEM text, or a file of one' });
        }
        try {
            await post('/1.0/certificates', { certificate: text, ...(form.has('role') ? { role: form.get('role') } : {}) });
        } catch (error) {
            return setProblem(error);
        }
        say(`${name || 'The certificate'} is trusted`);
        onDone();
        return onClose();
    };
    return html`<${Dialog} title="Add a certificate" onClose=${onClose}><form class="stack" onSubmit=${submit} onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
        <${Field} label="Certificate" hint="PEM text; or drop a file here, or choose one"><textarea name="certificate" ref=${area} required rows="8" class="pem" spellcheck=${false} placeholder="-----BEGIN CERTIFICATE-----"></textarea><//>
        <${Field} label="File"><input type="file" accept=".pem,.crt,.cer,.der" onChange=${({ target }) => target.files[0] && take(target.files[0]).catch(setProblem)} /><//>
        <${RoleField} me=${me} chosen="operator" />
        ${problem && html`<${Failure} error=${problem} />`}
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Trust it</button></div>
    </form><//>`;
}

export function Certificates({ me }) {
    const state = useLoaded(load);
    useOperationsOn('certificates', state.reload);
    const [adding, setAdding] = useState(false);
    const remove = async (row) => {
        const text = `${row.name || 'The certificate'} (${shortly(row.fingerprint)}) is not trusted any more. Its connections end.`;
        if (await removeAsked('Remove the certificate?', text, path(row), undefined, 'The certificate is not trusted any more', 'Remove')) state.reload();
    };
    const all = [...columns, ...(hasRoles(me) ? [{ name: 'role', title: 'Role', value: ({ role }) => role, show: (row) => html`<${Role} ...${{ me, row, reload: state.reload }} />` }] : []),
        ...(me.may('admin') ? [{ name: 'actions', title: 'Actions', show: (row) => html`<button class="small danger" aria-label="Remove ${row.name || shortly(row.fingerprint)}" onClick=${() => remove(row)}>Remove</button>` }] : [])];
    const add = me.may('admin') && html`<div class="actions"><button class="primary" onClick=${() => setAdding(true)}>Add a certificate</button></div>`;
    return html`${add}
        <${Loaded} ...${state}>${(rows) => html`<${Table} label="Certificates" filter="Filter certificates" columns=${all} rows=${rows} keyOf=${({ fingerprint }) => fingerprint}
            empty=${html`<${Empty} title="No certificate is trusted yet">Clients in the network log in with a certificate. <code>svcctl trust add client.crt</code> adds one; an invitation lets a client add its own.<//>`} />`}<//>
        ${adding && html`<${Add} me=${me} onClose=${() => setAdding(false)} onDone=${state.reload} />`}`;
}
