// What the instance shows: its stream, pictures and recordings of it.
import { raw } from '../../api.js';
import { html, useEffect, useState } from '../../html.js';
import { save } from '../../ui/save.js';
import { NeedsRunning } from './needs.js';
import { Stream } from './stream.js';

// The bytes of a capture as they come; a recording that is cancelled is what has come of it.
async function captured(path, { signal, onBytes }) {
    const response = await raw(path, { signal });
    const chunks = [];
    let size = 0;
    try {
        for await (const chunk of response.body) {
            chunks.push(chunk);
            onBytes?.(size += chunk.length);
        }
    } catch (error) {
        if (!signal?.aborted || chunks.length === 0) throw signal?.aborted ? error : new Error('The picture was broken off; the log of the service says why');
    }
    return new Blob(chunks, { type: response.headers.get('Content-Type') });
}

const stamp = () => new Date().toISOString().slice(0, 19).replaceAll(':', '-');

// A capture that is shown, until the next one.
function Shown({ capture }) {
    const [url, setUrl] = useState('');
    useEffect(() => {
        const made = URL.createObjectURL(capture.blob);
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [capture]);
    if (!url) return null;
    const isVideo = capture.blob.type.startsWith('video/');
    return html`<div class="stack">${isVideo ? html`<video class="capture" src=${url} controls aria-label="Recording"></video>` : html`<img class="capture" src=${url} alt="What the instance shows" />`}
        <div class="toolbar"><button onClick=${() => save(capture.blob, capture.name)}>Download</button><span class="hint"><bdi>${capture.name}</bdi></span></div></div>`;
}

function Captures({ record, begin }) {
    const [capture, setCapture] = useState(null), [seconds, setSeconds] = useState(10);
    const path = `/1.0/instances/${record.id}`, name = record.name || record.id;
    const picture = () => begin('Taking a screenshot', async ({ signal }) => setCapture({ blob: await captured(`${path}/screenshot`, { signal }), name: `${name}-${stamp()}.png` }));
    const film = (event) => {
        event.preventDefault();
        begin('Recording; Cancel ends it and keeps what has come', async ({ signal, say }) => {
            const blob = await captured(`${path}/recording?duration=${seconds}`, { signal, onBytes: (count) => say(`${count >> 10} KiB`) });
            setCapture({ blob, name: `${name}-${stamp()}.mp4` });
        });
    };
    return html`<section class="card stack" aria-label="Pictures"><h2>Screenshots and recordings</h2>
        <div class="toolbar"><button class="primary" onClick=${picture}>Screenshot</button>
            <form class="toolbar" onSubmit=${film}><label>Seconds <input type="number" min="1" max="3600" required value=${seconds} onInput=${({ target }) => setSeconds(Number(target.value))} /></label><button>Record</button></form></div>
        ${capture ? html`<${Shown} key=${capture.name} capture=${capture} />` : html`<p class="hint">Nobody has to watch the stream. The same: <code>svcctl screenshot ${record.id}</code>, <code>svcctl record ${record.id}</code></p>`}</section>`;
}

// `deeper`: "stream" where the stream is shown.
export default function Screen({ me, record, begin, deeper }) {
    return html`<${NeedsRunning} record=${record} what="Pictures"><div class="stack">
        <${Stream} me=${me} record=${record} shown=${deeper[0] === 'stream'} /><${Captures} record=${record} begin=${begin} /></div><//>`;
}
