// What a page is doing for its user: one thing at a time, with what is known of its progress, and a way to end it.
import { remove } from '../api.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { attempt, say as notify } from './notice.js';

const pace = 200;  // milliseconds between two changes of what is shown: a fast upload would leave the page no time for its user

// { work, begin }. begin(title, action, done): runs action({ signal, onProgress, say }), where `onProgress` takes an operation
// and say(text, value, most) what has been done so far; `done` is said at the end. Whether it has succeeded.
export function useWork() {
    const [work, setWork] = useState(null);
    const abort = useRef(null), operation = useRef(null), timer = useRef(null), latest = useRef(null);
    useEffect(() => () => {
        clearTimeout(timer.current);
        abort.current?.abort();
    }, []);
    const soon = (more) => {
        latest.current = more;
        timer.current ??= setTimeout(() => {
            timer.current = null;
            setWork((now) => now && { ...now, ...latest.current });
        }, pace);
    };
    const cancel = () => {
        setWork((now) => now && { ...now, cancelling: true });
        if (operation.current?.may_cancel) attempt(() => remove(`/1.0/operations/${operation.current.id}`));
        else abort.current.abort();
    };
    const begin = async (title, action, done) => {
        if (abort.current) {
            notify(`“${title}” has to wait: something else is still going on.`, 'bad');
            return false;
        }
        abort.current = new AbortController();
        operation.current = null;
        const show = (more) => setWork((now) => ({ title, cancel, ...now, ...more }));
        show({ title, text: '', value: null, cancelling: false, cancellable: true });
        const onProgress = (now) => {
            operation.current = now;
            show({ text: now.description, cancellable: now.may_cancel });
        };
        const good = await attempt(() => action({
            signal: abort.current.signal, onProgress, say: (text, value, most) => soon({ text, value, most, cancellable: true }),
        }), done);
        clearTimeout(timer.current);
        abort.current = timer.current = null;
        setWork(null);
        return good;
    };
    return { work, begin };
}

export function Work({ work }) {
    if (!work) return null;
    const { title, text, value, most, cancelling, cancellable, cancel } = work;
    return html`<div class="work card" role="status"><span class="spinner" aria-hidden="true"></span>
        <span class="work-text">${title}${text && text !== title && html` <small>${text}</small>`}</span>
        ${most > 0 && html`<progress class="meter" value=${value} max=${most} aria-label=${title}></progress>`}
        ${cancellable && html`<button class="small" disabled=${cancelling} onClick=${cancel}>${cancelling ? 'Cancelling' : 'Cancel'}</button>`}</div>`;
}
