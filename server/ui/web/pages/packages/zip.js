// Packs files into a zip archive that the service takes as a package. The archive is a Blob that refers to the files, so
// it needs no memory however large they are; they are read once for their checksums, and once when the Blob is sent.

const most = 2 ** 32 - 2 ** 20;  // bytes of an archive without 64-bit numbers
const mostFiles = 65534;
const crcs = Uint32Array.from({ length: 256 }, (_, start) => {
    let value = start;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xEDB88320 ^ (value >>> 1) : value >>> 1;
    return value;
});

async function crcOf(file, onBytes, signal) {
    let value = 0xFFFFFFFF;
    const reader = file.stream().getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        signal?.throwIfAborted();
        for (const byte of piece.value) value = crcs[(value ^ byte) & 0xFF] ^ (value >>> 8);
        onBytes(piece.value.length);
    }
    return (value ^ 0xFFFFFFFF) >>> 0;
}

// Numbers as [bytes, value], in the order of the format.
function numbers(...fields) {
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
    let place = 0;
    for (const [size, value] of fields) {
        size === 2 ? view.setUint16(place, value, true) : view.setUint32(place, value, true);
        place += size;
    }
    return view.buffer;
}

// What both headers of a file have in common: names are UTF-8, contents stored; always the same date, so that the same
// folder is the same archive.
const common = ({ crc, size, name }) => [[2, 20], [2, 0x0800], [2, 0], [2, 0], [2, 0x21], [4, crc], [4, size], [4, size], [2, name.length], [2, 0]];
const localHeader = (entry) => [numbers([4, 0x04034b50], ...common(entry)), entry.name];
const centralHeader = (entry) => [numbers([4, 0x02014b50], [2, 0x0314], ...common(entry), [2, 0], [2, 0], [2, 0],
    [4, ((0o100000 | entry.mode) << 16) >>> 0], [4, entry.offset]), entry.name];
const end = (count, size, offset) => numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, offset], [2, 0]);
const sizeOf = (parts) => parts.reduce((sum, part) => sum + (part.byteLength ?? part.size), 0);

function check(files) {
    const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
    if (bytes > most || files.length > mostFiles)
        throw new Error('The folder is too large to be packed in a browser (4 GiB, 65,534 files): pack it yourself, or use svcctl');
    return bytes;
}

// `files`: [{ path, file: Blob, mode }]. `onProgress(done, total)` in bytes.
export async function zip(files, { onProgress = () => {}, signal } = {}) {
    const total = check(files), body = [], directory = [];
    let done = 0, offset = 0;
    const onBytes = (count) => onProgress(done += count, total);
    for (const { path, file, mode } of files) {
        const entry = { name: new TextEncoder().encode(path), size: file.size, mode, offset, crc: await crcOf(file, onBytes, signal) };
        const parts = [...localHeader(entry), file];
        offset += sizeOf(parts);
        body.push(...parts);
        directory.push(...centralHeader(entry));
    }
    return new Blob([...body, ...directory, end(files.length, sizeOf(directory), offset)]);
}
