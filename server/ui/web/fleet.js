// The instances as the events leave them: one copy for all pages that show many. Loaded in pages while somebody looks;
// later what events name is read again, many at once, with rests between the requests: about four a second at most.
import { call } from './api.js';
import { rowOf } from './fleet_row.js';
import { useEffect, useState } from './html.js';
import { onConnection, onEvent } from './live.js';

const pageSize = 500;   // records of a page
const batchSize = 200;  // ids of a request
const calm = 500;       // milliseconds in which changes are collected
const rest = 250;       // milliseconds after each request
const trouble = 3000;   // milliseconds after a failure
const mostChanged = 20000;

// Until events come, or for so long: what changes before is not told.
const connected = (most) => new Promise((resolve) => {
    const end = onConnection((state) => state === 'here' && resolve());
    setTimeout(() => resolve(end()), most);
});

const idsOf = ({ resources }) => [...resources?.instances ?? [], ...resources?.containers ?? []].map((url) => url.split('/').pop());

class Fleet {
    rows = new Map();       // id -> row
    changed = new Set();    // ids that have to be read again
    stale = true;           // everything has to be
    watchers = new Set();
    state = { rows: [], total: 0, complete: false };

    // Calls `watcher(state)` when something has changed. Returns what ends that.
    watch(watcher) {
        this.follow();
        this.watchers.add(watcher);
        this.soon(0);
        watcher(this.state);
        return () => this.watchers.delete(watcher);
    }

    // Also while nobody looks: who comes back sees the present.
    follow() {
        if (this.followed) return;
        this.followed = true;
        onEvent('lifecycle', ({ metadata }) => this.mark([metadata.source.split('/').pop()], metadata.action === 'container-removed'));
        onEvent('operation', ({ metadata }) => metadata.status_code >= 200 && this.mark(idsOf(metadata)));
        onEvent('gap', () => this.reload());
    }

    mark(ids, gone = false) {
        for (const id of ids) {
            this.changed.add(id);  // one that is gone as well: an answer on its way may still have it
            if (gone && this.rows.delete(id)) this.tell();
        }
        if (this.changed.size > mostChanged) this.stale = true;
        if (this.stale) this.changed.clear();
        if (this.stale || this.changed.size) this.soon(calm);
    }

    reload() {
        this.stale = true;
        this.soon(calm);
    }

    soon(delay) {
        if (this.busy || this.timer || this.watchers.size === 0) return;
        this.timer = setTimeout(() => this.round(), delay);
    }

    async round() {
        this.timer = null;
        this.busy = true;
        this.requests = 0;
        let pause = 0;
        try {
            await this.catchUp();
            this.error = null;
        } catch (error) {
            this.error = error;
            this.stale = true;
            pause = trouble;
        }
        this.busy = false;
        this.tell();
        if (this.stale || this.changed.size) this.soon(Math.max(calm, this.requests * rest, pause));
    }

    // What needs fewer requests: pages of everything, or the changed ones by their ids.
    async catchUp() {
        const inPages = Math.ceil(this.rows.size / pageSize), byIds = Math.ceil(this.changed.size / batchSize);
        if (this.stale || byIds > inPages) return this.readAll();
        const ids = [...this.changed];
        this.changed.clear();
        for (let at = 0; at < ids.length; at += batchSize) await this.readAgain(ids.slice(at, at + batchSize));
    }

    async request(query) {
        this.requests += 1;
        return call('GET', `/1.0/instances?recursion=1&${query}`);
    }

    take(records) {
        for (const record of records) this.rows.set(record.id, rowOf(record));
        this.tell();
    }

    async readAgain(ids) {
        const { metadata } = await this.request(`id=${ids.join()}`);
        const found = new Set(metadata.map(({ id }) => id));
        for (const id of ids) if (!found.has(id)) this.rows.delete(id);
        this.take(metadata);
    }

    // Records that go meanwhile shift those behind them: a page begins with one that is known already, or the one before is read again.
    async readAll() {
        if (!this.state.complete) await connected(2000);
        this.stale = false;
        this.changed.clear();
        const found = new Set();
        for (let offset = 0, more = true; more;) {
            const { metadata, total_size: total } = await this.request(`offset=${offset}&limit=${pageSize}`);
            if (offset > 0 && !found.has(metadata[0]?.id)) {
                offset = Math.max(0, offset - pageSize);
                continue;
            }
            for (const { id } of metadata) found.add(id);
            this.total = total;
            this.take(metadata);
            offset += metadata.length - 1;
            more = offset + 1 < total;
        }
        for (const id of this.rows.keys()) if (!found.has(id)) this.rows.delete(id);
        this.complete = true;
    }

    // Not more than ten times a second; the first rows at once.
    tell() {
        this.telling ??= setTimeout(() => {
            this.telling = null;
            const rows = [...this.rows.values()];
            this.state = { rows, total: this.complete ? rows.length : Math.max(this.total ?? 0, rows.length), complete: this.complete, error: this.error };
            for (const watcher of this.watchers) watcher(this.state);
        }, this.state.rows.length > 0 ? 100 : 0);
    }
}

export const fleet = new Fleet();

// { rows, total, complete, error }: `total` of those that exist, `complete` once all have come.
export function useFleet() {
    const [state, setState] = useState(fleet.state);
    useEffect(() => fleet.watch(setState), []);
    return state;
}
