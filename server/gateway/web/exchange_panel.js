// The panel for what goes between this device and the instance: switches of the clipboard, and files.
import { FilePanel } from './file_panel.js';
import { ofBrowser } from './kept.js';
import { byId, notify, show } from './page.js';

const switches = { 'paste-in': 'setPasting', 'copy-out': 'setCopying' };  // ids, and what they call
const storedName = (id) => `svc-${id}`;  // of this browser, as long as the user does not clear it

function isOn(id) {
    return ofBrowser.getItem(storedName(id)) !== 'off';
}

export class ExchangePanel {
    constructor() {
        for (const id of Object.keys(switches)) {
            byId(id).checked = isOn(id);
            byId(id).addEventListener('change', () => this.switched(id));
        }
        this.files = new FilePanel({ open: () => this.open(true) });
        byId('share').addEventListener('click', () => this.open(byId('exchange').hidden));
    }

    // Of connect().
    options() {
        return {
            clipboard: {
                pasting: isOn('paste-in'), copying: isOn('copy-out'), onRefused: (text) => notify(text),
                onAllowed: (allowed) => this.allowed(allowed),
            },
            files: this.files.options(),
        };
    }

    begin(stream) {
        this.stream = stream;
        show(byId('clipboard-panel'), stream.capabilities.includes('clipboard'));
        this.files.begin(stream);
        this.steering(stream.steers);
    }

    // The instance exchanges nothing with those who watch.
    steering(steers) {
        if (!this.stream) return;
        show(byId('share'), steers && ['clipboard', 'files'].some((name) => this.stream.capabilities.includes(name)));
        if (!steers) this.open(false);
    }

    end() {
        this.stream = undefined;
        this.files.end();
        show(byId('share'), false);
        this.open(false);
    }

    open(visible) {
        show(byId('exchange'), visible);
        byId('share').setAttribute('aria-expanded', String(visible));
        if (visible) this.files.look();
    }

    switched(id) {
        const on = byId(id).checked;
        ofBrowser.setItem(storedName(id), on ? 'on' : 'off');
        this.stream?.clipboard[switches[id]](on);
    }

    // A switch for what the operator forbids would do nothing.
    allowed({ toInstance, fromInstance }) {
        byId('paste-in').disabled = !toInstance;
        byId('copy-out').disabled = !fromInstance;
        show(byId('exchange-forbidden'), !toInstance || !fromInstance);
    }
}
