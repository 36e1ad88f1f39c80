// Small elements that many pages have.
import { html, useEffect, useState } from '../html.js';
import { ago, moment } from './format.js';
import { attempt } from './notice.js';

export const Spinner = ({ text = 'Loading' }) => html`<p class="loading" role="status"><span class="spinner"></span>${text} …</p>`;

// An empty list says what to do first.
export const Empty = ({ title, children }) => html`<div class="empty"><strong>${title}</strong><p>${children}</p></div>`;

export const Failure = ({ error, again }) => html`<div class="failure" role="alert"><p>${error.message}</p>
    ${again && html`<button onClick=${again}>Try again</button>`}</div>`;

const kinds = {
    good: ['running', 'ready', 'online', 'success', 'published', 'active'],
    busy: ['created', 'prepared', 'started', 'initializing', 'pending', 'paused', 'pooled', 'cancelling', 'evacuated', 'cordoned'],
    bad: ['error', 'failure', 'offline', 'failed', 'revoked'],
};
const kindOf = (state) => Object.keys(kinds).find((kind) => kinds[kind].includes(state)) ?? 'plain';

export function State({ state }) {
    const text = String(state ?? 'unknown').toLowerCase();
    return html`<span class="state ${kindOf(text)}">${text}</span>`;
}

// A time as its distance from now, kept up to date; the time itself on the pointer.
export function Ago({ time }) {
    const [, again] = useState(0);
    useEffect(() => {
        const timer = setInterval(() => again((turn) => turn + 1), 10000);
        return () => clearInterval(timer);
    }, []);
    return html`<time title=${moment(time)}>${ago(time)}</time>`;
}

// `value` of `most`; `text` says it in words.
export const Meter = ({ value, most, text }) => html`<span class="meter-line"><progress class="meter" value=${value} max=${Math.max(most, 1)} aria-label=${text}></progress><span>${text}</span></span>`;

// A field with its label, and what is said of it.
export const Field = ({ label, hint, children }) => html`<label class="field"><span>${label}</span>${children}${hint && html`<small>${hint}</small>`}</label>`;

export function CopyButton({ text, label = 'Copy' }) {
    const [copied, setCopied] = useState(false);
    const copy = () => attempt(async () => {
        await navigator.clipboard.writeText(text);
        setCopied(true);
        setTimeout(setCopied, 2000, false);
    });
    return html`<button class="small" onClick=${copy}>${copied ? 'Copied' : label}</button>`;
}

// A page: its name, what can be done, what it shows.
export const Page = ({ title, actions, children }) => html`<section class="page" aria-label=${title}>
    <header class="page-head"><h1 tabindex="-1">${title}</h1><div class="actions">${actions}</div></header>${children}</section>`;
