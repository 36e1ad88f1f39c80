// The stream of an instance that belongs to a session of a gateway: at the gateway's own page, which is shown in no frame.
import { html, useState } from '../../html.js';
import { Field } from '../../ui/elements.js';

const key = 'svc-gateway';

// An address of https, or nothing.
function gatewayOf(text) {
    try {
        const url = new URL(text.trim());
        return url.protocol === 'https:' ? url.origin : '';
    } catch {
        return '';
    }
}

const sessionOf = ({ tags = [] }) => tags.find((tag) => tag.startsWith('session='))?.slice('session='.length);

export function Stream({ record }) {
    const [typed, setTyped] = useState(localStorage.getItem(key) ?? '');
    const gateway = gatewayOf(typed), session = sessionOf(record);
    const type = ({ target }) => {
        setTyped(target.value);
        localStorage.setItem(key, target.value);
    };
    if (!session) return html`<section class="card stack" aria-label="Stream"><h2>Stream</h2><p class="hint">This instance is of no session of a gateway, so nobody streams it. One that is: <code>svcctl gateway session create APPLICATION</code></p></section>`;
    return html`<section class="card stack" aria-label="Stream"><h2>Stream</h2>
        <p>Session <code>${session}</code></p>
        <div class="toolbar"><${Field} label="Address of the gateway" hint="Kept in this browser"><input type="url" placeholder="https://gateway:4000" value=${typed} onInput=${type} /><//>
            ${gateway && html`<a class="button primary" href="${gateway}/" target="_blank" rel="noopener noreferrer">Open the stream</a>`}</div>
        <p class="hint">The gateway's page asks for its account's token, and lists the session.</p></section>`;
}
