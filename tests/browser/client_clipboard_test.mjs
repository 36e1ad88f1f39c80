// The clipboard between the client module and a played instance, which says what a streamer would say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFirefox } from './browser.mjs';
import { client, connect, heard, instance } from './client_fixture.mjs';

const label = 'svc:clipboard';

// The instance takes what is pasted and says so; `allowed` is what the operator allows.
async function connectWithClipboard(options = true, allowed = { to_instance: true, from_instance: true }) {
    await connect({ clipboard: options }, { capabilities: ['clipboard'], clipboard: allowed });
    await client.waitForFunction((wanted) => window.stream.clipboard.allowed.toInstance === wanted, allowed.to_instance);
}
const pastes = async (count = 1) => {
    await instance.waitForFunction((least) => window.instance.pastes.length >= least, count);
    return instance.evaluate(() => window.instance.pastes);
};
const copy = (format, text) => instance.evaluate(([name, value]) => window.instance.copy(name, value), [format, text]);
const readText = () => client.evaluate(() => navigator.clipboard.readText());
const keys = async (count) => (await heard('input::key', count)).map(({ code, pressed }) => [code, pressed]);

test('a client that wants no clipboard opens no channel for it', async () => {
    await connect({}, { capabilities: ['clipboard'] });
    assert.deepEqual(await instance.evaluate(() => window.instance.channels.map(({ label: name }) => name)), ['control']);
});

test('a client opens no clipboard of an instance that has none', async () => {
    await connect({ clipboard: true });
    assert.deepEqual(await instance.evaluate(() => window.instance.channels.map(({ label: name }) => name)), ['control']);
    assert.equal(await client.evaluate(() => window.stream.clipboard.paste('lost')), false);
});

test('what comes before a channel is open is handed over when it is, in its order', async () => {
    await connect();
    const seen = await client.evaluate(async () => {
        const { holdUntilOpen } = await import('/web/channel.js');
        const channel = Object.assign(new EventTarget(), { readyState: 'connecting' }), heard = [];
        const hear = (data) => channel.dispatchEvent(new MessageEvent('message', { data }));
        holdUntilOpen(channel);
        channel.addEventListener('message', ({ data }) => heard.push([channel.readyState, data]));
        hear('first');
        hear('second');
        channel.readyState = 'open';
        channel.dispatchEvent(new Event('open'));
        hear('third');
        return heard;
    });
    assert.deepEqual(seen, [['open', 'first'], ['open', 'second'], ['open', 'third']]);
});

test('text of the page reaches the instance, whatever its size', async () => {
    await connectWithClipboard();
    const long = 'ä€'.repeat(600_000);  // 3 MB
    assert.equal(await client.evaluate((text) => window.stream.clipboard.paste(text), 'grün €'), true);
    assert.equal(await client.evaluate((text) => window.stream.clipboard.paste(text), long), true);
    const [short, large] = await pastes(2);
    assert.deepEqual([short.format, short.text], ['text/plain', 'grün €']);
    assert.equal(large.text, long);
});

test('a paste that fails is said, and the next one works', async () => {
    await connectWithClipboard();
    await client.evaluate(() => { window.stream.clipboard.onRefused = (text) => { window.refused = text; }; });
    const unreadable = () => window.stream.clipboard.paste({ size: 3, type: 'text/plain', slice: () => { throw new Error('it has gone'); } });
    assert.equal(await client.evaluate(unreadable), false);
    assert.match(await client.evaluate(() => window.refused), /it has gone/);
    assert.equal(await client.evaluate(() => window.stream.clipboard.paste('next')), true);
});

test('no more than a megabyte is on its way before the instance acknowledges it', async () => {
    await connectWithClipboard();
    await instance.evaluate(() => { window.instance.silent = true; });
    await client.evaluate(() => { window.pasting = window.stream.clipboard.paste('x'.repeat(6_000_000)); });
    await instance.waitForFunction(() => window.instance.clipboardBytes >= 1_048_576);
    await client.waitForFunction(() => window.stream.clipboard.channel.bufferedAmount === 0);
    assert.ok(await instance.evaluate(() => window.instance.clipboardBytes) <= 1_048_576 + 2 * 262_144);
});

test('what the instance has copied is in the clipboard of this device', { skip: isFirefox }, async () => {
    await connectWithClipboard();
    await client.bringToFront();
    await client.locator('#stage').focus();
    await copy('text/plain', 'from the guest ✓');
    await client.waitForFunction(() => window.stream.clipboard.known === 'from the guest ✓' && window.stream.clipboard.pending === undefined);
    assert.equal(await readText(), 'from the guest ✓');
});

