// Asks for a name.
import { html } from '../../html.js';
import { Field } from '../../ui/elements.js';
import { Dialog } from '../../ui/notice.js';

export function NameDialog({ title, name, onName, onClose }) {
    const submit = (event) => {
        event.preventDefault();
        const given = new FormData(event.target).get('name');
        onClose();
        if (given !== name) onName(given);
    };
    return html`<${Dialog} title=${title} onClose=${onClose}><form onSubmit=${submit}>
        <${Field} label="Name"><input name="name" defaultValue=${name} required maxlength="255" pattern="[^\\/]+" title="A name without /" autocomplete="off" autofocus /><//>
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">OK</button></div></form><//>`;
}
