// Asks before an instance is deleted, and how.
import { html, useState } from '../../html.js';
import { Dialog } from '../../ui/notice.js';

export function DeleteDialog({ record, remove, onClose }) {
    const [force, setForce] = useState(false);
    const confirm = () => {
        onClose();
        remove(force);
    };
    return html`<${Dialog} title="Delete ${record.name || record.id}?" onClose=${onClose}>
        <p>Its disk and its snapshots go with it. This cannot be undone.</p>
        <label class="check"><input type="checkbox" checked=${force} onChange=${(event) => setForce(event.target.checked)} /> At once, without hooks and an orderly shutdown</label>
        <div class="choices"><button onClick=${onClose}>Cancel</button><button class="danger-filled" onClick=${confirm}>Delete</button></div>
    <//>`;
}
