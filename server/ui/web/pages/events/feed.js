// The events that the page shows: those that come, and on request those that the service keeps. Bounded; while it is paused,
// what comes waits aside.
import { socket } from '../../api.js';
import { onEvent } from '../../live.js';

export const most = 2000;
const types = ['operation', 'lifecycle', 'logging'];
const pause = 200;  // milliseconds between two pictures

const numberOf = (event) => event.sequence ?? event.metadata.first ?? 0;  // a gap stands before what comes after it

export class Feed {
    constructor(show) {
        this.show = show;
        this.events = new Map();  // by number; their order is that of the numbers
        this.waiting = new Map();
        this.paused = false;
        this.newest = null;  // number of the newest live event
        this.ends = [...types, 'gap'].map((type) => onEvent(type, (event) => this.live(event)));
    }

    live(event) {
        if (event.sequence !== undefined) this.newest = event.sequence;
        this.take(event);
        this.endReplay();
    }

    take(event) {
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
        this.show({ events: newestFirst, waiting: this.waiting.size, paused: this.paused, replays: Boolean(this.replay) });
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

    // Reads all that the service keeps, until that has reached what came live.
    loadKept() {
        if (this.replay) return;
        const replay = (this.replay = socket(`/1.0/events?type=${types}&since=0`));
        replay.onmessage = ({ data }) => {
            const event = JSON.parse(data);
            this.take(event);
            this.read = event.sequence ?? this.read;
            this.endReplay();
        };
        replay.onclose = () => {
            this.replay = null;
            this.soon();
        };
        this.draw();
    }

    endReplay() {
        if (this.replay && this.newest !== null && this.read >= this.newest) this.replay.close();
    }

    end() {
        this.ends.forEach((end) => end());
        clearTimeout(this.timer);
        this.show = () => {};
        this.replay?.close();
    }
}
