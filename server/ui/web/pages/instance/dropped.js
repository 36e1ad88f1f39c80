// Files and folders that were chosen or dropped, as trees to be sent: [{ name, items: [{ path, file }] }], one for each file or folder.
import { chosenFolder, contentOf, entriesOf, fileOf } from '../../ui/folders.js';

const most = 20_000;  // files and folders at once

function check(count) {
    if (count > most) throw new Error(`More than ${most} files at once: use svcctl file push`);
}

const single = (file) => ({ name: file.name, items: [{ path: 'file', file }] });
const treeOf = async (entry) => (entry.isFile ? single(await fileOf(entry)) : { name: entry.name, items: [{ path: '.' }, ...await contentOf(entry, check)] });

export const droppedTrees = (transfer) => Promise.all(entriesOf(transfer).map(treeOf));

// A field tells files alone: their folders have to be made, too.
function folderTree({ name, files }) {
    const folders = new Set(['.']);
    for (const { path } of files)
        for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) folders.add(path.slice(0, end));
    return { name, items: [...[...folders].sort().map((path) => ({ path })), ...files] };
}

export function chosenTrees(files) {
    const all = [...files];
    check(all.length);
    return all.length > 0 && all[0].webkitRelativePath ? [folderTree(chosenFolder(all))] : all.map(single);
}
