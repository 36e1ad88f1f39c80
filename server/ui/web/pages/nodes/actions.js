// What can be done to a node.
import { call, run } from '../../api.js';
import { html, useState } from '../../html.js';
import { Failure, Field } from '../../ui/elements.js';
import { attempt, Dialog, say } from '../../ui/notice.js';

const urlOf = (node) => `/1.0/nodes/${encodeURIComponent(node.name)}`;
const fieldsOf = (form) => Object.fromEntries(new FormData(form));
export const tagsOf = (text) => text.split(',').map((tag) => tag.trim()).filter(Boolean);

export const setOpen = (node, open) => attempt(() => run('PATCH', urlOf(node), { unscheduable: !open }),
    open ? `Node ${node.name} takes new instances again.` : `Node ${node.name} is cordoned: it takes no new instances.`);

function Buttons({ onClose, busy, children, danger }) {
    return html`<div class="choices"><button type="button" onClick=${onClose}>Cancel</button>
        <button class=${danger ? 'danger-filled' : 'primary'} disabled=${busy}>${children}</button></div>`;
}

// A dialog with a form; `send(fields, form)` is tried when it is submitted, and closes the dialog when that has succeeded. An error
// is told in it: what is behind it cannot be reached.
export function FormDialog({ title, onClose, send, done, button, danger, children }) {
    const [busy, setBusy] = useState(false), [problem, setProblem] = useState(null);
    const submit = async (event) => {
        event.preventDefault();
        setBusy(true);
        try {
            await send(fieldsOf(event.target));
            say(done);
            onClose();
        } catch (error) {
            setProblem(error);
            setBusy(false);
        }
    };
    return html`<${Dialog} title=${title} onClose=${onClose}><form class="stack" onSubmit=${submit}>${children}
        ${problem && html`<${Failure} error=${problem} />`}
        <${Buttons} onClose=${onClose} busy=${busy} danger=${danger}>${button}<//></form><//>`;
}

const modes = {
    stop: 'Stop what runs. The disks stay, and the instances can be started when the node is uncordoned.',
    relaunch: 'Launch all of them anew on other nodes, with empty disks and new ports, then delete the old ones.',
    delete: 'Delete all of them.',
};

// The operation is shown on the node's page, where it can be cancelled.
export function EvacuateDialog({ node, onClose }) {
    const send = ({ mode }) => call('POST', `${urlOf(node)}/evacuate`, { mode });
    return html`<${FormDialog} title="Evacuate ${node.name}" onClose=${onClose} send=${send} done="The node is being evacuated." button="Evacuate" danger>
        <p>The node takes no new instances from now on, until it is uncordoned. What becomes of those that are on it?</p>
        <fieldset class="modes"><legend class="unseen">What becomes of the instances</legend>${Object.entries(modes).map(([mode, text]) => html`
            <label class="check" key=${mode}><input type="radio" name="mode" value=${mode} defaultChecked=${mode === 'stop'} /><span><strong>${mode}</strong><br /><span class="hint">${text}</span></span></label>`)}</fieldset>
    <//>`;
}

export function RemoveDialog({ node, onClose, onRemoved }) {
    const send = async ({ force, keep }) => {
        await run('DELETE', urlOf(node), { force: force === 'on', keep_in_cluster: keep === 'on' });
        onRemoved();
    };
    return html`<${FormDialog} title="Remove ${node.name}" onClose=${onClose} send=${send} done="Node ${node.name} is removed." button="Remove the node" danger>
        <p>A node is only removed when no instances are on it, unless these are deleted, too. A machine whose <code>svcd</code> goes on does not become a node again by itself.</p>
        <label class="check"><input type="checkbox" name="force" /> Delete the instances on it, without asking them to stop</label>
        <label class="check"><input type="checkbox" name="keep" /> Leave it in the cluster of the hypervisor</label>
    <//>`;
}

const texts = { public_address: 'Public address', memory: 'Memory' };
const numbers = { cpus: ['CPUs', '0: all'], cpu_allocation_rate: ['CPU allocation rate', 'how often each CPU is given away'],
    memory_allocation_rate: ['Memory allocation rate', 'likewise'], gpu_slots: ['GPU slots', ''], gpu_encoder_slots: ['GPU encoder slots', ''] };

// What is different from the record.
function changes(node, fields) {
    const body = {};
    for (const name of Object.keys(texts)) if (fields[name] !== node[name]) body[name] = fields[name];
    for (const name of Object.keys(numbers)) if (Number(fields[name]) !== node[name]) body[name] = Number(fields[name]);
    if (tagsOf(fields.tags).join() !== node.tags.join()) body.tags = tagsOf(fields.tags);
    return body;
}

export function SettingsDialog({ node, onClose }) {
    const send = async (fields) => {
        const body = changes(node, fields);
        if (Object.keys(body).length > 0) await run('PATCH', urlOf(node), body);
    };
    return html`<${FormDialog} title="Settings of ${node.name}" onClose=${onClose} send=${send} done="The settings are stored." button="Save">
        <div class="fields">
            ${Object.entries(texts).map(([name, label]) => html`<${Field} key=${name} label=${label} hint=${name === 'memory' ? 'such as 64GB; 0: all' : ''}><input name=${name} defaultValue=${node[name]} /><//>`)}
            ${Object.entries(numbers).map(([name, [label, hint]]) => html`<${Field} key=${name} label=${label} hint=${hint}><input type="number" step="any" min="0" name=${name} defaultValue=${node[name]} required /><//>`)}
        </div>
        <${Field} label="Tags" hint="separated by commas"><input name="tags" defaultValue=${node.tags.join(', ')} /><//>
        <p class="hint">A number below what is in use keeps new instances away and leaves the others alone.</p>
    <//>`;
}

const additions = { trust_password: 'Trust password', trust_token: 'Trust token', storage_pool: 'Storage pool', storage_device: 'Storage device' };

export function AddDialog({ onClose }) {
    const send = ({ unmanaged, tags, ...fields }) => {
        const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
        return call('POST', '/1.0/nodes', { ...body, tags: tagsOf(tags), unmanaged: unmanaged === 'on' });
    };
    return html`<${FormDialog} title="Add a node" onClose=${onClose} send=${send} done="The node is being added. It is there when its machine has come." button="Add">
        <p>With several managers each machine becomes a node by itself. Add one that was removed, or that is yet to come.</p>
        <div class="fields"><${Field} label="Name" hint="that of its manager"><input name="name" required /><//><${Field} label="Address"><input name="address" required /><//></div>
        <details><summary>More</summary><div class="fields">
            ${Object.entries(additions).map(([name, label]) => html`<${Field} key=${name} label=${label}><input name=${name} type=${name === 'trust_password' ? 'password' : 'text'} autocomplete="off" /><//>`)}
            <${Field} label="Tags" hint="separated by commas"><input name="tags" /><//></div>
            <label class="check"><input type="checkbox" name="unmanaged" /> It is in the hypervisor's cluster already</label></details>
    <//>`;
}
