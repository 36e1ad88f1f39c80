// What a user has chosen or dropped: { name, file } of an archive, or { name, files: [{ path, file }] } of a folder.
import { contentOf, entriesOf, fileOf } from '../../ui/folders.js';
import { zip } from './zip.js';

const filesOf = async (folder) => (await contentOf(folder)).filter(({ file }) => file);
const below = (name, files) => files.map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));

// Several things that are dropped at once are the content of a folder.
export async function dropped(transfer) {
    const entries = entriesOf(transfer);
    const [file] = transfer.files;
    if (entries.length === 0 && !file) throw new Error('Drop a folder or an archive');
    if (entries.length === 0 || (entries.length === 1 && entries[0].isFile)) return { name: file.name, file };
    if (entries.length === 1) return { name: entries[0].name, files: await filesOf(entries[0]) };
    const all = await Promise.all(entries.map(async (entry) => (entry.isFile ? [{ path: entry.name, file: await fileOf(entry) }] : below(entry.name, await filesOf(entry)))));
    return { name: `${entries.length} files`, files: all.flat() };
}

// The package to send. Hooks have to be executable, which a browser does not tell of files.
export async function packed({ name, file, files }, options) {
    if (file) return file;
    if (!files.some(({ path }) => path === 'manifest.yaml')) throw new Error(`“${name}” has no manifest.yaml at its top`);
    const entries = files.map((entry) => ({ ...entry, mode: entry.path.startsWith('hooks/') ? 0o755 : 0o644 }));
    return zip(entries.sort((left, right) => (left.path < right.path ? -1 : 1)), options);
}

export const totalOf = ({ file, files }) => (file ? file.size : files.reduce((sum, entry) => sum + entry.file.size, 0));
