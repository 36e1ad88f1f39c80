// What a user has chosen or dropped: { name, file } of an archive, or { name, files: [{ path, file }] } of a folder.
import { zip } from './zip.js';

const fileOf = (entry) => new Promise((resolve, reject) => { entry.file(resolve, reject); });
const readSome = (reader) => new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });

// A browser tells a hundred entries at a time.
async function filesBelow(folder, above = '') {
    const reader = folder.createReader(), files = [];
    for (let some = await readSome(reader); some.length > 0; some = await readSome(reader))
        for (const entry of some)
            files.push(...(entry.isFile ? [{ path: above + entry.name, file: await fileOf(entry) }] : await filesBelow(entry, `${above}${entry.name}/`)));
    return files;
}

// Several things that are dropped at once are the content of a folder. Takes what is dropped before it waits: afterwards
// the browser has forgotten it.
export async function dropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const [file] = transfer.files;
    if (entries.length === 0 && !file) throw new Error('Drop a folder or an archive');
    if (entries.length === 0 || (entries.length === 1 && entries[0].isFile)) return { name: file.name, file };
    if (entries.length === 1) return { name: entries[0].name, files: await filesBelow(entries[0]) };
    const all = await Promise.all(entries.map(async (entry) => (entry.isFile ? [{ path: entry.name, file: await fileOf(entry) }] : filesBelow(entry, `${entry.name}/`))));
    return { name: `${entries.length} files`, files: all.flat() };
}

export function pickedFolder(list) {
    const files = [...list].map((file) => ({ path: file.webkitRelativePath.split('/').slice(1).join('/'), file }));
    return { name: list[0].webkitRelativePath.split('/')[0], files };
}

// The package to send. Hooks have to be executable, which a browser does not tell of files.
export async function packed({ name, file, files }, options) {
    if (file) return file;
    if (!files.some(({ path }) => path === 'manifest.yaml')) throw new Error(`“${name}” has no manifest.yaml at its top`);
    const entries = files.map((entry) => ({ ...entry, mode: entry.path.startsWith('hooks/') ? 0o755 : 0o644 }));
    return zip(entries.sort((left, right) => (left.path < right.path ? -1 : 1)), options);
}

export const totalOf = ({ file, files }) => (file ? file.size : files.reduce((sum, entry) => sum + entry.file.size, 0));
