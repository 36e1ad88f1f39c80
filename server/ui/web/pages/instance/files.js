// Files of the instance: shown, fetched, sent, renamed, deleted.
import { html, useRef, useState } from '../../html.js';
import { go } from '../../router.js';
import { bytes, shellWord } from '../../ui/format.js';
import { Ago, Failure, Spinner } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { ask, attempt } from '../../ui/notice.js';
import { save } from '../../ui/save.js';
import { Table } from '../../ui/table.js';
import { chosenTrees, droppedTrees } from './dropped.js';
import { NameDialog } from './name_dialog.js';
import * as files from './instance_files.js';
import { NeedsRunning } from './needs.js';

const join = (folder, name) => `${folder === '/' ? '' : folder}/${name}`;
const rights = (mode) => [...'rwxrwxrwx'].map((letter, at) => (mode & (1 << (8 - at)) ? letter : '-')).join('');

function Path({ folder, open }) {
    const parts = folder.split('/').filter(Boolean);
    return html`<nav class="path" aria-label="Folder"><button onClick=${() => open('/')}>/</button>${parts.map((part, at) => html`
        <button key=${at} aria-current=${at === parts.length - 1 ? 'page' : undefined} onClick=${() => open(`/${parts.slice(0, at + 1).join('/')}`)}><bdi>${part}</bdi>/</button>`)}</nav>`;
}

async function upload(id, folder, trees, { signal, say }) {
    const all = trees.flatMap(({ items }) => items).reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
    let sent = 0;
    for (const { name, items } of trees) {
        const onBytes = (count) => say(`${name}, ${bytes(sent += count)} of ${bytes(all)}`, sent, all);
        await files.sendTree(id, items, join(folder, name), { signal, onBytes });
    }
}

// What the buttons do; each shows the folder again.
function acts({ record, folder, begin, reload }) {
    const { id } = record;
    const changing = (action, done) => attempt(action, done).then(reload);
    const replaces = async (trees, there) => {
        const known = trees.map(({ name }) => name).filter((name) => there.some(({ path }) => path === name));
        return known.length === 0 || ask('Replace what is there?', `${known.slice(0, 5).join(', ')}${known.length > 5 ? ' …' : ''}: files of the same names are replaced.`, 'Replace');
    };
    return {
        put: async (trees, there) => trees.length > 0 && await replaces(trees, there)
            && begin('Uploading', (progress) => upload(id, folder, trees, progress), 'All is uploaded.').then(reload),
        fetch: ({ path, type, size }) => begin(`Downloading ${path}`, async ({ signal, say }) => {
            const isFolder = type === 'directory';
            const onProgress = (done) => say(isFolder ? bytes(done) : `${bytes(done)} of ${bytes(size)}`, done, isFolder ? 0 : size);
            save(await files.fetchFile(id, join(folder, path), { folder: isFolder, signal, onProgress }), isFolder ? `${path}.tar` : path);
        }),
        remove: async ({ path, type }) => await ask(`Delete ${path}?`, type === 'directory' ? 'The folder and all that is in it are gone then.' : 'It is gone then.')
            && changing(() => files.removePath(id, join(folder, path)), `${path} is deleted.`),
        rename: (from, to) => changing(() => files.rename(id, join(folder, from), join(folder, to)), `${to} is its name now.`),
        make: (name) => changing(() => files.makeFolder(id, join(folder, name)), `${name} is there.`),
    };
}

