// The operations as events leave them: loaded once, then kept up to date, so that a page with a thousand of them asks for nothing.
import { get } from './api.js';
import { useEffect, useState } from './html.js';
import { onConnection, onEvent } from './live.js';
import { paced } from './ui/paced.js';

const most = 2000;
const pause = 250;  // milliseconds between two pictures

export const hasEnded = (operation) => operation.status_code >= 200;
const began = (operation) => Date.parse(operation.created_at) || 0;
export const secondsOf = (operation, now = Date.now()) => ((hasEnded(operation) ? Date.parse(operation.updated_at) : now) - began(operation)) / 1000;

// What runs comes first, then the newest.
const order = (left, right) => hasEnded(left) - hasEnded(right) || began(right) - began(left);

class Feed {
    constructor(show) {
        this.show = show;
        this.records = new Map();
        this.timer = null;
        this.ended = false;
    }

    async load() {
        try {
            const lists = await get('/1.0/operations?recursion=1');
            for (const record of Object.values(lists).flat()) this.keep(record);
            this.draw();
        } catch (error) {
            this.ended || this.show({ error });
        }
    }

    // An answer may be older than an event that was here before it.
    keep(record) {
        const known = this.records.get(record.id);
        if (!known || Date.parse(record.updated_at) >= Date.parse(known.updated_at)) this.records.set(record.id, record);
    }

    draw() {
        if (this.ended) return;
        const all = [...this.records.values()].sort(order);
        for (const { id } of all.slice(most)) this.records.delete(id);
        this.show({ operations: all.slice(0, most) });
    }

    take({ metadata }) {
        this.keep(metadata);
        this.timer ??= setTimeout(() => {
            this.timer = null;
            this.draw();
        }, pause);
    }

    end() {
        this.ended = true;
        clearTimeout(this.timer);
    }
}

// { operations: what runs first, then the newest, error, reload }.
export function useOperations() {
    const [state, setState] = useState({});
    const [feed] = useState(() => new Feed((next) => setState((former) => ({ ...former, error: undefined, ...next }))));
    useEffect(() => {
        const again = paced(() => feed.load());
        feed.load();
        let first = true;
        const ends = [onEvent('operation', (event) => feed.take(event)), onEvent('gap', again.soon),
            onConnection((connection) => !first && connection === 'here' && again.soon()), again.end];
        first = false;
        return () => {
            ends.forEach((end) => end());
            feed.end();
        };
    }, [feed]);
    return { ...state, reload: () => feed.load() };
}
