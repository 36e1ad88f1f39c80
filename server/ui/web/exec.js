// A command in an instance, and its streams: a WebSocket each (docs/management.md, "Exec").
import { call, finish, socket } from './api.js';

const most = 4 << 20;       // bytes that may wait in the browser before more are taken: a hidden page looks once a second
const blockBytes = 128 << 10;

const opened = (stream) => new Promise((resolve) => {
    if (stream.readyState !== WebSocket.CONNECTING) resolve();
    else for (const type of ['open', 'close']) stream.addEventListener(type, resolve, { once: true });
});

// The browser tells of no moment at which it has sent what it was given.
async function room(stream) {
    while (stream.readyState === WebSocket.OPEN && stream.bufferedAmount > most) await new Promise((resolve) => { setTimeout(resolve, 5); });
    return stream.readyState === WebSocket.OPEN;
}

// Whether the stream has come to its end: an empty text, or an orderly close.
function received(stream, onData) {
    return new Promise((resolve) => {
        stream.binaryType = 'arraybuffer';
        stream.onmessage = ({ data }) => (data === '' ? resolve(true) : typeof data !== 'string' && onData?.(new Uint8Array(data)));
        stream.onclose = ({ code }) => resolve(code === 1000);
    });
}

async function result(operation) {
    try {
        const { metadata } = await finish(operation);
        return { status: metadata?.return ?? 1 };
    } catch (error) {
        return { error: error.message };
    }
}

// Starts the command as the instance's root, without a shell. With `terminal` ({ width, height }) it has one, and no
// stream of errors. `onOutput` and `onErrors` get bytes. What is returned:
//   send(bytes)      false when nobody takes them any more
//   end()            the end of its input
//   resize(columns, rows), abort()
//   done             { status }, { error }: it could not be run, or { lost: true }
export async function exec(instance, { command, environment = {}, terminal, onOutput, onErrors, signal }) {
    const { metadata: operation } = await call('POST', `/1.0/instances/${encodeURIComponent(instance)}/exec`,
        { command, environment, interactive: Boolean(terminal), ...terminal }, { signal });
    const secrets = operation.metadata.fds;
    const connect = (name) => socket(`/1.0/operations/${operation.id}/websocket?secret=${secrets[name]}`);
    const control = connect('control'), input = connect('0');
    const outputs = terminal ? [received(input, onOutput)] : [];
    const streams = [control, input];
    for (const [name, onData] of terminal ? [] : [['1', onOutput], ['2', onErrors]]) {
        streams.push(connect(name));
        outputs.push(received(streams.at(-1), onData));
    }
    const abort = () => streams.forEach((stream) => stream.close());
    signal?.addEventListener('abort', abort, { once: true });
    const send = async (bytes) => {
        await opened(input);
        for (let at = 0; at < bytes.length; at += blockBytes) {
            if (!await room(input)) return false;
            input.send(bytes.subarray(at, at + blockBytes));
        }
        return true;
    };
    const end = async () => {
        await opened(input);
        if (input.readyState === WebSocket.OPEN) input.send('');
    };
    const resize = (width, height) => control.readyState === WebSocket.OPEN
        && control.send(JSON.stringify({ command: 'window-resize', args: { width: String(width), height: String(height) } }));
    const done = Promise.all(outputs).then(async (ends) => {
        const outcome = ends.every(Boolean) ? await result(operation) : { lost: true };
        abort();
        return outcome;
    });
    return { send, end, resize, abort, done, control };
}
