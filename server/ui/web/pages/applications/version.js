// One version of an application: what it was made of, and who may use it.
import { html } from '../../html.js';
import { download, get, text } from '../../api.js';
import { go, href } from '../../router.js';
import { Ago, Failure, Page, State } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { attempt } from '../../ui/notice.js';
import { act, Facts, Loaded, removeAsked, Tags, useOperationsOn } from '../packages/parts.js';
import { Bootstrap } from './bootstrap.js';

const missing = (number) => { throw new Error(`There is no version ${number} of this application.`); };

async function load(id, number, signal) {
    const application = await get(`/1.0/applications/${id}`, { signal });
    const version = application.versions.find((one) => one.number === number) ?? missing(number);
    return { application, version, manifest: await text(`/1.0/applications/${id}/${number}/manifest`, { signal }) };
}

function Actions({ me, application, version }) {
    const { id, name, immutable } = application;
    const { number, published, status } = version;
    const path = `/1.0/applications/${id}/${number}`;
    const publish = () => act('PATCH', path, { published: !published }, `Version ${number} of ${name} is ${published ? 'no longer ' : ''}published`);
    const remove = async () => {
        if (await removeAsked('Delete the version?', `Version ${number} of “${name}” is deleted. Instances that run go on.`, path, { force: immutable }, `Version ${number} is deleted`)) go('applications', id);
    };
    const active = status === 'active';
    return html`${me.may('operator') && active && html`<a class="button primary" href="${href('instances', 'launch')}?application=${id}&version=${number}">Launch</a>`}
        ${me.may('admin') && html`
            ${active && html`<button onClick=${publish}>${published ? 'Revoke' : 'Publish'}</button>`}
            ${active && html`<button onClick=${() => attempt(() => download(path))}>Export</button>`}
            <button class="danger" onClick=${remove}>Delete</button>`}`;
}

const watchdogOf = ({ disabled, command, 'allowed-packages': allowed }) => (disabled ? 'off' : [command, ...(allowed ?? [])].filter(Boolean).join(', ') || 'on');
const serviceOf = ({ name, port, port_end: last, protocols, expose }) => `${name ? `${name}: ` : ''}${port}${last ? `-${last}` : ''} ${(protocols ?? []).join(', ')}${expose ? ', exposed' : ''}`;

const factsOf = (version) => [
    ['Status', html`<${State} state=${version.status} />`],
    ['Published', version.published ? 'yes' : 'no'],
    ['Manifest version', version.manifest_version && html`<bdi>${version.manifest_version}</bdi>`],
    ['Image', html`<code>${version.parent_image_id}</code> version ${version.parent_image_version}`],
    ['Addons', html`<${Tags} values=${version.addons.map(({ name, version: number }) => `${name} ${number}`)} />`],
    ['Activity', version.boot_activity],
    ['Command', version.boot && html`<code>${version.boot}</code>`],
    ['Permissions', version.required_permissions && html`<${Tags} values=${version.required_permissions} />`],
    ['Services', version.services?.length ? html`<${Tags} values=${version.services.map(serviceOf)} />` : undefined],
    ['Features', version.features && html`<${Tags} values=${version.features} />`],
    ['Video encoder', version.video_encoder],
    ['Watchdog', watchdogOf(version.watchdog)],
    ['Hooks may take', version.hooks?.timeout],
    ['Kept by the bootstrap', version.bootstrap?.keep && html`<${Tags} values=${version.bootstrap.keep} />`],
    ['Extra data', Object.keys(version.extra_data).length ? html`<${Tags} values=${Object.keys(version.extra_data)} />` : undefined],
    ['Created', html`<${Ago} time=${version.created_at} />`],
];

export function Version({ me, id, number }) {
    const state = useLoaded((signal) => load(id, number, signal), [id, number]);
    useOperationsOn('applications', state.reload);
    const { application, version } = state.value ?? {};
    return html`<${Page} title=${application ? `${application.name}, version ${number}` : 'Version'} actions=${version && !state.error && html`<${Actions} ...${{ me, application, version }} />`}>
        <p><a href=${href('applications')}>All applications</a> / <a href=${href('applications', id)}><bdi>${application?.name ?? id}</bdi></a></p>
        <${Loaded} ...${state}>${({ manifest }) => html`
            ${version.error_message && html`<${Failure} error=${{ message: version.error_message }} />`}
            ${version.status === 'active' ? null : html`<${Bootstrap} me=${me} application=${application} number=${number} />`}
            <div class="wide-grid">
                <section class="card"><h2>About</h2><${Facts} rows=${factsOf(version)} /></section>
                <section class="card"><h2>Manifest</h2><pre class="manifest" tabindex="0" aria-label="Manifest"><bdi>${manifest}</bdi></pre></section>
            </div>
            ${version.notes?.length ? html`<section class="card"><h2>Notes</h2><ul>${version.notes.map((note) => html`<li key=${note}><bdi>${note}</bdi></li>`)}</ul></section>` : null}`}<//>
    <//>`;
}
