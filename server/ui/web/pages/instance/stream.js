// The stream of an instance that belongs to a session of a gateway: the gateway's page in a frame. The two pages tell each other
// nothing: the frame joins the session that its address names, and asks for its own account's token.
import { joinAddress, NoGateway, sessionOf, useGateway } from '../../gateway.js';
import { html, useLayoutEffect, useRef, useState } from '../../html.js';
import { href } from '../../router.js';
import { Failure, Spinner } from '../../ui/elements.js';
import { attempt } from '../../ui/notice.js';

// What the gateway's page uses, and no more.
const features = ['accelerometer', 'autoplay', 'camera', 'clipboard-read', 'clipboard-write', 'fullscreen', 'gamepad', 'geolocation', 'gyroscope', 'microphone', 'screen-wake-lock'].join('; ');
// It may neither lead this page elsewhere nor open windows.
const sandbox = 'allow-scripts allow-same-origin allow-forms allow-downloads';

// Whether the policy of this page has kept a frame from being loaded.
function useRefusal() {
    const [refused, setRefused] = useState(false);
    useLayoutEffect(() => {
        const hear = ({ effectiveDirective }) => effectiveDirective === 'frame-src' && setRefused(true);
        document.addEventListener('securitypolicyviolation', hear);
        return () => document.removeEventListener('securitypolicyviolation', hear);
    }, []);
    return refused;
}

// `children`: more buttons.
function Frame({ id, address, children }) {
    const frame = useRef(), refused = useRefusal();
    if (refused) return html`<${Failure} error=${{ message: 'The gateway was configured after this page was loaded.' }} again=${() => location.reload()} />`;
    return html`<iframe ref=${frame} class="stream" title="Stream" src=${address} allow=${features} sandbox=${sandbox}></iframe>
        <div class="toolbar"><button onClick=${() => attempt(() => frame.current.requestFullscreen())}>Full screen</button>${children}
            <a class="button" href=${href('instances', id, 'screen')}>Close the stream</a></div>
        <p class="hint">Nothing is shown? The gateway must name this page (<code>svc-gateway --frame-ancestors ${location.origin}</code>), and a certificate that browsers do not know is accepted in a tab, once.</p>`;
}

function Ways({ record, session, gateway, shown }) {
    const address = joinAddress(gateway, session);
    const tab = html`<a class="button" href=${address} target="_blank" rel="noopener noreferrer">Open in a tab</a>`;
    if (shown) return html`<${Frame} key=${address} id=${record.id} address=${address}>${tab}<//>`;
    return html`<div class="toolbar"><a class="button primary" href=${href('instances', record.id, 'screen', 'stream')}>Show the stream</a>${tab}</div>`;
}

const none = html`<p class="hint">This instance is of no session of a gateway, so nobody streams it. One that is: <code>svcctl gateway session create APPLICATION</code></p>`;

export function Stream({ me, record, shown }) {
    const { gateway, error } = useGateway(), session = sessionOf(record);
    const content = () => {
        if (!session) return none;
        if (gateway) return html`<${Ways} ...${{ record, session, gateway, shown }} />`;
        if (error) return html`<${Failure} error=${error} />`;
        return gateway === undefined ? html`<${Spinner} />` : html`<${NoGateway} me=${me} />`;
    };
    return html`<section class="card stack" aria-label="Stream"><h2>Stream</h2>${content()}</section>`;
}
