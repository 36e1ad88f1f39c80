// What to do in an empty service: an image, an application, an instance.
import { html } from '../../html.js';
import { call } from '../../api.js';
import { href } from '../../router.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';

const has = async (path, signal) => (await call('GET', path, undefined, { signal })).metadata.length > 0;

// Whether there are images and applications.
export function useBeginnings() {
    const { value, reload } = useLoaded(async (signal) => ({ image: await has('/1.0/images', signal), application: await has('/1.0/applications', signal) }));
    useReloadOn('operation', reload, ({ metadata }) => metadata.status_code === 200 && Boolean(metadata.resources?.images ?? metadata.resources?.applications));
    return value;
}

const Step = ({ done, title, page, command, children }) => html`<li class=${done ? 'done' : ''}>
    <strong><a href=${href(page)}>${title}</a>${done && html` <span class="state good">done</span>`}</strong>
    <p>${children}</p><code>${command}</code></li>`;

export function FirstSteps({ me, beginnings, instances }) {
    if (!beginnings || instances > 0 || (beginnings.image && beginnings.application)) return null;
    return html`<section class="card first-steps" aria-label="First steps"><h2>First steps</h2>
        ${!me.may('admin') && html`<p class="hint">Images and applications are added by an administrator.</p>`}
        <ol>
            <${Step} done=${beginnings.image} title="Add an image" page="images" command="svcctl image add NAME FILE --default">The system that instances run.<//>
            <${Step} done=${beginnings.application} title="Create an application" page="applications" command="svcctl application create FOLDER">What is launched on it, as often as you like.<//>
            <${Step} done=${false} title="Launch an instance" page="instances" command="svcctl launch APPLICATION">It is shown here as soon as it runs.<//>
        </ol>
    </section>`;
}
