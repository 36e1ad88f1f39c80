// The part of the panel for files: what is sent, and what the instance offers.
import { droppedFiles } from './files.js';
import { byId, instantiate, notify, show } from './page.js';

function sizeText(bytes) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB'];
    const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
    return `${(bytes / 1024 ** unit).toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export class FilePanel {
    // `open()`: shows the panel.
    constructor({ open }) {
        this.open = open;
        byId('send-files').addEventListener('click', () => byId('chosen-files').click());
        byId('chosen-files').addEventListener('change', () => this.chosen());
        const on = (name, handler) => byId('stage').addEventListener(name, handler.bind(this));
        on('dragover', this.draggedOver);
        on('drop', this.dropped);
    }

    options() {
        return { onAllowed: (allowed) => this.allowed(allowed), onFiles: (files) => this.showFiles(files) };
    }

    begin(stream) {
        this.files = stream.files;
        show(byId('file-panel'), stream.capabilities.includes('files'));
    }

    end() {
        this.files = undefined;
        show(byId('file-panel'), false);
        byId('transfers').replaceChildren();
        byId('offered-files').replaceChildren();
    }

    look() {
        this.files?.list();
    }

    allowed({ toInstance, fromInstance }) {
        byId('send-files').disabled = !toInstance;
        show(byId('offered-files'), fromInstance);
        show(byId('files-forbidden'), !toInstance || !fromInstance);
    }

    // Also where files cannot be sent: the browser would leave the stream and show the file.
    draggedOver(event) {
        event.preventDefault();
    }

    async dropped(event) {
        event.preventDefault();
        if (!this.files?.allowed.toInstance) return notify('Files cannot be sent to this instance.');
        const found = await droppedFiles(event.dataTransfer);
        return this.send(found);
    }

    chosen() {
        this.send([...byId('chosen-files').files].map((file) => ({ path: file.name, file })));
        byId('chosen-files').value = '';
    }

    async send(found) {
        if (!found.length) return;
        this.open();
        await Promise.all(found.map(({ path, file }) => this.transfer(path, (options) => this.files.upload(file, { path, ...options }), file.size)));
        this.look();
    }

    // A line with its progress until `run(options)` has ended. Resolves with what that gave; nothing: it failed.
    async transfer(name, run, size) {
        const line = instantiate('transfer-item'), over = new AbortController(), bar = line.querySelector('progress');
        line.querySelector('.name').textContent = name;
        bar.setAttribute('aria-label', name);
        line.querySelector('button').setAttribute('aria-label', `Cancel ${name}`);
        line.querySelector('button').addEventListener('click', () => over.abort());
        byId('transfers').append(line);
        const onProgress = (bytes, all = size) => { bar.value = all ? bytes / all : 1; };
        try {
            return await run({ signal: over.signal, onProgress });
        } catch (error) {
            if (!over.signal.aborted) notify(`${name}: ${error.message}`);
            return undefined;
        } finally {
            line.remove();
        }
    }

    showFiles(files) {
        byId('offered-files').replaceChildren(...files.map((file) => this.offer(file)));
    }

    offer({ name, size }) {
        const item = instantiate('file-item'), button = item.querySelector('button');
        item.querySelector('.name').textContent = name;
        item.querySelector('.size').textContent = sizeText(size);
        button.setAttribute('aria-label', `Download ${name}`);
        button.addEventListener('click', async () => {
            const blob = await this.transfer(name, (options) => this.files.fetch(name, options), size);
            if (blob) save(blob, name);
        });
        return item;
    }
}
