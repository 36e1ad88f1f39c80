// What pages of injection have in common: values of the agent, and switches.
import { request } from '../../agent.js';
import { html } from '../../html.js';
import { Failure, Spinner } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { attempt } from '../../ui/notice.js';

export const useAgent = (id, path) => useLoaded(() => request(id, 'GET', path), [id, path]);

// Asks the agent for a change, says why it fails, and reads the value again.
export const changer = (id, reload) => async (method, path, body, done) => {
    const good = await attempt(() => request(id, method, path, body), done);
    await reload();
    return good;
};

// Whether data are put in at all.
export function Switch({ label, on, path, change }) {
    return html`<label class="check"><input type="checkbox" role="switch" checked=${on} onChange=${(event) => change('POST', path, { enable: event.target.checked })} /> ${label}</label>`;
}

// Shows `children(value)` when it is there.
export function Known({ loaded, children }) {
    if (loaded.error) return html`<${Failure} error=${loaded.error} again=${loaded.reload} />`;
    return loaded.value ? children(loaded.value) : html`<${Spinner} text="Asking the agent" />`;
}

// A file that is chosen or dropped.
export function DropFile({ label, accept, onFile }) {
    const drop = (event) => {
        event.preventDefault();
        const [file] = event.dataTransfer.files;
        if (file) onFile(file);
    };
    const choose = ({ target }) => {
        if (target.files[0]) onFile(target.files[0]);
        target.value = '';
    };
    return html`<label class="drop" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}><span>${label}</span><input type="file" accept=${accept} onChange=${choose} /></label>`;
}
