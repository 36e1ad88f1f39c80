// Updates of the place through one command in the instance, which takes a line each; it is started with the first one.
import { agent, run } from '../../agent.js';

const pace = 100;       // milliseconds between two updates at least
const encoder = new TextEncoder();

export class LocationFeed {
    // `onSent(place)`, `onProblem(text)`: why the instance refuses.
    constructor(instance, { onSent, onProblem }) {
        Object.assign(this, { instance, onSent, onProblem, waiting: null, write: null, abort: null, timer: null });
    }

    // The newest place counts: one that comes too soon takes the place of the one before.
    send(place) {
        this.waiting = place;
        this.timer ??= setTimeout(() => this.pass(), this.write ? pace : 0);
    }

    pass() {
        this.timer = null;
        if (!this.write) return this.start();
        const place = this.waiting;
        this.write(encoder.encode(`${JSON.stringify(place)}\n`)).then((taken) => taken && this.onSent(place));
    }

    start() {
        if (this.abort) return;
        this.abort = new AbortController();
        const { signal } = this.abort;
        const input = (send) => new Promise((resolve) => {
            this.write = send;
            signal.addEventListener('abort', resolve);
            this.pass();
        });
        run(this.instance, agent('ctl', 'location', 'feed'), { input, signal }).catch((error) => {
            if (!signal.aborted) this.onProblem(error.message);
        }).finally(() => { this.write = this.abort = null; });
    }

    close() {
        clearTimeout(this.timer);
        this.abort?.abort();
    }
}
