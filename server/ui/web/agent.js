// Programs of an instance, asked for what they print; svc-agent among them, which injects data and moves files.
import { ApiError } from './api.js';
import { exec } from './exec.js';

const program = '/var/lib/svc-agent/bin/svc-agent';
const mostErrors = 4096, mostOutput = 64 << 20;

function reason(command, errors) {
    const last = new TextDecoder().decode(errors).trim().split('\n').at(-1);
    return last.replace(/^svc-agent: /, '') || `${command[0]} has failed without a reason`;
}

function check(command, outcome, errors) {
    if (outcome.lost) throw new ApiError(0, 'The connection to the instance was lost');
    if (outcome.error) throw new ApiError(400, outcome.error);
    if (outcome.status !== 0) throw new ApiError(400, reason(command, errors));
}

export async function joined(chunks) {
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

// Runs a command to its end. `input(send)`: gives it bytes; else it has none. Its output goes to `onOutput`; what that or
// `input` throws ends it. Throws what the command says last when it fails.
export async function run(instance, command, { input, onOutput, signal } = {}) {
    const errors = [];
    let said = 0;
    const onErrors = (bytes) => {
        if ((said += bytes.length) <= mostErrors) errors.push(bytes);
    };
    let failure, session;
    const guarded = (work) => (...given) => {
        try {
            work?.(...given);
        } catch (error) {
            fail(error);
        }
    };
    const fail = (error) => {
        failure ??= error;
        session.abort();
    };
    session = await exec(instance, { command, onOutput: guarded(onOutput), onErrors, signal });
    Promise.resolve(input?.(session.send)).then(session.end).catch(fail);
    const outcome = await session.done;
    if (signal?.aborted) throw new DOMException('Cancelled', 'AbortError');
    if (failure) throw failure;
    check(command, outcome, await joined(errors));
}

// The text that a command prints.
export async function printed(instance, command, options = {}) {
    const chunks = [];
    let size = 0;
    const onOutput = (bytes) => {
        if ((size += bytes.length) > mostOutput) throw new ApiError(400, `${command[0]} prints too much`);
        chunks.push(bytes);
    };
    await run(instance, command, { ...options, onOutput });
    return new TextDecoder().decode(await joined(chunks));
}

export const agent = (...words) => [program, ...words];

// A request to the control API of the agent (docs/guest-interface.md): the metadata of the answer. `body`: JSON, or bytes.
export async function request(instance, method, path, body) {
    const raw = body instanceof Uint8Array;
    const words = body === undefined ? [] : [raw ? '-' : JSON.stringify(body)];
    const text = await printed(instance, agent('ctl', 'request', method, path, ...words), raw ? { input: (send) => send(body) } : {});
    return text.trim() ? JSON.parse(text) : null;
}

// Calls `action(value)` for the newest value alone, one at a time: a slider that is dragged starts no hundred commands.
export function latest(action) {
    let waiting = null, busy = false;
    const next = async () => {
        if (busy || !waiting) return;
        const [value] = waiting;
        waiting = null;
        busy = true;
        await action(value);
        busy = false;
        next();
    };
    return (value) => {
        waiting = [value];
        next();
    };
}
