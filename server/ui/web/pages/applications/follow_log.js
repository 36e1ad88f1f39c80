// Follows the log of the agent in a container that runs, by a command in it, as `svcctl logs -f` does.
import { html, useEffect, useRef, useState } from '../../html.js';
import { post, socket } from '../../api.js';

const most = 200_000;  // characters that are kept
const logs = '/var/lib/svc-agent/logs/*.log';
const script = `until ls ${logs} >/dev/null 2>&1; do sleep 1; done; exec tail -n +1 -f ${logs}`;

// Calls `onText` with what comes, `onEnd(error)` once. Returns what ends it: the command is killed when its sockets close.
function follow(id, onText, onEnd) {
    const sockets = [];
    let ended = false;
    const stop = () => {
        ended = true;
        sockets.forEach((one) => one.close());
    };
    const open = (operation, secret, take) => {
        const one = socket(`/1.0/operations/${operation}/websocket?secret=${secret}`);
        const decoder = new TextDecoder();
        one.binaryType = 'arraybuffer';
        one.onmessage = ({ data }) => typeof data !== 'string' && take(decoder.decode(data, { stream: true }));
        one.onclose = () => ended || (stop(), onEnd());
        sockets.push(one);
    };
    post(`/1.0/containers/${id}/exec`, { command: ['sh', '-c', script], interactive: false }).then(({ id: operation, metadata: { fds } }) => {
        if (ended) return;
        for (const stream of ['0', '1', '2']) open(operation, fds[stream], onText);
    }).catch((error) => ended || onEnd(error));
    return stop;
}

export function FollowedLog({ id }) {
    const [text, setText] = useState('');
    const [state, setState] = useState('Waiting for the log …');
    const element = useRef();
    useEffect(() => {
        const add = (more) => {
            setState('');
            setText((former) => (former + more).slice(-most));
        };
        return follow(id, add, (error) => setState(error ? error.message : 'The log has ended.'));
    }, [id]);
    useEffect(() => {
        element.current?.scrollTo(0, element.current.scrollHeight);
    }, [text]);
    return html`${text && html`<pre class="log" ref=${element} tabindex="0" aria-label="Log of the bootstrap"><bdi>${text}</bdi></pre>`}
        ${state && html`<p class="hint" role="status">${state}</p>`}`;
}
