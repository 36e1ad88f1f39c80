// The stream of an instance that belongs to a session of a gateway: at the gateway's own page, which is shown in no frame.
import { rememberedGateway, rememberGateway } from '../../gateway.js';
import { html, useState } from '../../html.js';
import { Field } from '../../ui/elements.js';

const sessionOf = ({ tags = [] }) => tags.find((tag) => tag.startsWith('session='))?.slice('session='.length);

export function Stream({ record }) {
    const [gateway, setGateway] = useState(rememberedGateway), [typed, setTyped] = useState(gateway);
    const session = sessionOf(record);
    const type = ({ target }) => {
        setTyped(target.value);
        try {
            setGateway(rememberGateway(target.value));
        } catch {
            setGateway('');  // no address yet: the one that is remembered stays
        }
    };
    if (!session) return html`<section class="card stack" aria-label="Stream"><h2>Stream</h2><p class="hint">This instance is of no session of a gateway, so nobody streams it. One that is: <code>svcctl gateway session create APPLICATION</code></p></section>`;
    return html`<section class="card stack" aria-label="Stream"><h2>Stream</h2>
        <p>Session <code>${session}</code></p>
        <div class="toolbar"><${Field} label="Address of the gateway" hint="Kept in this browser"><input type="url" placeholder="https://gateway:4000" value=${typed} onInput=${type} /><//>
            ${gateway && html`<a class="button primary" href="${gateway}/" target="_blank" rel="noopener noreferrer">Open the stream</a>`}</div>
        <p class="hint">The gateway's page asks for its account's token, and lists the session.</p></section>`;
}
