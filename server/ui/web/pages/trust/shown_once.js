// A secret that the service tells once: to be copied now.
import { html } from '../../html.js';
import { CopyButton } from '../../ui/elements.js';
import { moment } from '../../ui/format.js';
import { Dialog } from '../../ui/notice.js';

export const ShownOnce = ({ title, text, until, onClose, children }) => html`<${Dialog} title=${title} onClose=${onClose}><div class="stack">
    <p>${children}</p>
    <textarea class="pem" readonly rows="4" aria-label=${title} onFocus=${({ target }) => target.select()}>${text}</textarea>
    <p class="hint">It is shown this once, and is good for one use, until ${moment(until)}.</p>
    <div class="choices"><${CopyButton} text=${text} /><button class="primary" onClick=${onClose}>Done</button></div>
</div><//>`;
