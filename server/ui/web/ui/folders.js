// Folders and files that are dropped on a page, or chosen in a field for folders.
export const fileOf = (entry) => new Promise((resolve, reject) => { entry.file(resolve, reject); });
const someOf = (reader) => new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });

// The browser forgets the entries of a drop when its event has passed: whoever wants them asks before it waits for anything.
export const entriesOf = ({ items }) => [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);

// What is in a folder, at any depth: [{ path, file }]; a folder has no `file` and comes before what is in it. check(count) is
// asked for each, and throws where they are too many. A browser tells a hundred entries at a time.
export async function contentOf(folder, check = () => {}, above = '', found = []) {
    const reader = folder.createReader();
    for (let some = await someOf(reader); some.length > 0; some = await someOf(reader))
        for (const entry of some) {
            const path = above + entry.name;
            found.push(entry.isFile ? { path, file: await fileOf(entry) } : { path });
            check(found.length);
            if (!entry.isFile) await contentOf(entry, check, `${path}/`, found);
        }
    return found;
}

// { name, files: [{ path, file }] } of what a field for folders has, with paths below the folder.
export function chosenFolder(list) {
    const files = [...list].map((file) => ({ path: file.webkitRelativePath.split('/').slice(1).join('/'), file }));
    return { name: list[0].webkitRelativePath.split('/')[0], files };
}
