// Who may use the service: certificates, invitations, sessions of browsers.
import { html } from '../html.js';
import { href } from '../router.js';
import { Failure, Page } from '../ui/elements.js';
import { Certificates } from './trust/certificates.js';
import { Invitations } from './trust/invitations.js';
import { Sessions } from './trust/sessions.js';

const tabs = [
    { name: 'certificates', title: 'Certificates', View: Certificates },
    { name: 'invitations', title: 'Invitations', View: Invitations },
    { name: 'sessions', title: 'Sessions', View: Sessions, extension: 'sessions' },
];

export default function Trust({ me, place }) {
    const wanted = place.parts[1] ?? 'certificates';
    const shown = tabs.filter(({ extension }) => !extension || me.api_extensions.includes(extension));
    const View = shown.find(({ name }) => name === wanted)?.View;
    return html`<${Page} title="Trust">
        <nav class="tabs" aria-label="Trust">${shown.map(({ name, title }) => html`<a key=${name} href=${href('trust', name)} aria-current=${name === wanted ? 'page' : undefined}>${title}</a>`)}</nav>
        ${!me.may('admin') && wanted !== 'sessions' && html`<p class="hint">Only admins change who is trusted.</p>`}
        ${View ? html`<${View} me=${me} />` : html`<${Failure} error=${{ message: `There is no “${wanted}” here.` }} />`}
    <//>`;
}
