// The clipboard between this device and the instance: text, and pictures as PNG.
import { BulkReceiver, BulkSender } from './bulk.js';

export const largestClipboard = 8 * 1024 * 1024;  // bytes
const formats = ['text/plain', 'image/png'];
const patience = 5000;  // ms without a sign that more of what was pasted has arrived

// Of a paste event: text or a Blob; nothing where it is neither. Text comes first, as on the instance's side.
export function contentOf(data) {
    const text = data?.getData('text/plain');
    if (text) return text;
    return [...data?.items ?? []].find(({ type }) => type === 'image/png')?.getAsFile() ?? undefined;
}

// Puts it into this device's clipboard. Throws where the page has no focus or the browser wants a gesture first.
export async function writeClipboard(content) {
    if (typeof content === 'string') return navigator.clipboard.writeText(content);
    return navigator.clipboard.write([new ClipboardItem({ [content.type]: content })]);
}

export class Clipboard {
    capability = 'clipboard';
    label = 'svc:clipboard';

    // `pasting`, `copying`: the switches, as they are at first. `onCopied(content)`: instead of this device's clipboard.
    // `onAllowed({toInstance, fromInstance})`: what the operator allows. `onRefused(text)`.
    constructor({ pasting = true, copying = true, onCopied, onAllowed, onRefused } = {}) {
        Object.assign(this, { pasting, copying, onCopied, onAllowed, onRefused });
        this.allowed = { toInstance: false, fromInstance: false };
        this.abort = new AbortController();
        const on = (target, name, handler) => target.addEventListener(name, handler, { signal: this.abort.signal, capture: true });
        for (const name of ['pointerup', 'keyup']) on(document, name, () => this.write());
        on(window, 'focus', () => {
            this.write();
            this.follow();
        });
    }

    close() {
        this.abort.abort();
        this.settle?.(false);
        this.pending = undefined;
    }

    attach(channel) {
        this.settle?.(false);
        this.channel = channel;
        this.sender = new BulkSender(channel);
        this.incoming = undefined;
        channel.onclose = () => this.settle?.(false);
        channel.onmessage = ({ data }) => (typeof data === 'string' ? this.told(JSON.parse(data)) : this.receive(data));
    }

    // -- switches

    get canPaste() {
        return this.pasting && this.allowed.toInstance && this.channel?.readyState === 'open';
    }

    setPasting(on) {
        this.pasting = on;
        if (on) this.follow(true);
    }

    setCopying(on) {
        this.copying = on;
        if (!on) this.pending = this.incoming = undefined;
        this.tellCopying();
    }

    tellCopying() {
        if (this.channel?.readyState === 'open') this.channel.send(JSON.stringify({ type: 'follow', on: this.copying }));
    }

    told({ type, ...message }) {
        if (type === 'allowed') {
            this.allowed = { toInstance: message.to_instance, fromInstance: message.from_instance };
            this.tellCopying();  // a client that watched was not heard
            this.onAllowed?.(this.allowed);
        } else if (type === 'ack') this.sender.acknowledge(message.bytes);
        else if (type === 'taken') this.settle?.(true);
        else if (type === 'refused') this.refused(message.message);
        else if (type === 'copied') this.begin(message);
    }

    // -- into the instance

    // Text or a Blob of the type image/png. Resolves with whether programs of the instance have it now.
    paste(content) {
        const blob = typeof content === 'string' ? new Blob([content], { type: 'text/plain' }) : content;
        this.pasted = (this.pasted ?? Promise.resolve()).then(() => this.give(blob))
            .catch((error) => this.refused(`This could not be pasted: ${error.message}`));  // the next one is not lost with it
        if (typeof content === 'string') this.known = content;
        return this.pasted;
    }

    async give(blob) {
        if (!this.canPaste || !blob?.size) return false;
        if (blob.size > largestClipboard) return this.refused('The clipboard of the instance takes 8 MiB at most.');
        const answer = new Promise((resolve) => { this.settle = resolve; });
        this.channel.send(JSON.stringify({ type: 'paste', format: blob.type, size: blob.size }));
        const over = new AbortController();
        answer.then(() => over.abort());
        let timer;
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => this.settle(false), patience);
        };
        await this.sender.send(blob, { signal: over.signal, onProgress: wait });
        wait();
        const taken = await answer;
        clearTimeout(timer);
        return taken;
    }

    refused(text) {
        this.settle?.(false);
        this.onRefused?.(text);
        return false;
    }

    // Where the browser lets a page read the clipboard, menus of the instance can paste, too: what was copied elsewhere is
    // given when the page gets the focus. `ask`: the browser may ask the user.
    async follow(ask = false) {
        if (!this.canPaste || !navigator.clipboard?.readText) return;
        try {
            const { state } = await navigator.permissions.query({ name: 'clipboard-read' });
            if (state !== 'granted' && !(ask && state === 'prompt')) return;
            const text = await navigator.clipboard.readText();
            if (text && text !== this.known) await this.paste(text);
        } catch {
            // This browser does not; the paste event is left.
        }
    }

    // -- from the instance

    begin({ format, size }) {
        this.incoming = undefined;
        if (this.copying && formats.includes(format) && size <= largestClipboard) this.incoming = new BulkReceiver(size, format);
    }

    async receive(bytes) {
        const blob = this.incoming?.add(bytes);
        if (!blob) return;
        this.incoming = undefined;
        const content = blob.type === 'text/plain' ? await blob.text() : blob;
        if (typeof content === 'string') this.known = content;
        if (this.onCopied) this.onCopied(content);
        else {
            this.pending = content;
            this.write();
        }
    }

    // Tried again with the next key or click, or when the page has the focus.
    async write() {
        const content = this.pending;
        if (content === undefined || !document.hasFocus()) return;
        try {
            await writeClipboard(content);
            if (this.pending === content) this.pending = undefined;
        } catch (error) {
            if (error.name !== 'NotAllowedError') this.pending = undefined;
        }
    }
}
