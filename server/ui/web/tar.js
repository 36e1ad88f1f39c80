// Tar streams, as the agent takes and sends files: entries of ustar, with pax headers for what does not fit into one.
const block = 512;
const mostHeader = 1 << 20;  // bytes of a pax header
const encoder = new TextEncoder(), decoder = new TextDecoder();

const padding = (size) => (block - (size % block)) % block;

function octal(header, at, width, value) {
    header.set(encoder.encode(value.toString(8).padStart(width - 1, '0')), at);
}

function header({ name, type, size, mode, modified }) {
    const bytes = new Uint8Array(block);
    bytes.set(name, 0);
    octal(bytes, 100, 8, mode);
    octal(bytes, 108, 8, 0);
    octal(bytes, 116, 8, 0);
    octal(bytes, 124, 12, size);
    octal(bytes, 136, 12, Math.max(0, Math.floor(modified)));
    bytes.fill(32, 148, 156);  // the sum counts its own place as blanks
    bytes[156] = type.charCodeAt(0);
    bytes.set(encoder.encode('ustar\u000000'), 257);
    octal(bytes, 148, 7, bytes.reduce((sum, byte) => sum + byte, 0));
    return bytes;
}

// "length key=value\n", where the length counts itself.
function record(key, value) {
    const rest = encoder.encode(` ${key}=${value}\n`).length;
    let length = rest + String(rest).length;
    if (rest + String(length).length !== length) length = rest + String(length).length;
    return `${length} ${key}=${value}\n`;
}

function joined(parts) {
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

const largest = 8 ** 11 - 1;

// What comes before the bytes of a file, or stands for a folder. `modified`: seconds since 1970.
export function entry({ path, folder = false, size = 0, mode = folder ? 0o755 : 0o644, modified = 0 }) {
    const name = encoder.encode(path);
    const short = name.length <= 100 && name.length === path.length;
    let extra = short ? '' : record('path', path);
    if (size > largest) extra += record('size', size);
    const text = encoder.encode(extra);
    const main = header({ name: short ? name : encoder.encode('long'), type: folder ? '5' : '0', size: size > largest ? 0 : size, mode, modified });
    if (text.length === 0) return main;
    return joined([header({ name: encoder.encode('pax'), type: 'x', size: text.length, mode: 0o644, modified }), text, new Uint8Array(padding(text.length)), main]);
}

export const filler = (size) => new Uint8Array(padding(size));
export const end = () => new Uint8Array(2 * block);

// Text up to its first zero.
const textOf = (bytes) => decoder.decode(bytes.subarray(0, bytes.includes(0) ? bytes.indexOf(0) : bytes.length));

// A number in octal digits, or, where its first bit is set, in binary.
function numberOf(bytes) {
    if (bytes[0] & 0x80) return bytes.subarray(1).reduce((sum, byte) => sum * 256 + byte, bytes[0] & 0x7f);
    return parseInt(textOf(bytes).trim() || '0', 8);
}

function paxValues(bytes) {
    const values = {};
    for (let at = 0; at < bytes.length;) {
        const blank = bytes.indexOf(32, at), length = Number(decoder.decode(bytes.subarray(at, blank)));
        if (!(length > 0)) throw new Error('The archive is damaged');
        const [key, ...value] = decoder.decode(bytes.subarray(blank + 1, at + length - 1)).split('=');
        values[key] = value.join('=');
        at += length;
    }
    return values;
}

function checkSize(size) {
    if (!(Number.isSafeInteger(size) && size >= 0)) throw new Error('The archive is damaged');
}

// Takes a stream apart as it comes. `onEntry({ path, type, size })` before `onData(bytes)`; type '0' is a file, '5' a folder.
export class TarReader {
    constructor({ onEntry, onData }) {
        Object.assign(this, { onEntry, onData, waiting: new Uint8Array(0), left: 0, skip: 0, pax: null, ended: false });
    }

    write(bytes) {
        this.waiting = this.waiting.length ? joined([this.waiting, bytes]) : bytes;
        while (this.step());
    }

    // Whether it has got on.
    step() {
        if (this.left > 0) return this.pass(Math.min(this.left, this.waiting.length));
        if (this.skip > 0) return this.drop(Math.min(this.skip, this.waiting.length));
        if (this.ended || this.waiting.length < block) return false;
        const found = this.waiting.subarray(0, block);
        const size = numberOf(found.subarray(124, 136)), type = String.fromCharCode(found[156] || 48);
        if (found.every((byte) => byte === 0)) this.ended = true;
        else if (type === 'x' || type === 'g') return this.takePax(size);
        else this.begin(found, type, Number(this.pax?.size ?? size));
        this.waiting = this.waiting.subarray(block);
        return true;
    }

    takePax(size) {
        checkSize(size);
        if (size > mostHeader) throw new Error('The archive is damaged');
        const whole = block + size + padding(size);
        if (this.waiting.length < whole) return false;
        this.pax = paxValues(this.waiting.subarray(block, block + size));
        this.waiting = this.waiting.subarray(whole);
        return true;
    }

    begin(found, type, size) {
        checkSize(size);
        const prefix = textOf(found.subarray(345, 500)), name = textOf(found.subarray(0, 100));
        this.onEntry?.({ path: this.pax?.path ?? (prefix ? `${prefix}/${name}` : name), type, size });
        this.pax = null;
        this.left = size;
        this.skip = padding(size);
    }

    pass(count) {
        if (count === 0) return false;
        this.onData?.(this.waiting.subarray(0, count));
        this.left -= count;
        this.waiting = this.waiting.subarray(count);
        return true;
    }

    drop(count) {
        if (count === 0) return false;
        this.skip -= count;
        this.waiting = this.waiting.subarray(count);
        return true;
    }
}
