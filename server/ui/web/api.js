// Requests to the API: envelopes, errors with the API's own text, pages of lists, operations to their end.
import { credentials, protocols, sessionKey } from './credentials.js';

export class ApiError extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

const listeners = new Set();
const loggedOut = () => listeners.forEach((listener) => listener());

// Calls `listener` when a request is refused because nobody is logged in (any more), or one may be somebody else now. Returns what ends that.
export function onLoggedOut(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

export const away = () => new ApiError(0, 'The service does not answer');

// The envelope in the text of an answer; throws its error.
export function envelope(status, text) {
    let body;
    try {
        body = JSON.parse(text);
    } catch {
        throw new ApiError(status, `The service has answered ${status} without a message`);
    }
    if (status < 400) return body;
    if (status === 403 && /^Not Authorized($|: the cookie)/.test(body.error)) loggedOut();
    throw new ApiError(status, body.error ?? `The service has answered ${status}`);
}

const reply = async (response) => envelope(response.status, await response.text());

// The answer as it comes.
export function request(path, { headers, ...options } = {}) {
    return fetch(path, { cache: 'no-store', ...options, headers: { ...credentials(), ...headers } }).catch((error) => {
        throw error.name === 'AbortError' ? error : away();
    });
}

// The answer, when it is no error: not in an envelope.
export async function raw(path, options) {
    const response = await request(path, options);
    if (!response.ok) await reply(response);
    return response;
}

// The whole envelope. `body`: JSON, or a Blob to upload; `headers`: besides it.
export async function call(method, path, body, { headers = {}, signal } = {}) {
    const upload = body instanceof Blob;
    const options = { method, signal, headers: { ...headers } };
    if (body !== undefined) {
        options.headers['Content-Type'] = upload ? 'application/octet-stream' : 'application/json';
        options.body = upload ? body : JSON.stringify(body);
    }
    return reply(await request(path, options));
}

export const get = async (path, options) => (await call('GET', path, undefined, options)).metadata;
export const post = async (path, body, options) => (await call('POST', path, body, options)).metadata;
export const put = async (path, body, options) => (await call('PUT', path, body, options)).metadata;
export const patch = async (path, body, options) => (await call('PATCH', path, body, options)).metadata;
export const remove = async (path, body, options) => (await call('DELETE', path, body, options)).metadata;

// A record and its entity tag, for If-Match: { value, etag }.
export async function getTagged(path, { signal } = {}) {
    const response = await request(path, { signal });
    return { value: (await reply(response)).metadata, etag: response.headers.get('ETag') };
}

// Text that is no envelope: logs, metrics, manifests.
export const text = async (path, options) => (await raw(path, options)).text();

const withQuery = (path, query) => `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`;

// All records of a list, in pages, so that the first ones are shown before the last ones have come.
export async function list(path, { onPage, size = 500, signal } = {}) {
    const records = [];
    for (let total = 1; records.length < total;) {
        const answer = await call('GET', withQuery(path, { recursion: 1, offset: records.length, limit: size }), undefined, { signal });
        total = answer.total_size ?? answer.metadata.length;
        if (answer.metadata.length === 0) break;
        records.push(...answer.metadata);
        onPage?.(records, total);
    }
    return records;
}

const ended = (operation) => operation.status_code >= 200;

// Waits for an operation to end; throws its error. `onProgress(operation)` hears of it about once a second.
export async function finish(operation, { onProgress, signal } = {}) {
    let current = operation;
    while (!ended(current)) {
        onProgress?.(current);
        current = await get(`/1.0/operations/${current.id}/wait?timeout=1`, { signal }).catch((error) => {
            if (error.status === 0) return new Promise((resolve) => { setTimeout(resolve, 1000, current); });
            throw error;
        });
    }
    onProgress?.(current);
    if (current.status_code !== 200) throw new ApiError(current.status_code, current.err || current.status);
    return current;
}

// A request that may start an operation: its metadata, or the operation when it has ended.
export async function run(method, path, body, { onProgress, ...options } = {}) {
    const answer = await call(method, path, body, options);
    return answer.type === 'async' ? finish(answer.metadata, { onProgress, signal: options.signal }) : answer.metadata;
}

// Asks whether the user is still logged in, and calls the listeners when not: a WebSocket does not tell why it was refused.
export async function checkLogin() {
    const server = await get('/1.0').catch(() => null);
    if (server && server.auth !== 'trusted') loggedOut();
}

// Who one is may have changed: the listeners ask.
export const lookAgain = loggedOut;

// A WebSocket of the service.
export function socket(path) {
    const url = new URL(path, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    return new WebSocket(url, protocols());
}

// Has the browser save what `path` answers, however long it is. It sends no key by itself: a ticket takes its place.
export async function download(path) {
    const link = document.createElement('a');
    link.href = sessionKey() ? withQuery(path, await post('/1.0/sessions/tickets', { path }).then(({ ticket }) => ({ ticket }))) : path;
    link.download = '';
    link.click();
}
