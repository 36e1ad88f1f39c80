// What has happened to an instance, as far as the service remembers events, and what happens now.
import { socket } from '../../api.js';
import { html, useEffect, useState } from '../../html.js';
import { Ago } from '../../ui/elements.js';

const most = 50;
const words = {
    created: 'Accepted', scheduled: 'Placed on a node', started: 'Started', running: 'Up', paused: 'Paused', resumed: 'Resumed', stopped: 'Stopped',
    failed: 'Failed', removed: 'Removed', deleted: 'Being deleted',
};

// A connection of its own: the one of live.js begins with what is new.
function useHistory(id) {
    const [state, setState] = useState({ events: [], gap: false });
    useEffect(() => {
        const connection = socket('/1.0/events?type=lifecycle&since=0');
        connection.onmessage = ({ data }) => {
            const event = JSON.parse(data);
            if (event.type === 'gap') setState((now) => ({ ...now, gap: true }));
            else if (event.metadata.source?.endsWith(`/${id}`)) setState((now) => ({ ...now, events: [event, ...now.events].slice(0, most) }));
        };
        return () => connection.close();
    }, [id]);
    return state;
}

export function History({ record }) {
    const { events, gap } = useHistory(record.id);
    const line = ({ metadata, timestamp, sequence }) => html`<li key=${sequence}><span>${words[metadata.action.replace('container-', '')] ?? metadata.action}</span>
        <${Ago} time=${timestamp} />${metadata.requestor && html`<small>by ${metadata.requestor.slice(0, 20)}</small>`}</li>`;
    return html`<section class="card" aria-label="History"><h2>History</h2>
        ${events.length === 0 ? html`<p class="hint">The service remembers no event of it.</p>` : html`<ol class="history" tabindex="0" aria-label="Events">${events.map(line)}</ol>`}
        ${gap && html`<p class="hint">Older events are forgotten.</p>`}</section>`;
}
