// Files between the client module and a played instance, which has a folder.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { client, connect, instance } from './client_fixture.mjs';

const both = { to_instance: true, from_instance: true };

async function connectWithFiles(options = true) {
    await connect({ files: options }, { capabilities: ['files'], files: both });
    await client.waitForFunction(() => window.stream.files.allowed.toInstance);
}
const stored = (name) => instance.evaluate((key) => window.instance.folder.get(key)?.text(), name);

test('files of any size reach the instance, one after the other', async () => {
    await connectWithFiles();
    const names = await client.evaluate(() => Promise.all([
        window.stream.files.upload(new File(['x'.repeat(5_000_000)], 'large.txt')),
        window.stream.files.upload(new File(['small'], 'small.txt'), { path: 'folder/small.txt' }),
        window.stream.files.upload(new File([], 'empty.txt')),
    ]));
    assert.deepEqual(names, ['large.txt', 'folder/small.txt', 'empty.txt']);
    assert.equal((await stored('large.txt')).length, 5_000_000);
    assert.equal(await stored('folder/small.txt'), 'small');
    assert.equal(await stored('empty.txt'), '');
});

test('progress is what the instance has', async () => {
    await connectWithFiles();
    const seen = await client.evaluate(async () => {
        const steps = [];
        await window.stream.files.upload(new File(['x'.repeat(2_000_000)], 'a'), { onProgress: (bytes) => steps.push(bytes) });
        return steps;
    });
    assert.equal(seen.at(-1), 2_000_000);
    assert.ok(seen.every((bytes, index) => index === 0 || bytes >= seen[index - 1]));
});

test('an upload that is cancelled is told to the instance, and the next one goes on', async () => {
    await connectWithFiles();
    await instance.evaluate(() => { window.instance.silent = true; });
    await client.evaluate(() => {
        window.over = new AbortController();
        window.result = window.stream.files.upload(new File(['x'.repeat(9_000_000)], 'a'), { signal: window.over.signal }).catch((error) => error.name);
    });
    await instance.waitForFunction(() => window.instance.fileBytes >= 1_048_576);
    await client.evaluate(() => window.over.abort());
    assert.equal(await client.evaluate(() => window.result), 'AbortError');
    await instance.waitForFunction(() => window.instance.cancelled.length === 1);
    assert.ok(await instance.evaluate(() => window.instance.fileBytes) < 9_000_000);
    await instance.evaluate(() => { window.instance.silent = false; });
    assert.equal(await client.evaluate(() => window.stream.files.upload(new File(['b'], 'b'))), 'b');
    assert.equal(await stored('b'), 'b');
});

test('why the instance takes no file is said', async () => {
    await connectWithFiles();
    await instance.evaluate(() => { window.instance.refusal = 'no room'; });
    const said = await client.evaluate(() => window.stream.files.upload(new File(['a'], 'a')).catch((error) => error.message));
    assert.equal(said, 'no room');
});

test('files of the instance are listed and fetched', async () => {
    await connectWithFiles();
    await instance.evaluate(() => window.instance.folder.set('report', new Blob(['y'.repeat(10_000_000)])));
    await client.evaluate(() => new Promise((resolve) => {
        window.stream.files.onFiles = (files) => resolve(window.listed = files);
        window.stream.files.list();
    }));
    assert.deepEqual(await client.evaluate(() => window.listed), [{ name: 'report', size: 10_000_000, time: 1 }]);
    assert.equal(await client.evaluate(async () => (await window.stream.files.fetch('report')).size), 10_000_000);
    assert.match(await client.evaluate(() => window.stream.files.fetch('none').catch((error) => error.message)), /is not there/);
});

test('a file of another size than the instance has announced is refused, and takes no more memory', async () => {
    await connectWithFiles();
    await instance.evaluate(() => window.instance.folder.set('report', new Blob(['y'.repeat(10_000_000)])));
    for (const [announced, cancelled] of [[10, 1], [20_000_000, 1]]) {
        await instance.evaluate((size) => { window.instance.announced = size; }, announced);
        assert.match(await client.evaluate(() => window.stream.files.fetch('report').catch((error) => error.message)), /another size/);
        await instance.waitForFunction((count) => window.instance.cancelled.length === count, cancelled);
    }
    await instance.evaluate(() => { window.instance.announced = undefined; });
    assert.equal(await client.evaluate(async () => (await window.stream.files.fetch('report')).size), 10_000_000);
});

test('a stream that ends ends what is under way', async () => {
    await connectWithFiles();
    await instance.evaluate(() => { window.instance.silent = true; });
    const said = await client.evaluate(async () => {
        const result = window.stream.files.upload(new File(['abc'], 'a')).catch((error) => error.message);
        await new Promise((resolve) => { setTimeout(resolve); });
        window.stream.disconnect();
        return result;
    });
    assert.match(said, /ended/);
});
