// The stream of an instance in the console, and pictures of it, with a real gateway and a real desktop. Needs root and LXC.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { patience } from '../browser/browser.mjs';
import { StreamedWorld } from './streamed_world.mjs';
import { barriers } from './world.mjs';

const picture = readFileSync(new URL('../browser/picture.js', import.meta.url), 'utf8');
const corners = ['red', 'green', 'blue', 'yellow'];

let world;
before(async () => { world = await StreamedWorld.start(); }, { timeout: 600_000 });
after(() => world.close());

// `gateway`: whether one is configured when the page is loaded.
const streamTest = (name, run, { gateway = true } = {}) => test(name, { timeout: 300_000 }, async (t) => {
    if (world.skipped) return t.skip(world.skipped);
    configure(gateway ? world.gateway : '');
    const page = await world.open({ place: `#/instances/${world.instance}/screen` });
    await run(page);
    return page.context().close();
});
const configure = (address) => world.ctl('config', 'set', 'console.gateway_url', address);
const button = (page, name) => page.getByRole('button', { name, exact: true });
const framed = (page) => page.frameLocator('iframe[title=Stream]');
const frameOf = async (page) => (await page.locator('iframe[title=Stream]').elementHandle()).contentFrame();

// Signs in within the frame, until the picture has what is wanted.
async function signIn(page) {
    await framed(page).getByLabel('Token of your account').fill(world.token);
    await framed(page).getByRole('button', { name: 'Sign in' }).click();
    await framed(page).locator('#bottom').waitFor();
}

async function awaitPicture(page, wanted) {
    const frame = await frameOf(page);
    await frame.evaluate(picture);
    const { fits, picture: seen } = await frame.evaluate(([members, time]) => window.awaitPicture(members, time), [wanted, patience]);
    assert.ok(fits, `the picture is not ${JSON.stringify(wanted)}: ${JSON.stringify(seen)}`);
}

// What ffprobe says of a file that the page saves.
async function saved(page) {
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
    const words = ['-v', 'error', '-count_frames', '-show_entries', 'stream=codec_name,width,height,nb_read_frames', '-of', 'json', await download.path()];
    const probed = spawnSync('ffprobe', words, { encoding: 'utf8' });
    assert.equal(probed.stderr, '');
    const [stream] = JSON.parse(probed.stdout).streams;
    return { name: download.suggestedFilename(), ...stream, frames: Number(stream.nb_read_frames) };
}

streamTest('without a configured gateway the page says how one is named', async (page) => {
    await page.getByText('svcctl config set console.gateway_url https://HOST:4000').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
}, { gateway: false });

streamTest('a page that was loaded before the gateway was configured is loaded again', async (page) => {
    await page.getByText('The service knows no gateway.').waitFor();
    configure(world.gateway);
    await page.getByRole('link', { name: 'Summary' }).click();
    await page.getByRole('link', { name: 'Stream', exact: true }).click();
    await page.getByText('The gateway was configured after this page was loaded.').waitFor();
    await button(page, 'Try again').click();
    await framed(page).getByLabel('Token of your account').waitFor();
}, { gateway: false });

streamTest('one click leads to the stream, in a frame that takes keys', async (page) => {
    await page.getByRole('link', { name: 'Stream', exact: true }).click();
    await signIn(page);
    await awaitPicture(page, { corners, width: 1280, height: 720 });
    await framed(page).locator('#stage').click();
    await page.keyboard.type('ab');
    await awaitPicture(page, { lastCharacter: 'b' });
    assert.deepEqual(page.said, []);
    await button(page, 'Full screen').click();
    await page.waitForFunction(() => document.fullscreenElement?.title === 'Stream');
    await page.evaluate(() => document.exitFullscreen());
    // The token is asked for once in a tab.
    await page.getByRole('link', { name: 'Close the stream' }).click();
    await page.locator('iframe').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Show the stream' }).click();
    await awaitPicture(page, { corners });
    assert.deepEqual(await barriers(page), []);
});

streamTest('the browser\'s "back" leads from the stream to the page before', async (page) => {
    await page.getByRole('link', { name: 'Show the stream' }).click();
    await signIn(page);
    await page.evaluate(() => history.back());
    await page.locator('iframe').waitFor({ state: 'detached' });
    assert.match(page.url(), /\/screen$/);
});

streamTest('the token is in no address and not in the page around the frame', async (page) => {
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByRole('link', { name: 'Show the stream' }).click();
    await signIn(page);
    assert.ok(asked.some((url) => url.startsWith(world.gateway)));
    assert.deepEqual(asked.filter((url) => url.includes(encodeURIComponent(world.token)) || url.includes(world.token)), []);
    assert.equal((await frameOf(page)).url(), `${world.gateway}/`);
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.body.textContent]));
    assert.equal(kept.includes(world.token), false);
});

streamTest('a page that the gateway does not name shows no frame of it', async (page) => {
    const other = await page.context().newPage();
    await other.goto(`${world.url.replace('127.0.0.1', 'localhost')}/ui/`);
    const refused = other.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
    await other.evaluate((address) => document.body.append(Object.assign(document.createElement('iframe'), { src: address })), `${world.gateway}/`);
    await refused;
    assert.equal(await other.frameLocator('iframe').locator('#sign-in').count(), 0);
});

streamTest('a screenshot is shown and saved', async (page) => {
    await button(page, 'Screenshot').click();
    await page.getByRole('img', { name: 'What the instance shows' }).waitFor();
    const { name, codec_name: codec, width, height } = await saved(page);
    assert.deepEqual([codec, width, height], ['png', 1280, 720]);
    assert.match(name, /\.png$/);
});

streamTest('a recording is shown and saved, whole or cancelled', async (page) => {
    await page.getByLabel('Seconds').fill('2');
    await button(page, 'Record').click();
    await page.getByLabel('Recording', { exact: true }).waitFor();
    const whole = await saved(page);
    assert.deepEqual([whole.codec_name, whole.width, whole.height], ['h264', 1280, 720]);
    assert.match(whole.name, /\.mp4$/);
    assert.ok(whole.frames >= 2, `${whole.frames} frames`);
    await page.getByLabel('Seconds').fill('600');
    await button(page, 'Record').click();
    await page.getByText(/^[1-9]\d* KiB$/).waitFor();
    await button(page, 'Cancel').click();
    await page.getByText('Recording; Cancel').waitFor({ state: 'hidden' });
    const cut = await saved(page);
    assert.notEqual(cut.name, whole.name);
    assert.ok(cut.frames >= 1, `${cut.frames} frames`);
});
