// Events of a type on a socket of their own: those that the service keeps, then each that comes. It is connected again after
// an interruption, and goes on after the last event it has seen. (The socket of live.js begins with what is new.)
import { checkLogin, socket } from './api.js';

const together = 250;  // milliseconds: many events at once are one change of the page
const pause = 2000;    // milliseconds before it is connected again

// Calls `onEvents(array, oldest first)`, `onState(here)`. Returns what ends it.
export function followKept(eventType, onEvents, onState = () => {}) {
    let open = null, last = 0, waiting = [], timer = null, again = null, ended = false;
    const tell = () => {
        timer = null;
        onEvents(waiting);
        waiting = [];
    };
    const connect = () => {
        open = socket(`/1.0/events?type=${eventType}&since=${last}`);
        open.onopen = () => onState(true);
        open.onmessage = ({ data }) => {
            const event = JSON.parse(data);
            if (event.sequence !== undefined) last = event.sequence;
            waiting.push(event);
            timer ??= setTimeout(tell, together);
        };
        open.onclose = () => {
            if (ended) return;
            onState(false);
            checkLogin();
            again = setTimeout(connect, pause);
        };
    };
    connect();
    return () => {
        ended = true;
        clearTimeout(timer);
        clearTimeout(again);
        open.close();
    };
}
