// The one WebSocket of events. It is connected again after an interruption and continues after the last event it has
// seen, so that listeners miss nothing while the daemon restarts.
import { checkLogin, lookAgain, socket } from './api.js';

const listeners = new Map();  // type -> Set of functions
const watchers = new Set();   // of the connection
let connection = null;
let last = null;      // number of the newest event
let pause = 500;      // milliseconds before the next attempt
let state = 'away';   // 'here': connected

function change(next) {
    if (state === next) return;
    state = next;
    for (const watcher of watchers) watcher(state);
}

function tell(event) {
    for (const listener of listeners.get(event.type) ?? []) listener(event);
}

function take({ data }) {
    const event = JSON.parse(data);
    if (event.sequence !== undefined) last = event.sequence;
    tell(event);
}

function connect() {
    const since = last === null ? '' : `&since=${last}`;
    connection = socket(`/1.0/events?type=operation,lifecycle,logging${since}`);
    connection.onmessage = take;
    connection.onopen = () => {
        pause = 500;
        change('here');
        if (last === null) tell({ type: 'gap', metadata: {} });  // nothing says what has happened before
    };
    connection.onclose = ({ code }) => {
        change('away');
        if (!connection) return;
        code === 1008 ? lookAgain() : checkLogin();  // 1008: the service has ended it, because a session or a role has
        setTimeout(() => connection && connect(), pause);
        pause = Math.min(pause * 2, 15000);
    };
}

export function start() {
    if (!connection) connect();
}

export function stop() {
    const open = connection;
    connection = null;
    last = null;
    open?.close();
}

// Calls `listener(event)` for each event of the type; of `gap`, when events are missing. Returns what ends that.
export function onEvent(type, listener) {
    if (!listeners.has(type)) listeners.set(type, new Set());
    listeners.get(type).add(listener);
    return () => listeners.get(type).delete(listener);
}

// Until there is a connection.
export const connected = () => new Promise((resolve) => {
    const watcher = (now) => {
        if (now !== 'here') return;
        watchers.delete(watcher);
        resolve();
    };
    watchers.add(watcher);
    watcher(state);
});

// Calls `watcher('here' or 'away')` now and at each change. Returns what ends that.
export function onConnection(watcher) {
    watchers.add(watcher);
    watcher(state);
    return () => watchers.delete(watcher);
}
