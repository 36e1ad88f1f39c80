// What the instance is, what it offers, what it has been through, what it uses.
import { get } from '../../api.js';
import { html } from '../../html.js';
import { href } from '../../router.js';
import { Ago, CopyButton } from '../../ui/elements.js';
import { ago, moment } from '../../ui/format.js';
import { useLoaded } from '../../ui/loaded.js';
import { History } from './history.js';
import { Services } from './services.js';
import { StoredLogs } from './stored_logs.js';
import { Usage } from './usage.js';

const Fact = ({ name, children }) => html`<dt>${name}</dt><dd>${children}</dd>`;
const link = (kind, id, name) => html`<a href=${href(kind, id)}><bdi>${name || id}</bdi></a>`;

function resourcesOf({ cpus, memory, 'disk-size': disk, 'gpu-slots': slots } = {}) {
    const parts = [cpus > 0 && `${cpus} CPUs`, memory && `${memory} memory`, disk && `${disk} disk`, slots > 0 && `${slots} GPU slots`];
    return parts.filter(Boolean).join(', ') || '–';
}

function Origin({ record }) {
    const { value: image } = useLoaded((signal) => (record.image_id ? get(`/1.0/images/${record.image_id}`, { signal }) : null), [record.image_id]);
    return html`
        ${record.app_id && html`<${Fact} name="Application">${link('applications', record.app_id, record.app_name)}, version ${record.app_version}<//>`}
        ${record.image_id && html`<${Fact} name="Image">${link('images', record.image_id, image?.name)}, version ${record.image_version}<//>`}`;
}

// When it goes by itself; '' of one that stays.
const endOf = ({ expires_at: end, idle_after: idle, used_at: used }) => [end && `at ${moment(end)}`, idle && `when unused for ${idle}; last use seen ${ago(used)}`].filter(Boolean).join(', or ');

function Facts({ record }) {
    const { config = {} } = record;
    return html`<section class="card" aria-label="Facts"><h2>Facts</h2><dl class="facts">
        <${Fact} name="Id"><code>${record.id}</code> <${CopyButton} text=${record.id} /><//>
        <${Origin} record=${record} />
        <${Fact} name="Created"><${Ago} time=${record.created_at} /><//>
        <${Fact} name="Node">${record.node ? link('nodes', record.node) : 'none yet'}<//>
        <${Fact} name="Address">${record.address || '–'}${record.public_address && record.public_address !== record.address && html`, public ${record.public_address}`}<//>
        <${Fact} name="Resources">${resourcesOf(record.resources)}<//>
        <${Fact} name="Architecture">${record.architecture || '–'}<//>
        <${Fact} name="Platform">${config.platform || 'as configured'}<//>
        ${config.features && html`<${Fact} name="Features">${config.features}<//>`}
        ${config.boot_activity && html`<${Fact} name="Activity">${config.boot_activity}<//>`}
        <${Fact} name="Deletion">${config.security?.delete_protected ? 'refused: it is protected' : 'allowed'}<//>
        ${endOf(record) && html`<${Fact} name="Deleted by itself">${endOf(record)}<//>`}
        <${Fact} name="Tags">${record.tags?.length ? record.tags.map((tag) => html`<span class="state plain" key=${tag}><bdi>${tag}</bdi></span> `) : '–'}<//>
    </dl></section>`;
}

export default function Summary({ record, state }) {
    return html`<div class="stack">
        ${record.error_message && html`<section class="failure" role="alert"><p><strong>It has failed:</strong> <bdi>${record.error_message}</bdi></p></section>`}
        <${StoredLogs} record=${record} />
        <div class="wide-grid"><${Facts} record=${record} /><div class="stack"><${Services} record=${record} /><${History} record=${record} /></div></div>
        <${Usage} record=${record} state=${state} />
    </div>`;
}