function columnsOf({ open, does, setDialog }) {
    const show = ({ path, type, target, usable }) => {
        const name = html`<bdi>${path}</bdi>${type === 'directory' ? '/' : ''}`;
        return html`<span>${type === 'directory' && usable ? html`<button class="entry" onClick=${() => open(path)}>${name}</button>` : name}${type === 'link' && html` <small>→ <bdi>${target}</bdi></small>`}</span>`;
    };
    const buttons = (file) => file.usable && html`<div class="toolbar">
        ${file.type !== 'other' && html`<button class="small" aria-label="Download ${file.path}" onClick=${() => does.fetch(file)}>Download</button>`}
        <button class="small" aria-label="Rename ${file.path}" onClick=${() => setDialog({ from: file.path })}>Rename</button>
        <button class="small danger" aria-label="Delete ${file.path}" onClick=${() => does.remove(file)}>Delete</button></div>`;
    return [
        { name: 'name', title: 'Name', value: (file) => file.path, show },
        { name: 'size', title: 'Size', value: ({ size }) => size, show: ({ type, size }) => (type === 'file' ? bytes(size) : '–') },
        { name: 'changed', title: 'Changed', value: ({ modified }) => modified, show: ({ modified }) => html`<${Ago} time=${modified} />` },
        { name: 'owner', title: 'Owner', value: ({ uid, gid, mode }) => `${uid}:${gid} ${rights(mode)}`, show: ({ uid, gid, mode }) => html`<span>${uid}:${gid} <code>${rights(mode)}</code></span>` },
        { name: 'does', title: '', show: buttons },
    ];
}

function Upload({ onTrees }) {
    const one = useRef(), folder = useRef();
    const chosen = ({ target }) => {
        attempt(async () => onTrees(chosenTrees(target.files)));
        target.value = '';
    };
    return html`<input type="file" multiple hidden ref=${one} onChange=${chosen} aria-label="Files to upload" /><input type="file" webkitdirectory hidden ref=${folder} onChange=${chosen} aria-label="Folder to upload" />
        <button class="primary" onClick=${() => one.current.click()}>Upload files</button><button onClick=${() => folder.current.click()}>Upload a folder</button>`;
}

function Browser({ record, begin, deeper }) {
    const folder = `/${deeper.join('/')}`;
    const [dialog, setDialog] = useState(null), [over, setOver] = useState(false);
    const { value: there, error, reload } = useLoaded((signal) => files.list(record.id, folder, { signal }), [record.id, folder]);
    const open = (path) => go('instances', record.id, 'files', ...path.split('/').filter(Boolean));
    const does = acts({ record, folder, begin, reload });
    const put = (trees) => there && does.put(trees, there);  // before it is known what would be replaced, nothing is taken
    const drop = (event) => {
        event.preventDefault();
        setOver(false);
        attempt(async () => put(await droppedTrees(event.dataTransfer)));
    };
    const drag = (event) => {
        event.preventDefault();
        setOver(true);
    };
    return html`<div class="stack files ${over ? 'dropping' : ''}" onDragOver=${drag} onDragLeave=${() => setOver(false)} onDrop=${drop}>
        <div class="toolbar"><${Path} folder=${folder} open=${open} /><button onClick=${reload}>Refresh</button><button onClick=${() => setDialog({})}>New folder</button><${Upload} onTrees=${put} /></div>
        ${error ? html`<${Failure} error=${error} again=${reload} />` : !there ? html`<${Spinner} text="Listing" />` : html`
            <${Table} columns=${columnsOf({ open: (name) => open(join(folder, name)), does, setDialog })} rows=${there} keyOf=${({ path }) => path} filter="Find in this folder" label="Files"
                empty=${html`<p class="hint">The folder is empty. Drop files here, or <code>svcctl file push ${record.id} ./FILE ${shellWord(folder)}</code></p>`} />`}
        ${dialog && html`<${NameDialog} title=${dialog.from ? `Rename ${dialog.from}` : 'New folder'} name=${dialog.from ?? ''} onClose=${() => setDialog(null)}
            onName=${(name) => (dialog.from ? does.rename(dialog.from, name) : does.make(name))} />`}
    </div>`;
}

export default function Files({ record, begin, deeper }) {
    return html`<${NeedsRunning} record=${record} what="Files"><${Browser} ...${{ record, begin, deeper }} /><//>`;
}
