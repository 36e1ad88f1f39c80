// Follows the log of the agent in a container that runs, by a command in it, as `svcctl logs -f` does.
import { html, useEffect, useRef, useState } from '../../html.js';
import { run } from '../../agent.js';

const most = 200_000;  // characters that are kept
const logs = '/var/lib/svc-agent/logs/*.log';
const script = `until ls ${logs} >/dev/null 2>&1; do sleep 1; done; exec tail -n +1 -f ${logs}`;

export function FollowedLog({ id }) {
    const [text, setText] = useState('');
    const [state, setState] = useState('Waiting for the log …');
    const element = useRef();
    useEffect(() => {
        const add = (more) => {
            setState('');
            setText((former) => (former + more).slice(-most));
        };
        const abort = new AbortController(), decoder = new TextDecoder();
        run(id, ['sh', '-c', script], { signal: abort.signal, onOutput: (bytes) => add(decoder.decode(bytes, { stream: true })) })
            .then(() => setState('The log has ended.'), (error) => abort.signal.aborted || setState(error.message));
        return () => abort.abort();
    }, [id]);
    useEffect(() => {
        element.current?.scrollTo(0, element.current.scrollHeight);
    }, [text]);
    return html`${text && html`<pre class="log" ref=${element} tabindex="0" aria-label="Log of the bootstrap"><bdi>${text}</bdi></pre>`}
        ${state && html`<p class="hint" role="status">${state}</p>`}`;
}
