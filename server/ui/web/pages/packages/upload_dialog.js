// The dialog that takes a package and sends it.
import { html, useEffect, useRef, useState } from '../../html.js';
import { Failure } from '../../ui/elements.js';
import { bytes } from '../../ui/format.js';
import { Dialog } from '../../ui/notice.js';
import { packed } from './choose.js';
import { DropZone } from './drop_zone.js';
import { sendPackage } from './send.js';

export const packageEndings = ['.tar.bz2', '.tbz2', '.bz2', '.zip'];
export const imageEndings = ['.tar.gz', '.tgz', '.tar.xz', '.txz', '.tar.bz2', '.tbz2', '.gz', '.xz', '.bz2'];

export function Progress({ text, done, total }) {
    return html`<div class="progress-line" role="status"><span>${text}</span><progress aria-label=${text} value=${total ? done : undefined} max=${total || 1}></progress></div>`;
}

const stepOfOperation = ({ description, metadata }) => ({ text: `${description} …`, done: metadata?.progress?.percent, total: metadata?.progress ? 100 : 0 });

async function upload(chosen, request, show, signal) {
    const body = await packed(chosen, { signal, onProgress: (done, total) => show({ text: `Packing ${bytes(total)}`, done, total }) });
    return sendPackage(request, body, {
        signal,
        onSent: (done, total) => show({ text: `Sending: ${bytes(done)} of ${bytes(total)}`, done, total }),
        onOperation: (operation) => show(stepOfOperation(operation)),
    });
}

// `request(form)`: { method, path, headers } by the fields that `children` are. `onDone(operation)`.
export function UploadDialog({ title, folders, accept, request, action = 'Upload', onDone, onClose, children }) {
    const [chosen, setChosen] = useState(null);
    const [step, setStep] = useState(null);
    const [problem, setProblem] = useState(null);
    const abort = useRef();
    useEffect(() => () => abort.current?.abort(), []);
    const submit = async (event) => {
        event.preventDefault();
        const wanted = request(new FormData(event.target));
        abort.current = new AbortController();
        setProblem(null);
        setStep({ text: 'Starting …' });
        try {
            onDone(await upload(chosen, wanted, setStep, abort.current.signal));
        } catch (error) {
            if (error.name !== 'AbortError') setProblem(error);
            setStep(null);
        }
    };
    const choose = (what) => {
        setProblem(null);
        setChosen(what);
    };
    return html`<${Dialog} title=${title} onClose=${onClose}>
        <form class="stack" onSubmit=${submit}>
            ${children}
            <${DropZone} ...${{ chosen, folders, accept, onProblem: setProblem }} onChosen=${choose} />
            ${problem && html`<${Failure} error=${problem} />`}
            ${step && html`<${Progress} ...${step} />`}
            <div class="choices">
                ${step ? html`<button type="button" onClick=${() => abort.current.abort()}>Cancel the upload</button>` : html`<button type="button" onClick=${onClose}>Cancel</button>`}
                <button class="primary" disabled=${!chosen || Boolean(step)}>${action}</button>
            </div>
        </form>
    <//>`;
}
