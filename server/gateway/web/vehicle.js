// Vehicle properties over the control channel. Answers come in the order of the requests, one line for get and one for set.
import { StreamError } from './errors.js';

const answerLimit = 1000;  // ms

export class VehicleProperties {
    // `send(type, data)` writes to the control channel.
    constructor(send) {
        this.send = send;
        this.waiting = { get: [], set: [] };
        this.configurations = [];
    }

    requestConfigurations() {
        this.send('vhal::get-all-prop-configs');
    }

    get(property) {
        return this.request('get', property);
    }

    set(value) {
        return this.request('set', value);
    }

    request(kind, data) {
        return new Promise((resolve, reject) => {
            const entry = { resolve, reject };
            // Given up, it keeps its place: its answer may still come.
            entry.timer = setTimeout(() => reject(new StreamError('timeout', 'The vehicle did not answer within a second.')), answerLimit);
            this.waiting[kind].push(entry);
            this.send(`vhal::${kind}`, data);
        });
    }

    // True if the message was one of ours. `onReady` is called with the first configurations that are not empty.
    receive(type, data, onReady) {
        if (type === 'vhal-prop-configs') {
            const first = this.configurations.length === 0 && data.length > 0;
            this.configurations = data;
            if (first) onReady?.(data);
            return true;
        }
        const kind = { 'vhal-get-answer': 'get', 'vhal-set-answer': 'set' }[type];
        if (!kind) return false;
        const entry = this.waiting[kind].shift();
        if (!entry) return true;
        clearTimeout(entry.timer);
        if (data.error) entry.reject(new StreamError('invalidArgument', `The vehicle refused: ${data.error}`));
        else entry.resolve(data);
        return true;
    }

    close() {
        for (const entry of [...this.waiting.get, ...this.waiting.set]) {
            clearTimeout(entry.timer);
            entry.reject(new StreamError('disconnected', 'The stream ended.'));
        }
        this.waiting = { get: [], set: [] };
    }
}
