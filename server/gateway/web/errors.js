// Why a stream or a request ended, in words for people. The numbers are those of clients of this family.
export const codes = {
    invalidArgument: 1, signallingFailed: 2, connectorFailed: 3, notSupported: 4, notAllowed: 5, internal: 6, timeout: 7,
    sessionFailed: 8, iceFailed: 9, connectionLost: 10, signallingTimeout: 11, userMedia: 12, controlChannel: 13,
    disconnected: 14,
};

export class StreamError extends Error {
    constructor(code, message, details = {}) {
        super(message);
        this.name = 'StreamError';
        this.code = codes[code];
        this.reason = code;
        Object.assign(this, details);
    }
}

function hasTurn(iceServers) {
    return iceServers.some((server) => [].concat(server.urls).some((url) => /^turns?:/.test(url)));
}

export function iceFailed(iceServers) {
    const advice = hasTurn(iceServers)
        ? 'Not even the relay (TURN) the gateway offers could be used: is it running, and does a firewall let this device reach it?'
        : 'The gateway offers no relay (TURN), so this device must be able to reach the instance directly.';
    return new StreamError('iceFailed', `No network path to the instance was found. ${advice}`);
}

export function connectionLost() {
    return new StreamError('connectionLost', 'The connection to the instance was lost and did not come back within 10 seconds.');
}

export function noCodec(offered) {
    const what = offered.length ? ` (${offered.join(', ')})` : '';
    return new StreamError('notSupported', `This browser cannot decode the video the instance sends${what}.`);
}

const ends = {
    replaced: ['disconnected', () => 'another client has taken it over'],
    stopped: ['disconnected', (text) => text],
    not_read: ['disconnected', (text) => text],
    connection_failed: ['connectionLost', (text) => text],
    deleted: ['sessionFailed', (text) => `its session was ended: ${text}`],
    idle: ['sessionFailed', (text) => `its session was ended: ${text}`],
    expired: ['sessionFailed', (text) => `its session was ended: ${text}`],
    instance_deleted: ['sessionFailed', (text) => `its session was ended: ${text}`],
    client_left: ['sessionFailed', (text) => `its session was ended: ${text}`],
    ended: ['sessionFailed', (text) => `its session was ended: ${text}`],
    failed: ['sessionFailed', (text) => `the instance failed: ${text}`],
    gateway_stopping: ['signallingFailed', (text) => text],
};

// Of an `error` message of gateway or instance: its code, where it has one we know, and its words.
export function endOf({ code, message }) {
    if (!ends[code]) return new StreamError('signallingFailed', `The instance refused the stream: ${message}.`, { end: code });
    const [reason, words] = ends[code];
    return new StreamError(reason, `This stream has ended: ${words(message)}.`, { end: code });
}

// Whether another try may bring the stream back.
export function isPassing({ code }) {
    return !ends[code] || ['stopped', 'connection_failed', 'gateway_stopping'].includes(code);
}

// What a session's record tells about the end of its stream; nothing when it tells nothing.
export function sessionEnd(session) {
    if (!session) return new StreamError('sessionFailed', 'The session is gone: it was ended.');
    if (session.status === 'error') {
        return new StreamError('sessionFailed', `The instance failed: ${session.status_message || 'it gave no reason'}.`);
    }
    if (session.status === 'terminating' || session.status === 'terminated') {
        const why = session.status_message ? `: ${session.status_message}` : '';
        return new StreamError('sessionFailed', `The session was ended${why}.`);
    }
    return undefined;
}
