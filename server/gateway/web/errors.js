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

const ended = (what) => (text) => `This stream has ended: ${what}${text}.`;
const refused = ['signallingFailed', (text) => `The instance refused the stream: ${text}.`];
const sessionEnded = ['sessionFailed', ended('its session was ended: ')];
const ends = {
    refused,
    not_ready: refused,
    replaced: ['disconnected', () => 'This stream has ended: another client has taken it over.'],
    stopped: ['disconnected', ended('')],
    not_read: ['disconnected', ended('')],
    connection_failed: ['connectionLost', ended('')],
    deleted: sessionEnded,
    idle: sessionEnded,
    expired: sessionEnded,
    instance_deleted: sessionEnded,
    client_left: sessionEnded,
    ended: sessionEnded,
    failed: ['sessionFailed', ended('the instance failed: ')],
    gateway_stopping: ['signallingFailed', ended('')],
};
const passing = ['refused', 'not_ready', 'stopped', 'connection_failed', 'gateway_stopping'];

// A message without a code, as older gateways and instances send, is a refusal; a code that is not known is an end.
// A guest chooses both: they may be anything.
function known(code = 'refused') {
    return typeof code === 'string' && Object.hasOwn(ends, code) ? code : 'ended';
}

// Of an `error` message of gateway or instance: what its code means, in its words.
export function endOf({ code, message }) {
    const [reason, words] = ends[known(code)];
    return new StreamError(reason, words(typeof message === 'string' ? message : 'no reason is given'), { end: code });
}

// Whether another try may bring the stream back.
export function isPassing({ code }) {
    return passing.includes(known(code));
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
