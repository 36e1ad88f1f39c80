// Drives the gateway's page for tests that are written elsewhere: reads commands, a JSON object a line, and answers each
// with {id, result} or {id, error}. Ends with its input. See browser.py.
import { createInterface } from 'node:readline';
import { isFirefox, launch, newContext, patience, phone } from './browser.mjs';

const pages = new Map();
const browser = await launch();

const page = ({ page: name = 'first' }) => pages.get(name).page;

async function open({ page: name = 'first', url, token, size, codec, packets = true }) {
    const viewport = size === 'phone' ? phone : { viewport: size ?? { width: 1280, height: 800 } };
    const context = await newContext(browser, { ...viewport, ignoreHTTPSErrors: true, geolocation: { latitude: 48.1, longitude: 11.5 } });
    const opened = await context.newPage();
    const said = [];
    opened.on('console', (message) => message.type() === 'error' && said.push(message.text()));
    opened.on('pageerror', (error) => said.push(String(error)));
    await opened.addInitScript({ path: new URL('picture.js', import.meta.url).pathname });
    if (codec) await opened.addInitScript((only) => window.decodeOnly(only), codec);
    if (!packets) await opened.addInitScript(() => window.useNoPackets());
    pages.set(name, { context, page: opened, said });
    await opened.goto(`${url}/${token ? `#token=${encodeURIComponent(token)}` : ''}`);
    return opened.url();
}

// What is at the top of the page, or on it, once it is there.
async function text({ selector, contains = '', ...rest }) {
    const element = page(rest).locator(selector).filter({ hasText: contains }).first();
    await element.waitFor();
    return element.innerText();
}

// Milliseconds of each step to the first picture, from the click on.
function steps(opened) {
    return opened.evaluate(() => {
        const marks = performance.getEntriesByType('mark').filter(({ name }) => name.startsWith('svc-stream:'));
        return Object.fromEntries(marks.map(({ name, startTime }) => [name.split(':')[1], startTime - marks[0].startTime]));
    });
}

// The first picture; throws what the page says when there is none.
async function awaitReady(opened) {
    await opened.locator('#progress').waitFor({ state: 'hidden' });
    if (!await opened.locator('#stream').isVisible()) throw new Error(await opened.locator('#notice p').innerText());
    return steps(opened);
}

async function start({ app, screen, keep = true, idle, devices = false, wait = true, ...rest }) {
    const opened = page(rest);
    if (screen) await opened.locator('#screen').selectOption(screen);
    await opened.locator('#keep').setChecked(keep);
    if (idle !== undefined || devices) await opened.locator('summary').click();
    if (idle !== undefined) await opened.locator('#idle').fill(String(idle));
    if (devices) await opened.locator('#camera').check();
    await opened.getByRole('button', { name: `Start ${app}`, exact: true }).click();
    await opened.locator('#stream').waitFor();
    return wait ? awaitReady(opened) : undefined;
}

async function join({ session, ...rest }) {
    await page(rest).locator(`[data-session="${session}"] .join`).click();
    await page(rest).locator('#stream').waitFor();
    return awaitReady(page(rest));
}

// Beside the client that steers.
async function watch({ session, ...rest }) {
    await page(rest).locator(`[data-session="${session}"] .watch`).click();
    await page(rest).locator('#stream').waitFor();
    return awaitReady(page(rest));
}

async function picture({ wanted = {}, ...rest }) {
    const { fits, picture: seen } = await page(rest).evaluate(([members, time]) => window.awaitPicture(members, time), [wanted, patience]);
    if (!fits) throw new Error(`the picture is not ${JSON.stringify(wanted)}: ${JSON.stringify(seen)}`);
    return seen;
}

// Where on the page a pixel of the guest's display is.
async function place(opened, [x, y]) {
    return opened.evaluate(([displayX, displayY]) => {
        const video = document.querySelector('video'), box = video.getBoundingClientRect();
        const scale = Math.min(box.width / video.videoWidth, box.height / video.videoHeight);
        return {
            x: box.left + (box.width - video.videoWidth * scale) / 2 + (displayX + 0.5) * scale,
            y: box.top + (box.height - video.videoHeight * scale) / 2 + (displayY + 0.5) * scale,
        };
    }, [x, y]);
}

// A finger at a place; where there are none, the events of one.
function tap(opened, { x, y }) {
    if (!isFirefox) return opened.touchscreen.tap(x, y);
    return opened.evaluate(([clientX, clientY]) => {
        for (const name of ['pointerdown', 'pointerup']) {
            document.querySelector('#stage').dispatchEvent(new PointerEvent(name,
                { pointerType: 'touch', pointerId: 7, clientX, clientY, button: 0, bubbles: true, cancelable: true }));
        }
    }, [x, y]);
}

const commands = {
    open,
    text,
    start,
    join,
    watch,
    picture,
    async ready(request) { return awaitReady(page(request)); },
    async click({ selector, ...rest }) { await page(rest).locator(selector).click(); },
    // The session of the stream, and what is asked before.
    async end(request) {
        await page(request).locator('#end').click();
        await page(request).locator('#confirm-yes').click();
    },
    async select({ selector, value, ...rest }) { await page(rest).locator(selector).selectOption(value); },
    async fill({ selector, value, ...rest }) { await page(rest).locator(selector).fill(value); },
    async type({ text: value, ...rest }) { await page(rest).keyboard.type(value); },
    async press({ key, ...rest }) { await page(rest).keyboard.press(key); },
    async key({ key, down, ...rest }) { await page(rest).keyboard[down ? 'down' : 'up'](key); },
    async files({ files, ...rest }) {
        await page(rest).locator('#chosen-files').setInputFiles(files.map(({ name, text: content }) => ({ name, mimeType: '', buffer: Buffer.from(content) })));
    },
    // The text of a file that a click makes the page save.
    async download({ selector, ...rest }) {
        const [saved] = await Promise.all([page(rest).waitForEvent('download'), page(rest).locator(selector).click()]);
        const parts = [];
        for await (const part of await saved.createReadStream()) parts.push(part);
        return { name: saved.suggestedFilename(), text: Buffer.concat(parts).toString() };
    },
    async size({ width, height, ...rest }) { await page(rest).setViewportSize({ width, height }); },
    async mouse({ at, button = 'left', ...rest }) {
        const { x, y } = await place(page(rest), at);
        const whole = isFirefox ? Math.floor : (value) => value;  // its driver rounds up
        await page(rest).mouse.click(whole(x), whole(y), { button });
    },
    async tap({ at, ...rest }) { await tap(page(rest), await place(page(rest), at)); },
    async wheel({ x = 0, y = 0, ...rest }) { await page(rest).mouse.wheel(x, y); },
    async frames({ count, ...rest }) { return page(rest).evaluate(([least, time]) => window.awaitFrames(least, time), [count, patience]); },
    async flips({ count, ...rest }) { return page(rest).evaluate(([times, time]) => window.measureFlips(times, time), [count, patience]); },
    async inbound(request) { return page(request).evaluate(() => window.readInbound()); },
    async focus(request) { return page(request).evaluate(() => document.activeElement?.id ?? ''); },
    async evaluate({ script, ...rest }) { return page(rest).evaluate(script); },
    async screenshot({ path, ...rest }) { await page(rest).screenshot({ path, animations: 'disabled' }); },
    // Errors on the page's console.
    async said({ page: name = 'first' }) { return pages.get(name).said; },
    async close({ page: name = 'first' }) {
        await pages.get(name)?.context.close();
        pages.delete(name);
    },
};

for await (const line of createInterface({ input: process.stdin })) {
    const { id, do: name, ...request } = JSON.parse(line);
    try {
        const result = await commands[name](request);
        process.stdout.write(`${JSON.stringify({ id, result: result ?? null })}\n`);
    } catch (error) {
        process.stdout.write(`${JSON.stringify({ id, error: error.message })}\n`);
    }
}
await browser.close();
