// Copies of an instance, and images of one. As svcctl does it: a temporary snapshot, which is deleted again.
import { ApiError, call, finish, raw, run } from '../../api.js';
import { html } from '../../html.js';
import { Field } from '../../ui/elements.js';
import { Dialog } from '../../ui/notice.js';

const most = 100;
const pathOf = (record) => `/1.0/instances/${record.id}/snapshots`;

// Runs `action(id of the snapshot)`; the snapshot is deleted whatever becomes of it. That it is made is waited for even
// when the page is left: nobody else would delete it.
async function withSnapshot(record, progress, action) {
    const name = `temporary-${Math.random().toString(36).slice(2, 10)}`;
    const operation = await run('POST', pathOf(record), { name }, { onProgress: progress.onProgress });
    const id = operation.resources.snapshots[0].split('/').at(-1);
    try {
        progress.signal.throwIfAborted();
        return await action(id);
    } finally {
        await run('DELETE', `${pathOf(record)}/${id}`);
    }
}

// The names of the copies: NAME, or NAME-1, NAME-2 ...
const namesOf = (name, count) => Array.from({ length: count }, (_, at) => (count === 1 || !name ? name : `${name}-${at + 1}`));

async function copy(record, { name, count, tags }, progress) {
    const launched = await withSnapshot(record, progress, async (snapshot) => {
        const operations = [];
        for (const each of namesOf(name, count))
            operations.push((await call('POST', '/1.0/instances', { snapshot, tags, ...(each ? { name: each } : {}) })).metadata);
        return operations;
    });
    const ends = await Promise.allSettled(launched.map((operation) => finish(operation, progress)));
    const failed = ends.filter(({ status }) => status === 'rejected');
    if (failed.length > 0) throw new ApiError(400, `${failed.length} of ${count} copies have failed: ${failed[0].reason.message}`);
}

async function exported(record, snapshot, { signal, say }) {
    const response = await raw(`${pathOf(record)}/${snapshot}/export`, { signal });
    say('The disk comes to this browser, and goes back as an image');
    return response.blob();
}

async function publish(record, name, progress) {
    const archive = await withSnapshot(record, progress, (snapshot) => exported(record, snapshot, progress));
    await run('POST', '/1.0/images', archive, { ...progress, headers: { 'X-SVC-Request': JSON.stringify({ name }) } });
}

const submitted = (onClose, act) => (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    onClose();
    act((name) => String(given.get(name) ?? '').trim());
};

export function CopyDialog({ record, begin, onClose }) {
    const submit = submitted(onClose, (value) => {
        const count = Number(value('count'));
        const tags = value('tags').split(',').map((tag) => tag.trim()).filter(Boolean);
        begin('Copying', (progress) => copy(record, { name: value('name'), count, tags }, progress), count === 1 ? 'The copy runs.' : `${count} copies run.`);
    });
    return html`<${Dialog} title="Copy ${record.name || record.id}" onClose=${onClose}><form class="stack" onSubmit=${submit}>
        <${Field} label="Name" hint="Of several copies: NAME-1, NAME-2 …"><input name="name" minlength="3" maxlength="60" /><//>
        <${Field} label="Copies"><input name="count" type="number" min="1" max=${most} defaultValue="1" required /><//>
        <${Field} label="Tags" hint="With commas between"><input name="tags" /><//>
        <p class="hint">Each begins with the disk of this instance. The same: <code>svcctl copy ${record.id}</code></p>
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Copy</button></div>
    </form><//>`;
}

export function PublishDialog({ record, begin, onClose }) {
    const submit = submitted(onClose, (value) => begin('Publishing', (progress) => publish(record, value('name'), progress), `Image ${value('name')} is there.`));
    return html`<${Dialog} title="Make an image of ${record.name || record.id}" onClose=${onClose}><form class="stack" onSubmit=${submit}>
        <${Field} label="Name of the image"><input name="name" required maxlength="128" /><//>
        <p class="hint">The whole disk passes through this browser. Of large ones, <code>svcctl publish ${record.id} --name NAME</code> makes images without.</p>
        <div class="choices"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Publish</button></div>
    </form><//>`;
}
