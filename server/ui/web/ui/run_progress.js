// How far a run of many operations is, and what has become of it.
import { html } from '../html.js';
import { href } from '../router.js';
import { beginRun, closeRun } from './run.js';
import { attempt } from './notice.js';
import { count } from './format.js';

const mostShown = 100;

const Link = ({ id, label }) => (id ? html`<a href=${href('instances', id)}>${label}</a>` : html`<span>${label}</span>`);

function Failures({ failures }) {
    const shown = failures.slice(0, mostShown);
    return html`<div class="table-frame run-failures" tabindex="0" role="region" aria-label="What has failed"><table>
        <thead><tr><th scope="col">Instance</th><th scope="col">Why</th></tr></thead>
        <tbody>${shown.map(({ item, message }, index) => html`<tr key=${index}><td data-title="Instance"><${Link} ...${item} /></td><td data-title="Why">${message}</td></tr>`)}</tbody></table></div>
        ${failures.length > shown.length && html`<p class="hint">and ${(failures.length - shown.length).toLocaleString()} more</p>`}`;
}

const sentence = (run) => [`${run.results.length.toLocaleString()} of ${count(run.items.length, 'instance')} done`,
    run.failures.length > 0 && `${run.failures.length.toLocaleString()} failed`,
    run.cancelled && `${(run.items.length - run.done - run.running.size).toLocaleString()} not begun`].filter(Boolean).join(', ');

export function RunProgress({ run }) {
    if (!run) return null;
    const retry = () => attempt(async () => beginRun(run.title, run.failures.map(({ item }) => item), run));
    return html`<section class="card run stack" aria-label=${run.title}>
        <div class="run-head"><strong>${run.title}</strong>
            <progress class="meter" value=${run.done} max=${run.items.length} aria-label=${run.title}></progress>
            <span role="status">${sentence(run)}</span>
            <span class="actions">
                ${!run.ended && html`<button class="small" disabled=${run.cancelled} onClick=${() => run.cancel()}>${run.cancelled ? 'Cancelling …' : 'Cancel'}</button>`}
                ${run.ended && run.failures.length > 0 && html`<button class="small" onClick=${retry}>Try ${count(run.failures.length, 'instance')} again</button>`}
                ${run.ended && html`<button class="small" onClick=${closeRun}>Close</button>`}
            </span></div>
        ${run.failures.length > 0 && html`<${Failures} failures=${run.failures} />`}
        ${run.ended && run.results.length > 0 && run.Results && html`<${run.Results} results=${run.results} />`}
    </section>`;
}
