// The bootstrap of a version while it goes on, with its base container and its log; afterwards what a failed one has left.
import { html, useState } from '../../html.js';
import { get, list, text } from '../../api.js';
import { href } from '../../router.js';
import { State } from '../../ui/elements.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';
import { act } from '../packages/parts.js';
import { FollowedLog } from './follow_log.js';

const isOf = (id) => ({ resources, description }) => description === 'Bootstrapping application' && resources?.applications?.some((url) => url === `/1.0/applications/${id}`);

async function load(id, signal) {
    const [{ running = [] }, instances] = await Promise.all([
        get('/1.0/operations?recursion=1', { signal }), list(`/1.0/containers?base=true&app_id=${id}`, { signal })]);
    return { operation: running.find(isOf(id)), instances };
}

const steps = ['waiting', 'created', 'prepared', 'started', 'running', 'stopped'];
const words = { waiting: 'waits for its turn', created: 'has no node yet', prepared: 'is placed on a node', started: 'boots and runs its hooks', running: 'the guest is up', stopped: 'its disk becomes the version' };

function Going({ me, operation, instance }) {
    const status = instance?.status ?? 'waiting';
    return html`<p>${instance ? html`The base container <a href=${href('instances', instance.id)}><bdi>${instance.name}</bdi></a> <${State} state=${status} />: ${words[status] ?? ''}` : 'The bootstrap waits for its turn.'}</p>
        <progress class="wide-progress" aria-label="Progress of the bootstrap" value=${Math.max(0, steps.indexOf(status))} max=${steps.length}></progress>
        ${operation?.may_cancel && me.may('admin') && html`<div class="actions"><button onClick=${() => act('DELETE', `/1.0/operations/${operation.id}`, undefined, 'The bootstrap is cancelled')}>Cancel the bootstrap</button></div>`}
        ${me.may('operator') && ['started', 'running'].includes(status) && html`<${FollowedLog} key=${status} id=${instance.id} />`}`;
}

function StoredLogs({ instance }) {
    const [name, setName] = useState('');
    const { value, error } = useLoaded((signal) => (name ? text(`/1.0/containers/${instance.id}/logs/${name}`, { signal }) : ''), [name]);
    return html`<p>The base container <a href=${href('instances', instance.id)}><bdi>${instance.name}</bdi></a> is kept, with its logs, until the version is deleted.</p>
        <div class="actions">${instance.stored_logs.map((log) => html`<button key=${log} aria-pressed=${log === name} onClick=${() => setName(log === name ? '' : log)}>${log}</button>`)}</div>
        ${error ? html`<p role="alert">${error.message}</p>` : value && html`<pre class="log" tabindex="0" aria-label=${name}><bdi>${value}</bdi></pre>`}`;
}

// `number`: of that version alone; else of the newest.
export function Bootstrap({ me, application, number = application.versions.at(-1)?.number }) {
    const { id, versions } = application;
    const status = versions.find((version) => version.number === number)?.status;
    const wanted = status === 'initializing' || status === 'error';
    const { value, reload } = useLoaded(async (signal) => (wanted ? load(id, signal) : undefined), [id, wanted]);
    useReloadOn('operation', reload, ({ metadata: { resources } }) => Boolean(resources?.applications));
    useReloadOn('lifecycle', reload);
    const instance = value?.instances.find(({ app_version: made }) => made === number);
    if (!value || (status !== 'initializing' && !(status === 'error' && instance?.stored_logs?.length))) return null;
    return html`<section class="card stack" aria-label="Bootstrap"><h2>Bootstrap of version ${number}</h2>
        ${status === 'error' ? html`<${StoredLogs} instance=${instance} />` : html`<${Going} ...${{ me, operation: value.operation, instance }} />`}</section>`;
}
