// The events that the page shows: those that come, and on request those that the service keeps. Bounded; while it is paused,
// what comes waits aside.
import { socket } from '../../api.js';
import { onConnection, onEvent } from '../../live.js';

export const most = 2000;
const types = ['operation', 'lifecycle', 'logging'];
const pause = 200;  // milliseconds between two pictures
const quiet = 1000;  // milliseconds without an event after which all that is kept has come

const numberOf = (event) => event.sequence ?? event.metadata.first ?? 0;  // a gap stands before what comes after it

export class Feed {
    constructor(show) {
        this.show = show;
        this.events = new Map();  // by number; their order is that of the numbers
        this.waiting = new Map();
        this.paused = false;
        this.connected = false;
        const follow = (state) => {
            this.connected = state === 'here';
            this.soon();
        };
        this.ends = [...[...types, 'gap'].map((type) => onEvent(type, (event) => this.take(event))), onConnection(follow)];
    }

    take(event) {
        if (event.type === 'gap' && event.metadata.first === undefined) return;  // the first connection: what was before is asked for by a button
        const target = this.paused ? this.waiting : this.events;
        target.set(numberOf(event), event);
        if (target.size > 2 * most) this.bound(target);
        this.soon();
    }

    // Removes the oldest events of a map.
    bound(events) {
        const numbers = [...events.keys()].sort((a, b) => a - b);
        for (const number of numbers.slice(0, -most)) events.delete(number);
    }

    soon() {
        this.timer ??= setTimeout(() => this.draw(), pause);
    }

    draw() {
        clearTimeout(this.timer);
        this.timer = null;
        this.bound(this.events);
        this.bound(this.waiting);
        const newestFirst = [...this.events.values()].sort((a, b) => numberOf(b) - numberOf(a));
        this.show({ events: newestFirst, waiting: this.waiting.size, paused: this.paused, connected: this.connected, replays: Boolean(this.replay) });
    }

    setPaused(paused) {
        this.paused = paused;
        if (!paused) {
            for (const [number, event] of this.waiting) this.events.set(number, event);
            this.waiting.clear();
        }
        this.draw();
    }

    clear() {
        this.events.clear();
        this.waiting.clear();
        this.draw();
    }

    // Reads all that the service keeps. What comes afterwards comes live, too: nothing is missed when this ends early.
    loadKept() {
        if (this.replay) return;
        const replay = (this.replay = socket(`/1.0/events?type=${types}&since=0`));
        const wait = () => {
            clearTimeout(this.calm);
            this.calm = setTimeout(() => replay.close(), quiet);
        };
        replay.onopen = wait;
        replay.onmessage = ({ data }) => {
            wait();
            this.take(JSON.parse(data));
        };
        replay.onclose = () => {
            this.replay = null;
            this.soon();
        };
        this.draw();
    }

    end() {
        this.ends.forEach((end) => end());
        clearTimeout(this.timer);
        clearTimeout(this.calm);
        this.show = () => {};
        this.replay?.close();
    }
}
