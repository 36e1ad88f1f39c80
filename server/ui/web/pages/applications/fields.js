// The form of an application's fields. What has been changed is sent, and refused when somebody else was faster.
import { html, useState } from '../../html.js';
import { get, getTagged, run } from '../../api.js';
import { Failure, Field, Spinner } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { Dialog, say } from '../../ui/notice.js';

const newest = ({ versions }) => versions.at(-1) ?? {};
const words = (text) => text.split(',').map((word) => word.trim()).filter(Boolean);
const list = { show: (value) => (value ?? []).join(', '), read: words };
const plain = { show: (value) => value ?? '', read: (text) => text };
const number = { show: (value) => (value === undefined || value < 0 ? '' : String(value)), read: Number };
const yes = { show: (value) => (value ? 'true' : 'false'), read: (text) => text === 'true', choices: ['false', 'true'] };

// Name in the API, with its group; label; kind; where its value is.
const ofApplication = [
    ['image', 'Image', plain, (application) => application.image_name],
    ['instance-type', 'Instance type', plain, ({ instance_type }) => instance_type],
    ['tags', 'Tags', list, ({ tags }) => tags],
    ['addons', 'Addons', list, ({ addons }) => addons],
    ['node_selector', 'Tags that a node must have', list, ({ node_selector }) => node_selector],
    ['resources.cpus', 'CPUs', number, ({ resources }) => resources?.cpus],
    ['resources.memory', 'Memory', plain, ({ resources }) => resources?.memory],
    ['resources.disk-size', 'Disk', plain, ({ resources }) => resources?.['disk-size']],
    ['resources.gpu-slots', 'GPU slots', number, ({ resources }) => resources?.['gpu-slots']],
    ['pool.min', 'Booted instances that wait', number, ({ pool }) => pool?.min],
    ['pool.max', 'At most, while launches come', number, ({ pool }) => pool?.max],
    ['pool.late_data', 'Name and user data may come late', yes, ({ pool }) => pool?.late_data],
    ['inhibit_auto_updates', 'Automatic updates are off', yes, ({ inhibit_auto_updates }) => inhibit_auto_updates],
];
const ofVersion = [
    ['manifest_version', 'Manifest version', plain, (application) => newest(application).manifest_version],
    ['boot_activity', 'Activity', plain, (application) => newest(application).boot_activity],
    ['boot', 'Command that starts it', plain, (application) => newest(application).boot],
    ['required_permissions', 'Permissions', list, (application) => newest(application).required_permissions],
    ['features', 'Features', list, (application) => newest(application).features],
    ['video_encoder', 'Video encoder', { ...plain, choices: ['gpu', 'gpu-preferred', 'software'] }, (application) => newest(application).video_encoder],
    ['hooks.timeout', 'Hooks may take', plain, (application) => newest(application).hooks?.timeout],
    ['bootstrap.keep', 'Kept by the bootstrap', list, (application) => newest(application).bootstrap?.keep],
    ['watchdog.disabled', 'Watchdog is off', yes, (application) => newest(application).watchdog?.disabled],
    ['watchdog.allowed-packages', 'Packages that may come to the front', list, (application) => newest(application).watchdog?.['allowed-packages']],
    ['watchdog.command', 'Command of the watchdog', plain, (application) => newest(application).watchdog?.command],
];

// All settings of the watchdog, and of the pool, are replaced at once, so the others are sent unchanged.
const whole = { watchdog: (application) => newest(application).watchdog, pool: ({ pool }) => pool };
function addTo(body, name, value, application) {
    const [group, key] = name.split('.');
    if (!key) body[group] = value;
    else (body[group] ??= { ...whole[group]?.(application) })[key] = value;
}

function changes(form, application) {
    const body = {};
    for (const [name, , kind, from] of [...ofApplication, ...ofVersion]) {
        const written = String(form.get(name)).trim();
        if (written !== kind.show(from(application))) addTo(body, name, kind.read(written), application);
    }
    return body;
}

const Input = ({ row: [name, label, kind, from], application }) => html`<${Field} label=${label} hint=${kind === list ? 'with commas between' : ''}>
    ${kind.choices ? html`<select name=${name}>${kind.choices.map((choice) => html`<option value=${choice} selected=${choice === kind.show(from(application))}>${{ true: 'yes', false: 'no' }[choice] ?? choice}</option>`)}</select>`
        : html`<input name=${name} defaultValue=${kind.show(from(application))} inputmode=${kind === number ? 'decimal' : undefined} autocomplete="off" />`}<//>`;

async function load(id, signal) {
    const { value, etag } = await getTagged(`/1.0/applications/${id}`, { signal });
    const image = await get(`/1.0/images/${value.parent_image_id}`, { signal }).catch(() => undefined);
    return { application: { ...value, image_name: image?.name ?? value.parent_image_id }, etag };
}

function Form({ id, application, etag, onClose, onDone }) {
    const [state, setState] = useState({});
    const submit = async (event) => {
        event.preventDefault();
        const body = changes(new FormData(event.target), application);
        if (Object.keys(body).length === 0) return onClose();
        setState({ busy: true });
        try {
            await run('PATCH', `/1.0/applications/${id}`, body, { headers: { 'If-Match': etag } });
        } catch (error) {
            const message = error.status === 412 ? 'Somebody else has changed the application meanwhile. Close this window and begin again.' : error.message;
            return setState({ error: { message } });
        }
        say(`${application.name} is changed`);
        onDone();
        return onClose();
    };
    const inputs = (rows) => html`<div class="fields">${rows.map((row) => html`<${Input} key=${row[0]} ...${{ row, application }} />`)}</div>`;
    return html`<form class="stack" onSubmit=${submit}>
        ${inputs(ofApplication)}
        <h3>Of the version</h3><p class="hint">A change of these makes a new version.</p>
        ${inputs(ofVersion)}
        ${state.error && html`<${Failure} error=${state.error} />`}
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary" disabled=${state.busy}>Save</button></div>
    </form>`;
}

export function Fields({ id, onClose, onDone }) {
    const { value, error } = useLoaded((signal) => load(id, signal), [id]);
    return html`<${Dialog} title="Edit the application" onClose=${onClose}>
        ${error ? html`<${Failure} error=${error} />` : !value ? html`<${Spinner} />` : html`<${Form} id=${id} ...${value} ...${{ onClose, onDone }} />`}
    <//>`;
}