test('what the instance has copied while the page has no focus waits for it', async () => {
    await connectWithClipboard();
    await client.evaluate(() => {
        document.hasFocus = () => false;
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.written = text; }, readText: async () => '' } });
    });
    await copy('text/plain', 'later');
    await client.waitForFunction(() => window.stream.clipboard.pending === 'later');
    assert.equal(await client.evaluate(() => window.written), undefined);
    await client.evaluate(() => {
        document.hasFocus = () => true;
        window.dispatchEvent(new Event('focus'));
    });
    await client.waitForFunction(() => window.written === 'later' && window.stream.clipboard.pending === undefined);
});

test('pictures come as PNG', async () => {
    await connectWithClipboard({ onCopied: undefined });
    await client.evaluate(() => { window.stream.clipboard.onCopied = (content) => { window.copied = content; }; });
    await copy('image/png', 'not looked at here');
    await client.waitForFunction(() => window.copied instanceof Blob);
    assert.equal(await client.evaluate(() => window.copied.type), 'image/png');
    await client.evaluate(() => window.stream.clipboard.paste(new Blob(['\x89PNG'], { type: 'image/png' })));
    assert.equal((await pastes())[0].format, 'image/png');
});

test('the keys that paste follow what is pasted, and Control stays as it is held', { skip: isFirefox }, async () => {
    await connectWithClipboard();
    await client.bringToFront();
    await client.locator('#stage').focus();
    await client.evaluate(() => navigator.clipboard.writeText('pasted by keys'));
    await client.keyboard.press('Control+KeyV');
    // What was in the clipboard before may have been given with the focus.
    await instance.waitForFunction(() => window.instance.pastes.some(({ text }) => text === 'pasted by keys'));
    const seen = await keys(4);
    const v = 25, control = 83;
    assert.deepEqual(seen.filter(([code]) => code === v), [[v, true], [v, false]]);
    const at = seen.findIndex(([code]) => code === v);
    assert.deepEqual(seen.slice(0, at).filter(([code]) => code === control).at(-1), [control, true]);  // down as V goes down
    assert.deepEqual(seen.filter(([code]) => code === control).at(-1), [control, false]);
});

test('where pasting is off or forbidden the keys go to the instance alone', async () => {
    await connectWithClipboard(true, { to_instance: false, from_instance: true });
    await client.locator('#stage').focus();
    await client.keyboard.press('Control+KeyV');
    assert.deepEqual(await keys(4), [[83, true], [25, true], [25, false], [83, false]]);
    assert.equal(await client.evaluate(() => window.stream.clipboard.paste('no')), false);
    assert.deepEqual(await instance.evaluate(() => window.instance.pastes), []);
});

test('the instance is told whether its copies are wanted', async () => {
    await connectWithClipboard({ copying: false });
    await instance.waitForFunction(() => window.instance.follows.length === 1);
    await client.evaluate(() => window.stream.clipboard.setCopying(true));
    await instance.waitForFunction(() => window.instance.follows.length === 2);
    assert.deepEqual(await instance.evaluate(() => window.instance.follows), [false, true]);
});

test('copies that are not wanted, or too large, are let fall', async () => {
    await connectWithClipboard({ copying: false, onCopied: undefined });
    await client.evaluate(() => { window.stream.clipboard.onCopied = (content) => { window.copied = content; }; });
    await copy('text/plain', 'unwanted');
    await client.evaluate(() => window.stream.clipboard.setCopying(true));
    await instance.evaluate((name) => window.instance.own[name].send(JSON.stringify({ type: 'copied', format: 'text/plain', size: 1e10 })), label);
    await instance.evaluate((name) => window.instance.own[name].send(new Uint8Array(1000)), label);
    await copy('text/plain', 'wanted');
    await client.waitForFunction(() => window.copied !== undefined);
    assert.equal(await client.evaluate(() => window.copied), 'wanted');
});

test('why the instance refuses what is pasted is said', async () => {
    await connectWithClipboard();
    await client.evaluate(() => { window.stream.clipboard.onRefused = (text) => { window.refusal = text; }; });
    await instance.evaluate(() => { window.instance.refusal = 'not now'; });
    assert.equal(await client.evaluate(() => window.stream.clipboard.paste('text')), false);
    assert.equal(await client.evaluate(() => window.refusal), 'not now');
    assert.equal(await client.evaluate(() => window.stream.clipboard.paste('x'.repeat(8 * 1024 * 1024 + 1))), false);
    assert.match(await client.evaluate(() => window.refusal), /8 MiB/);
});
