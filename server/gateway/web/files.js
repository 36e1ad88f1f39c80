// Files between this device and a folder of the instance.
import { BulkReceiver, BulkSender } from './bulk.js';

const mostFiles = 1000;  // of one drop

// All files below an entry of a drop, with their paths.
async function filesBelow(entry, before = '') {
    const path = before + entry.name;
    if (entry.isFile) return [{ path, file: await new Promise((resolve, reject) => { entry.file(resolve, reject); }) }];
    const reader = entry.createReader(), found = [];
    for (;;) {
        const entries = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
        if (!entries.length || found.length > mostFiles) return found;
        for (const inner of entries) found.push(...await filesBelow(inner, `${path}/`));
    }
}

// Of a drop: files and folders. The entries are there only while the event lasts, so they are asked for at once.
export async function droppedFiles(data) {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const found = [];
    for (const entry of entries) found.push(...await filesBelow(entry));
    return found.slice(0, mostFiles);
}

export class Files {
    capability = 'files';
    label = 'svc:files';

    // `onAllowed({toInstance, fromInstance})`: what the operator allows. `onFiles([{name, size, time}])` answers list().
    constructor({ onAllowed, onFiles } = {}) {
        Object.assign(this, { onAllowed, onFiles, number: 0 });
        this.allowed = { toInstance: false, fromInstance: false };
        this.waiting = new Map();  // id -> what is done when it has ended
    }

    close() {
        for (const end of [...this.waiting.values()]) end({ error: new Error('The connection has ended.') });
    }

    attach(channel) {
        this.close();
        this.channel = channel;
        this.sender = new BulkSender(channel);
        channel.onclose = () => this.close();
        channel.onmessage = ({ data }) => (typeof data === 'string' ? this.told(JSON.parse(data)) : this.receive(data));
    }

    told({ type, id, ...message }) {
        if (type === 'allowed') {
            this.allowed = { toInstance: message.to_instance, fromInstance: message.from_instance };
            this.largest = message.largest;
            this.onAllowed?.(this.allowed);
        } else if (type === 'files') this.onFiles?.(message.files);
        else if (type === 'ack' && id === this.sending) this.sender.acknowledge(message.bytes);
        else if (type === 'stored') this.waiting.get(id)?.({ value: message.name });
        else if (type === 'failed') this.waiting.get(id)?.({ error: new Error(message.message) });
        else if (type === 'file' && id === this.fetching) this.incoming = new BulkReceiver(message.size, '');
        else if (type === 'sent' && id === this.fetching) this.finish(id);
    }

    finish(id) {
        if (this.incoming?.received === this.incoming?.size) this.waiting.get(id)?.({ value: this.incoming?.blob() });
        else this.refuse(id);
    }

    refuse(id) {
        this.waiting.get(id)?.({ error: new Error('The instance has sent a file of another size than it had announced.') });
    }

    say(message) {
        if (this.channel?.readyState === 'open') this.channel.send(JSON.stringify(message));
    }

    // What the instance says about `id`; throws what it says against it.
    answerAbout(id, signal) {
        return new Promise((resolve, reject) => {
            const cancel = () => {
                this.say({ type: 'cancel', id });
                this.waiting.get(id)?.({ error: signal.reason });
            };
            this.waiting.set(id, ({ value, error }) => {
                this.waiting.delete(id);
                signal?.removeEventListener('abort', cancel);
                if (error) reject(error);
                else resolve(value);
            });
            signal?.addEventListener('abort', cancel);
        });
    }

    // One after the other. Resolves with the name that the file has in the instance.
    upload(file, { path = file.name, signal, onProgress } = {}) {
        const sent = (this.lastUpload ?? Promise.resolve()).then(() => this.put(file, path, signal, onProgress));
        this.lastUpload = sent.catch(() => {});
        return sent;
    }

    async put(file, path, signal, onProgress) {
        signal?.throwIfAborted();
        if (this.channel?.readyState !== 'open') throw new Error('The instance takes no files.');
        const id = this.sending = ++this.number, over = new AbortController();
        this.say({ type: 'put', id, path, size: file.size });
        const answer = this.answerAbout(id, signal).finally(() => over.abort());
        const sending = this.sender.send(file, { signal: over.signal, onProgress });
        const [result] = await Promise.allSettled([answer, sending]);
        if (result.status === 'rejected') throw result.reason;
        return result.value;
    }

    list() {
        this.say({ type: 'list' });
    }

    // Resolves with a Blob. One at a time.
    fetch(name, { signal, onProgress } = {}) {
        const fetched = (this.lastFetch ?? Promise.resolve()).then(() => this.get(name, signal, onProgress));
        this.lastFetch = fetched.catch(() => {});
        return fetched;
    }

    async get(name, signal, onProgress) {
        signal?.throwIfAborted();
        if (this.channel?.readyState !== 'open') throw new Error('The instance offers no files.');
        const id = this.fetching = ++this.number;
        this.onFetched = onProgress;
        this.incoming = undefined;
        this.say({ type: 'get', id, name });
        try {
            return await this.answerAbout(id, signal);
        } finally {
            this.incoming = this.fetching = undefined;
        }
    }

    receive(bytes) {
        if (!this.incoming) return;
        if (this.incoming.received + bytes.byteLength > this.incoming.size) {
            this.say({ type: 'cancel', id: this.fetching });
            this.refuse(this.fetching);
            this.incoming = undefined;
            return;
        }
        this.incoming.add(bytes);
        this.onFetched?.(this.incoming.received, this.incoming.size);
    }
}
