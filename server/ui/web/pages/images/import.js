// Imports an image of the image server by its name there.
import { html, useState } from '../../html.js';
import { get, remove, run } from '../../api.js';
import { href } from '../../router.js';
import { Empty, Failure, Field, Spinner } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { Dialog, say } from '../../ui/notice.js';
import { Progress } from '../packages/upload_dialog.js';

function Form({ url, onClose }) {
    const [operation, setOperation] = useState(null);
    const [problem, setProblem] = useState(null);
    const submit = async (event) => {
        event.preventDefault();
        const form = new FormData(event.target), path = form.get('path').trim();
        const body = { path, name: form.get('name').trim() || path.split('@')[0], default: form.has('default') };
        setProblem(null);
        setOperation({ description: 'Asking the image server' });
        try {
            await run('POST', '/1.0/images', body, { onProgress: setOperation });
            say(`${body.name} is imported`);
            onClose();
        } catch (error) {
            setProblem(error);
            setOperation(null);
        }
    };
    const cancel = () => (operation?.id ? remove(`/1.0/operations/${operation.id}`).catch(setProblem) : onClose());
    return html`<form class="stack" onSubmit=${submit}>
        <p class="hint">Of <bdi>${url}</bdi></p>
        <${Field} label="Name on the server" hint="with @VERSION for a certain version"><input name="path" required placeholder="jammy:amd64" autocomplete="off" /><//>
        <${Field} label="Name here" hint="empty: the same"><input name="name" autocomplete="off" /><//>
        <label class="check"><input type="checkbox" name="default" /> Make it the default</label>
        ${problem && html`<${Failure} error=${problem} />`}
        ${operation && html`<${Progress} text="${operation.description} …" done=${operation.metadata?.progress?.percent} total=${operation.metadata?.progress ? 100 : 0} />`}
        <div class="choices"><button type="button" onClick=${cancel}>${operation ? 'Cancel the import' : 'Cancel'}</button><button class="primary" disabled=${Boolean(operation)}>Import</button></div>
    </form>`;
}

export function Import({ onClose }) {
    const { value, error } = useLoaded((signal) => get('/1.0/config', { signal }));
    const url = value?.config['images.url'];
    return html`<${Dialog} title="Import an image" onClose=${onClose}>
        ${error ? html`<${Failure} error=${error} />` : !value ? html`<${Spinner} />` : url ? html`<${Form} url=${url} onClose=${onClose} />`
            : html`<${Empty} title="There is no image server">Set <a href="${href('configuration')}?filter=images.url">images.url</a>, or use <code>svcctl config set images.url URL</code>.<//>`}
    <//>`;
}
