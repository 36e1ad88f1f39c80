// The logs that were kept when an instance failed.
import { html } from '../../html.js';
import { href } from '../../router.js';

export function StoredLogs({ record }) {
    if (!record.stored_logs?.length) return null;
    return html`<p class="hint">Kept of its failure: ${record.stored_logs.map((name, at) => html`${at > 0 && ', '}<a key=${name} href=${href('instances', record.id, 'logs', name)}>${name}</a>`)}</p>`;
}
