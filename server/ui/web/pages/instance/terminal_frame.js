// One terminal: the frame that shows it, and what has become of its command.
import { html, useEffect, useRef, useState } from '../../html.js';
import { say } from '../../ui/notice.js';

const system = matchMedia('(prefers-color-scheme: dark)');

function shade() {
    const { theme } = document.documentElement.dataset;
    return theme === 'dark' || (theme === 'system' && system.matches) ? 'dark' : 'light';
}

function useShade() {
    const [current, setCurrent] = useState(shade);
    useEffect(() => {
        const look = () => setCurrent(shade());
        const changes = new MutationObserver(look);
        changes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
        system.addEventListener('change', look);
        return () => {
            changes.disconnect();
            system.removeEventListener('change', look);
        };
    }, []);
    return current;
}

// Messages to the frame; those that come before it is ready are its first ones.
function useFrame({ frame, first, onLeave }) {
    const [state, setState] = useState({ state: 'loading' });
    const send = (message) => frame.current?.contentWindow?.postMessage(message, location.origin);
    useEffect(() => {
        const take = ({ source, origin, data }) => {
            if (source !== frame.current?.contentWindow || origin !== location.origin) return;
            if (data.leave) return onLeave();
            if (data.problem) return say(data.problem, 'bad');
            if (data.state === 'ready') send(first);
            setState(data);
        };
        window.addEventListener('message', take);
        return () => window.removeEventListener('message', take);
    }, []);
    return { ...state, send };
}

export function TerminalFrame({ instance, command, shown, reader, onLeave }) {
    const frame = useRef();
    const current = useShade();
    const open = { instance, command };
    const { state, text, send } = useFrame({ frame, first: { theme: current, reader, open }, onLeave });
    useEffect(() => send({ theme: current, reader }), [current, reader]);
    useEffect(() => { if (shown) send({ focus: true }); }, [shown]);
    return html`<div class="terminal" hidden=${!shown}>
        <div class="terminal-state" role="status">${state === 'ended' ? html`<span>${text}</span><button class="small primary" onClick=${() => send({ open })}>Again</button>`
            : html`<span>${state === 'open' ? 'Connected' : 'Connecting …'}</span>
                <button class="small" onClick=${() => send({ copy: true })}>Copy selection</button><button class="small" onClick=${() => send({ paste: true })}>Paste</button>`}</div>
        <iframe ref=${frame} src="/ui/terminal.html" title="Terminal: ${command.join(' ')}" allow="clipboard-read; clipboard-write"></iframe></div>`;
}
