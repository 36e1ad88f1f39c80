// What the page says: messages that come and go, and questions before something is lost.
import { html, useEffect, useRef, useState } from '../html.js';

const kept = 8000;  // milliseconds that a message of success stays
let messages = [], question = null;
const watchers = new Set();
let next = 0;

const changed = () => watchers.forEach((watcher) => watcher());

function useNotices() {
    const [, again] = useState(0);
    useEffect(() => {
        const watcher = () => again((turn) => turn + 1);
        watchers.add(watcher);
        return () => watchers.delete(watcher);
    }, []);
}

function close(id) {
    messages = messages.filter((message) => message.id !== id);
    changed();
}

// Errors stay until they are closed.
export function say(text, kind = 'good') {
    const id = next++;
    messages = [...messages.slice(-4), { id, text, kind }];
    if (kind !== 'bad') setTimeout(close, kept, id);
    changed();
}

// Runs `action` and says why it has failed. Whether it has succeeded.
export async function attempt(action, done) {
    try {
        const result = await action();
        if (done) say(typeof done === 'function' ? done(result) : done);
        return true;
    } catch (error) {
        if (error.name !== 'AbortError') say(error.message, 'bad');
        return false;
    }
}

// Whether the user means it. `confirm`: what the button says.
export function ask(title, text, confirm = 'Delete') {
    return new Promise((resolve) => {
        question = { title, text, confirm, resolve };
        changed();
    });
}

function answer(yes) {
    question?.resolve(yes);
    question = null;
    changed();
}

// A window over the page; Escape closes it.
export function Dialog({ title, wide, onClose, children }) {
    const element = useRef(), opener = useRef(document.activeElement).current;
    useEffect(() => {
        element.current.showModal();
        return () => opener?.focus();  // the browser gives the focus back when a dialog is closed, not when it is removed
    }, []);
    const cancel = (event) => {
        event.preventDefault();
        onClose();
    };
    return html`<dialog ref=${element} class=${wide ? 'wide' : ''} onCancel=${cancel} aria-label=${title}>
        <header class="dialog-head"><h2>${title}</h2>
            <button class="quiet" aria-label="Close" onClick=${onClose}>✕</button></header>
        ${children}
    </dialog>`;
}

export function Notices() {
    useNotices();
    return html`
        <div class="toasts" role="status" aria-live="polite">${messages.map(({ id, text, kind }) => html`
            <div class="toast ${kind}" key=${id}><span>${text}</span>
                <button class="quiet" aria-label="Close this message" onClick=${() => close(id)}>✕</button></div>`)}
        </div>
        ${question && html`<${Dialog} title=${question.title} onClose=${() => answer(false)}>
            <p>${question.text}</p>
            <div class="choices"><button onClick=${() => answer(false)}>Cancel</button>
                <button class="danger-filled" onClick=${() => answer(true)}>${question.confirm}</button></div>
        <//>`}`;
}
