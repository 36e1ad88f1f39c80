// Files and folders that were chosen or dropped, as trees to be sent.
const most = 20_000;  // files and folders at once

// [{ name, items: [{ path, file }] }]: a tree a file, or a folder.
const single = (file) => ({ name: file.name, items: [{ path: 'file', file }] });

const fileOf = (found) => new Promise((resolve, reject) => { found.file(resolve, reject); });
const someOf = (reader) => new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });

async function walk(folder, path, items) {
    items.push({ path });
    if (items.length > most) throw new Error(`More than ${most} files at once: use svcctl file push`);
    const reader = folder.createReader();
    for (let found = await someOf(reader); found.length > 0; found = await someOf(reader))
        for (const each of found) {
            const place = path === '.' ? each.name : `${path}/${each.name}`;
            if (each.isDirectory) await walk(each, place, items);
            else items.push({ path: place, file: await fileOf(each) });
        }
    return items;
}

// Of a drop. The browser forgets the entries when the event has passed, so they are taken at once.
export async function droppedTrees({ items }) {
    const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    return Promise.all(entries.map(async (found) => (found.isDirectory ? { name: found.name, items: await walk(found, '.', []) } : single(await fileOf(found)))));
}

// Of a field for folders: the folders of its files have to be made, too.
function folderTree(files) {
    const [name] = files[0].webkitRelativePath.split('/');
    const folders = new Set(['.']), items = [];
    for (const file of files) {
        const parts = file.webkitRelativePath.split('/').slice(1);
        for (let depth = 1; depth < parts.length; depth += 1) folders.add(parts.slice(0, depth).join('/'));
        items.push({ path: parts.join('/'), file });
    }
    return { name, items: [...[...folders].sort().map((path) => ({ path })), ...items] };
}

export function chosenTrees(files) {
    const all = [...files];
    if (all.length > most) throw new Error(`More than ${most} files at once: use svcctl file push`);
    return all.length > 0 && all[0].webkitRelativePath ? [folderTree(all)] : all.map(single);
}
