// What has happened to an instance, as far as the service remembers events, and what happens now.
import { html, useEffect, useState } from '../../html.js';
import { followKept } from '../../kept_events.js';
import { Ago } from '../../ui/elements.js';

const most = 50;
const words = {
    created: 'Accepted', scheduled: 'Placed on a node', started: 'Started', running: 'Up', paused: 'Paused', resumed: 'Resumed', stopped: 'Stopped',
    failed: 'Failed', removed: 'Removed', deleted: 'Being deleted',
};

function useHistory(id) {
    const [state, setState] = useState({ events: [], gap: false });
    useEffect(() => followKept('lifecycle', (events) => {
        const own = events.filter(({ metadata }) => metadata.source?.endsWith(`/${id}`)).reverse();
        const gap = events.some(({ type }) => type === 'gap');
        if (gap || own.length > 0) setState((now) => ({ events: [...own, ...now.events].slice(0, most), gap: gap || now.gap }));
    }), [id]);
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
