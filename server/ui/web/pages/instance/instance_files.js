// Files of a running instance: its agent lists, takes and sends them over the streams of a command (docs/files.md).
import { agent, printed, run } from '../../agent.js';
import { TarReader, end, entry, filler } from '../../tar.js';

const blockBytes = 256 << 10;
const foldAt = 16 << 20;  // bytes after which the browser may put what has come on its disk

// Names may have any bytes; what is no UTF-8 is shown with a mark and cannot be named back.
function named(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return null;
    }
}

const decoded = (line) => {
    const file = JSON.parse(line);
    const path = named(file.path);
    return { ...file, path: path ?? unescape(file.path), usable: path !== null, target: named(file.target) ?? '?' };
};

// What is in the folder: [{ path: name, type, size, mode, uid, gid, modified, target, usable }].
export async function list(instance, folder, { signal } = {}) {
    const text = await printed(instance, agent('files', 'list', folder), { signal });
    const [itself, ...files] = text.split('\n').filter(Boolean).map(decoded);
    if (itself.type !== 'directory') throw new Error(`“${folder}” is no folder`);
    return files;
}

// Chunks of bytes, in memory for a while only.
class Collected {
    parts = [];
    waiting = [];
    size = 0;
    unfolded = 0;

    add(bytes) {
        this.waiting.push(bytes.slice());
        this.size += bytes.length;
        this.unfolded += bytes.length;
        if (this.unfolded < foldAt) return;
        this.parts.push(new Blob(this.waiting));
        this.waiting = [];
        this.unfolded = 0;
    }

    blob() {
        return new Blob([...this.parts, ...this.waiting]);
    }
}

// A file: its bytes. A folder: an archive of it.
export async function fetchFile(instance, path, { folder, signal, onProgress }) {
    const collected = new Collected();
    const take = (bytes) => {
        collected.add(bytes);
        onProgress?.(collected.size);
    };
    let found = false;
    const reader = new TarReader({ onEntry: ({ type }) => { found ||= type === '0'; }, onData: take });
    await run(instance, agent('files', 'send', path), { signal, onOutput: folder ? take : (bytes) => reader.write(bytes) });
    if (!folder && !found) throw new Error(`“${path}” is no file`);
    return collected.blob();
}

// Sends the bytes of a file, exactly as many as were announced.
async function sendBytes(file, send, onBytes) {
    for (let at = 0; at < file.size; at += blockBytes) {
        const bytes = new Uint8Array(await file.slice(at, at + blockBytes).arrayBuffer());
        if (!await send(bytes)) return false;  // the command has ended, and says why
        onBytes(bytes.length);
        if (!document.hidden) await new Promise((resolve) => { setTimeout(resolve); });  // the page's user has a turn
    }
    return send(filler(file.size));
}

// `items`: [{ path, file }] of one tree, a folder without `file`, its top with the path "."; or one file alone. They become
// `target`.
export function sendTree(instance, items, target, { signal, onBytes }) {
    const input = async (send) => {
        for (const { path, file } of items) {
            const about = file ? { path, size: file.size, modified: file.lastModified / 1000 } : { path, folder: true, modified: Date.now() / 1000 };
            if (!await send(entry(about))) return;
            if (file && !await sendBytes(file, send, onBytes)) return;
        }
        await send(end());
    };
    return run(instance, agent('files', 'take', '0', '0', target), { input, signal });
}

export const makeFolder = (instance, path) => printed(instance, ['mkdir', '--', path]);
export const removePath = (instance, path) => printed(instance, ['rm', '-rf', '--', path]);

// Replaces nothing.
export async function rename(instance, from, to) {
    const there = await printed(instance, agent('files', 'look', to)).then(() => true, () => false);
    if (there) throw new Error(`“${to}” is there already`);
    return printed(instance, ['mv', '--', from, to]);
}
