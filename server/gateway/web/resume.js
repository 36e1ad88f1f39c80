// How a stream that was interrupted comes back: when the next try is made, and what ends the trying.
import { StreamError, sessionEnd } from './errors.js';

const delays = [0, 1, 2, 4, 8, 15];  // seconds before each try; the last one before all further ones
export const mostTries = 14;         // about three minutes of them

// Resolves when it is time for this try: sooner when the network or the page is back, and when `signal` says so.
export function nextTry(number, signal) {
    return new Promise((resolve) => {
        const done = new AbortController();
        const go = () => {
            clearTimeout(timer);
            done.abort();
            resolve();
        };
        const timer = setTimeout(go, (delays[number] ?? delays.at(-1)) * 1000);
        const on = (target, name, handler) => target.addEventListener(name, handler, { signal: done.signal });
        on(window, 'online', go);
        on(document, 'visibilitychange', () => document.hidden || go());
        on(signal, 'abort', go);
        if (signal.aborted) go();
    });
}

// Whether there is no use in asking again: an error for people, or nothing.
export async function finalRefusal(error, gateway, sessionId) {
    if (error.status === 401 || error.status === 403) return error;
    if (error.status === 404) return sessionEnd(undefined);
    if (error.status !== 400) return undefined;
    const session = await gateway.session(sessionId).catch(() => undefined);
    if (session && !session.joinable) return new StreamError('connectionLost', 'The connection to the instance was lost, and its session cannot be joined again.');
    return session && sessionEnd(session);
}
