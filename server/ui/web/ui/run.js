// Many operations, some at a time: what has ended and how, what has not begun yet. One run at a time, for all pages: it goes
// on while others are shown.
import { get, remove } from '../api.js';
import { useEffect, useState } from '../html.js';
import { connected, onEvent } from '../live.js';

const parallel = 8;
const lookAgain = 10000;  // milliseconds without an event after which an operation is asked for
const mostUnclaimed = 1000;
const ended = ({ status_code: code }) => code >= 200;

// Ends of operations as events tell them: a request that waits would hold one of the few connections of the browser.
class Endings {
    early = new Map();    // ended before somebody has asked
    waiting = new Map();

    constructor() {
        this.close = onEvent('operation', ({ metadata }) => ended(metadata) && this.take(metadata));
    }

    take(operation) {
        const resolve = this.waiting.get(operation.id);
        this.waiting.delete(operation.id);
        if (resolve) return resolve(operation);
        this.early.set(operation.id, operation);
        if (this.early.size > mostUnclaimed) this.early.delete(this.early.keys().next().value);
        return undefined;
    }

    async of(operation) {
        const known = ended(operation) ? operation : this.early.get(operation.id);
        if (known) return known;
        let timer;
        const told = new Promise((resolve) => { this.waiting.set(operation.id, resolve); });
        const asked = new Promise((resolve, reject) => {
            const ask = () => get(`/1.0/operations/${operation.id}`).then((record) => ended(record) && this.take(record),
                (error) => error.status !== 0 && reject(error));
            timer = setInterval(ask, lookAgain);
        });
        return Promise.race([told, asked]).finally(() => {
            clearInterval(timer);
            this.waiting.delete(operation.id);
        });
    }
}

// Who may not do this to one instance may not do it to the others.
const isRefused = ({ status, message }) => status === 403 && message.startsWith('Not Authorized');

// `cancels`: operations that run are cancelled as well. `Results` shows { results } at the end. An item: { label, id (of an instance, where it has one), begin(): starts its operation and gives its record }.
class Run {
    constructor(title, items, { cancels = false, Results = null } = {}) {
        Object.assign(this, { title, items, cancels, Results, next: 0, failures: [], results: [], running: new Map(), cancelled: false, ended: false });
        this.endings = new Endings();
        this.stopped = new Promise((resolve) => { this.stop = resolve; });
    }

    get done() { return this.failures.length + this.results.length; }

    async one(item) {
        try {
            const begun = await item.begin();
            this.running.set(item, begun);
            if (this.cancelled) this.cancelOne(begun);
            const operation = await this.endings.of(begun);
            if (operation.status_code !== 200) throw new Error(operation.err || operation.status);
            const urls = Object.values(operation.resources ?? {}).flat();
            this.results.push({ item, id: item.id ?? urls[0]?.split('/').pop() });
        } catch (error) {
            this.failures.push({ item, message: error.message });
            if (isRefused(error)) this.cancel();
        }
        this.running.delete(item);
        tell();
    }

    async worker() {
        while (this.next < this.items.length && !this.cancelled) {
            await Promise.race([connected(), this.stopped]);
            if (!this.cancelled && this.next < this.items.length) await this.one(this.items[this.next++]);
        }
    }

    async go() {
        await Promise.all(Array.from({ length: Math.min(parallel, this.items.length) }, () => this.worker()));
        this.endings.close();
        this.ended = true;
        tell();
    }

    cancelOne(operation) {
        if (this.cancels && operation.may_cancel !== false) remove(`/1.0/operations/${operation.id}`).catch(() => {});
    }

    // What has not begun does not; what has is cancelled too where the run was told to.
    cancel() {
        this.cancelled = true;
        this.stop();
        for (const operation of this.running.values()) this.cancelOne(operation);
        tell();
    }
}

let current = null, timer = null;
const watchers = new Set();

const guard = (event) => event.preventDefault();  // the browser asks before the page is left

function tell() {
    timer ??= setTimeout(() => {
        timer = null;
        if (!current || current.ended) window.removeEventListener('beforeunload', guard);
        for (const watcher of watchers) watcher({ run: current });
    }, 50);
}

export const isBusy = () => Boolean(current && !current.ended);

export function beginRun(title, items, options) {
    if (isBusy()) throw new Error(`“${current.title}” has not ended yet`);
    current = new Run(title, items, options);
    window.addEventListener('beforeunload', guard);
    current.go();
    tell();
    return current;
}

export function closeRun() {
    if (!isBusy()) current = null;
    tell();
}

// The present run, or the one that has ended and was not closed yet.
export function useRun() {
    const [state, setState] = useState({ run: current });
    useEffect(() => {
        watchers.add(setState);
        setState({ run: current });
        return () => watchers.delete(setState);
    }, []);
    return state.run;
}
