// The picture that the guest's camera shows.
import { request } from '../../agent.js';
import { html, useEffect, useState } from '../../html.js';
import { ask, attempt } from '../../ui/notice.js';
import { DropFile, Known, Switch, changer, useAgent } from './agent_data.js';

const path = '/1.0/camera';

// Any picture that the browser reads, in a size that the camera has: whole, with black borders.
async function asJpeg(file, { width, height }) {
    const picture = await createImageBitmap(file).catch(() => { throw new Error(`${file.name} is no picture that this browser reads`); });
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const paper = canvas.getContext('2d');
    const scale = Math.min(width / picture.width, height / picture.height);
    const [wide, tall] = [picture.width * scale, picture.height * scale];
    paper.fillRect(0, 0, width, height);
    paper.drawImage(picture, (width - wide) / 2, (height - tall) / 2, wide, tall);
    return new Promise((resolve) => { canvas.toBlob(resolve, 'image/jpeg', 0.92); });
}

function Picture({ id, resolutions, available, reload }) {
    const [size, setSize] = useState(0), [shown, setShown] = useState(null);
    useEffect(() => () => shown && URL.revokeObjectURL(shown), [shown]);
    const take = async (file) => {
        await attempt(async () => {
            const jpeg = await asJpeg(file, resolutions[size]);
            await request(id, 'POST', `${path}/data`, new Uint8Array(await jpeg.arrayBuffer()));
            setShown(URL.createObjectURL(jpeg));
        }, 'The camera shows the picture.');
        reload();
    };
    const clear = async () => {
        if (!await ask('Remove the picture?', 'The camera shows black then.', 'Remove')) return;
        await attempt(() => request(id, 'DELETE', `${path}/data`), 'The camera shows black.');
        setShown(null);
        reload();
    };
    return html`<section class="card stack" aria-label="Picture"><div class="toolbar"><label>Size <select value=${size} onChange=${({ target }) => setSize(Number(target.value))}>
            ${resolutions.map(({ width, height }, at) => html`<option key=${at} value=${at}>${width} × ${height}</option>`)}</select></label>
            ${available && html`<button class="danger" onClick=${clear}>Remove</button>`}</div>
        <${DropFile} label="A picture: drop it here, or choose it" accept="image/*" onFile=${take} />
        ${shown ? html`<img class="camera-picture" src=${shown} alt="What the camera shows" />` : html`<p class="hint">${available ? 'It shows a picture that was put in before.' : 'It shows black.'}</p>`}
        <p class="hint">Video: <code>svcctl instance camera video ${id} FILE</code></p></section>`;
}

export default function Camera({ id }) {
    const loaded = useAgent(id, path);
    const change = changer(id, loaded.reload);
    return html`<${Known} loaded=${loaded}>${({ enabled, data_available: available, resolutions }) => html`<div class="stack">
        <${Switch} label="Inject pictures" on=${enabled} path=${path} change=${change} />
        ${enabled ? html`<${Picture} id=${id} resolutions=${resolutions} available=${available} reload=${loaded.reload} />`
            : html`<p class="hint">While it is off the guest has its client's camera. The same: <code>svcctl instance camera enable ${id}</code></p>`}</div>`}<//>`;
}
