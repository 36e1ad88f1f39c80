// The gateway's page with a gateway that is played and an instance that lives in another page: what a user sees and does.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { bodyOf, isFirefox, launch, newContext, patience, phone } from './browser.mjs';

const web = new URL('../../server/gateway/web/', import.meta.url);
const site = 'http://localhost';
const types = { js: 'text/javascript', html: 'text/html', css: 'text/css', svg: 'image/svg+xml' };

let browser, context, page, instance, socket, gateway;
let asked;  // resolves with the first request that changes something
let signalled;  // with the client's first message to the instance

before(async () => { browser = await launch(); });
after(() => browser.close());
beforeEach(() => {
    instance = undefined;
    let first;
    asked = new Promise((resolve) => { first = resolve; });
    let signal;
    signalled = new Promise((resolve) => { signal = resolve; });
    gateway = { first, signal, down: false, refuses: false, requests: [], applications: [{ name: 'demo' }], regions: [{ name: 'here' }], sessions: [], session: { id: 's1', status: 'active' } };
});
afterEach(() => context.close());

function metadataOf(method, pathname) {
    const grant = { id: 's1', region: 'here', status: 'created', joinable: true, url: 'ws://localhost/slave?token=t', stun_servers: [] };
    if (pathname === '/1.0/sessions/' || pathname.endsWith('/join')) return grant;
    const known = { '/1.0/applications': gateway.applications, '/1.0/regions': gateway.regions, '/1.0/sessions': gateway.sessions };
    return known[pathname] ?? gateway.session;
}

async function replyTo(method, pathname, body) {
    if (pathname.startsWith('/1.0/')) {
        if (gateway.refuses) return { status: 401, json: { type: 'error', status: 'failed', status_code: 401, error: 'Authorization failed' } };
        if (method !== 'GET') {
            gateway.requests.push({ method, pathname, body });
            gateway.first(gateway.requests[0]);
        }
        if (pathname.startsWith('/1.0/sessions/s') && !gateway.session) return { status: 404, json: { type: 'error', status: 'failed', status_code: 404, error: 'session not found' } };
        const status = pathname === '/1.0/sessions/' ? 201 : 200;
        return { status, json: { type: 'sync', status: 'success', status_code: status, metadata: metadataOf(method, pathname) } };
    }
    if (pathname === '/blank') return { contentType: 'text/html', body: '<body></body>' };
    const name = pathname === '/' ? 'index.html' : pathname.replace('/web/', '');
    return { contentType: types[name.split('.').pop()], body: await readFile(new URL(name, web)) };
}

async function serve(route) {
    const request = route.request(), { pathname } = new URL(request.url());
    if (gateway.down && pathname.startsWith('/1.0/')) return route.abort();
    return route.fulfill(await replyTo(request.method(), pathname, request.method() === 'GET' ? undefined : bodyOf(request)));
}

// The same by a server: what a page sends while it goes is not seen otherwise. Resolves with its address.
async function listen(onRequest) {
    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, site);
        const { status = 200, json, contentType = 'application/json', body } = await replyTo(request.method, pathname);
        response.writeHead(status, { 'Content-Type': contentType }).end(body ?? JSON.stringify(json));
        onRequest(request.method, pathname);
    });
    after(() => server.close());
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    return `http://127.0.0.1:${server.address().port}`;
}

async function open({ token = 'abc', device = { viewport: { width: 1280, height: 800 } }, at = site, script } = {}) {
    context = await newContext(browser, device);
    await context.route(`${site}/**`, serve);
    page = await context.newPage();
    if (script) await page.addInitScript(script);
    await page.routeWebSocket('ws://localhost/slave?token=t', (route) => {
        socket = route;
        route.onMessage((text) => {
            gateway.signal();
            instance?.evaluate((message) => window.fromClient?.(message), text).catch(() => {});
        });
    });
    await page.goto(`${at}/${token ? `#token=${token}` : ''}`);
    if (token) await page.locator('#overview').waitFor();
}

// With an instance that answers, until the picture is there.
async function start(fake = {}) {
    instance = await context.newPage();
    await instance.goto(`${site}/blank`);
    await instance.exposeFunction('toClient', (text) => socket.send(text));
    await instance.addScriptTag({ path: new URL('fake_instance.js', import.meta.url).pathname });
    await instance.evaluate((setup) => window.startInstance(setup), fake);
    await page.bringToFront();
    await page.getByRole('button', { name: 'Start demo' }).click();
    await page.locator('#tools').waitFor();
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
}

async function heard(type, count) {
    await instance.waitForFunction(([name, least]) => window.instance.heard.filter((message) => message.type === name).length >= least, [type, count]);
    return instance.evaluate((name) => window.instance.heard.filter((message) => message.type === name).map(({ data }) => data), type);
}

const focus = () => page.evaluate(() => document.activeElement?.closest('[id]')?.id);
const record = (members) => ({ id: 's1', app: 'demo', region: 'here', status: 'active', joinable: true, created_at: 1_700_000_000, ...members });

test('the top of the page is seen after signing in', async () => {
    await open({ device: { viewport: { width: 390, height: 400 } } });
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    assert.equal(await focus(), 'main');
    assert.equal(page.url(), `${site}/`);
});

test('a token that is refused is said, and stays to be mended', async () => {
    gateway.refuses = true;
    await open({ token: '' });
    await page.fill('#token', 'wrong');
    await page.keyboard.press('Enter');
    await page.getByText('does not accept this token').waitFor();
    assert.equal(await page.inputValue('#token'), 'wrong');
    gateway.refuses = false;
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Start demo' }).waitFor();
});

test('a token that holds no more leads to the sign-in', async () => {
    await open();
    gateway.refuses = true;
    await page.locator('#sign-in').waitFor();
    await page.getByText('does not accept this token').waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

test('a gateway that is away is said on a phone too, and forgotten when it is back', async () => {
    await open({ device: phone });
    gateway.down = true;
    await page.getByText('The gateway cannot be reached. Trying again').waitFor();
    gateway.applications = [{ name: 'demo' }, { name: 'new' }];
    gateway.down = false;
    await page.getByRole('button', { name: 'Start new' }).waitFor();
    assert.equal(await page.locator('#gateway-state').innerText(), '');
});

test('a stream that ends while the gateway is away leads back to the lists', async () => {
    await open();
    await start();
    gateway.down = true;
    await instance.evaluate(() => window.instance.pc.close());
    await page.getByText('The instance ended this stream').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Start demo' }).isVisible());
    await page.getByText('The gateway cannot be reached').waitFor();
});

test('sessions tell their state, a failed one its reason', async () => {
    gateway.sessions = [record({}), record({ id: 's2', status: 'error', joinable: false, status_message: 'the disk is full' })];
    await open();
    assert.ok(await page.getByText('the disk is full').isVisible());
    assert.ok(await page.getByRole('button', { name: 'Join demo, session s1' }).isVisible());
    const remove = page.getByRole('button', { name: 'Remove demo, session s2' });
    const [deletion] = await Promise.all([page.waitForRequest((request) => request.method() === 'DELETE'), remove.click()]);
    assert.equal(new URL(deletion.url()).pathname, '/1.0/sessions/s2');

});

test('a session that runs is ended after a question', async () => {
    gateway.sessions = [record({})];
    await open();
    await page.getByRole('button', { name: 'End demo, session s1' }).click();
    assert.equal(await focus(), 'confirm-no');
    await page.keyboard.press('Escape');
    assert.deepEqual(gateway.requests, []);
    await page.getByRole('button', { name: 'End demo, session s1' }).click();
    const [deletion] = await Promise.all([page.waitForRequest((request) => request.method() === 'DELETE'), page.locator('#confirm-yes').click()]);
    assert.equal(new URL(deletion.url()).pathname, '/1.0/sessions/s1');
});

test('a start that is cancelled leaves no session', async () => {
    await open();
    await page.getByRole('button', { name: 'Start demo' }).click();
    await page.getByText('Starting demo').waitFor();
    assert.equal(await focus(), 'cancel');
    const [deletion] = await Promise.all([page.waitForRequest((request) => request.method() === 'DELETE'), page.locator('#cancel').click()]);
    assert.equal(new URL(deletion.url()).pathname, '/1.0/sessions/s1');
    await page.getByRole('button', { name: 'Start demo' }).waitFor();
});

async function startAndWait() {
    await page.getByRole('button', { name: 'Start demo' }).click();
    await page.getByText('Starting demo').waitFor();
    await signalled;
}

const deletions = () => gateway.requests.filter(({ method }) => method === 'DELETE').map(({ pathname }) => pathname);

test('a page that is closed while an application starts leaves no session', { timeout: patience }, async () => {
    let deleted;
    const deletion = new Promise((resolve) => { deleted = resolve; });
    const at = await listen((method, pathname) => method === 'DELETE' && deleted(pathname));
    await open({ at });
    await startAndWait();
    await page.close({ runBeforeUnload: true });
    assert.equal(await deletion, '/1.0/sessions/s1');
});

test('the browser\'s "back" while an application starts leaves no session', async () => {
    await open();
    await startAndWait();
    const deletion = page.waitForRequest((request) => request.method() === 'DELETE');
    await page.goBack();
    assert.equal(new URL((await deletion).url()).pathname, '/1.0/sessions/s1');
    await page.getByRole('button', { name: 'Start demo' }).waitFor();
});

test('a page that goes while it shows an instance lets its session run', async () => {
    await open();
    await start();
    await page.goto(`${site}/blank`);
    assert.deepEqual(await heard('stream::disconnect', 1), [{}]);
    assert.deepEqual(deletions(), []);
});

test('an application without a streamer is not offered, and says why', async () => {
    gateway.applications = [{ name: 'greeter', streams: false }, { name: 'demo', streams: true }];
    await open();
    assert.deepEqual(await page.locator('#applications .name').allInnerTexts(), ['demo', 'greeter']);
    assert.ok(await page.getByRole('button', { name: 'Start demo' }).isVisible());
    assert.equal(await page.locator('[aria-label="Start greeter"]').isVisible(), false);
    const said = page.locator('#applications .reason').filter({ visible: true });
    assert.deepEqual(await said.allInnerTexts(), ['Cannot be shown here: it has no addon with a streamer.']);
});

test('what becomes streamed is offered', async () => {
    gateway.applications = [{ name: 'demo', streams: false }];
    await open();
    await page.getByText('There is no application that can be streamed yet').waitFor();
    gateway.applications = [{ name: 'demo', streams: true }];
    await page.getByRole('button', { name: 'Start demo' }).waitFor();
});

test('administrators see whose each session is', async () => {
    gateway.sessions = [record({ account: 'alice' }), record({ id: 's2', account: '' })];
    await open();
    assert.match(await page.locator('[data-session=s1] .detail').innerText(), /^of alice · since/);
    assert.match(await page.locator('[data-session=s2] .detail').innerText(), /^of no account · since/);
});

test('what is joined from a phone has the size of its window', async () => {
    gateway.sessions = [record({})];
    await open({ device: phone });
    await page.getByRole('button', { name: 'Join demo, session s1' }).click();
    await page.getByText('Joining demo').waitFor();
    const { screen } = (await asked).body;
    assert.ok(screen.height > screen.width && screen.width % 2 === 0 && screen.height % 2 === 0, JSON.stringify(screen));
    assert.equal(screen.density, 240);
});

// As somebody who is not signed in yet; what the page asks the gateway for.
async function follow(address) {
    await open({ token: '' });
    await page.goto(`${site}/${address}`);
    await page.locator('#token').fill('abc');
    await page.getByRole('button', { name: 'Sign in' }).click();
    return asked;
}

test('the session that the address names is joined after signing in, and leaves the address', async () => {
    gateway.session = record();
    assert.deepEqual(await follow('#session=s1'), { method: 'POST', pathname: '/1.0/sessions/s1/join', body: {} });
    await page.locator('#stream').waitFor();
    assert.equal(page.url(), `${site}/`);
    assert.equal(await page.locator('#stream-title').textContent(), 'demo');
});

test('an address takes control from nobody', async () => {
    gateway.session = record({ client_connected: true });
    assert.deepEqual((await follow('#session=s1')).body, { mode: 'watch' });
});

test('a session of an address that is not there is said', async () => {
    gateway.session = undefined;
    await open({ token: '' });
    await page.goto(`${site}/#session=s1&token=abc`);
    await page.getByText('has ended, or is another account').waitFor();
    assert.equal(page.url(), `${site}/`);
    assert.equal(await page.locator('#overview').isVisible(), true);
});

test('the page works where the browser keeps nothing for it', async () => {
    const refuse = () => {
        const get = () => { throw new DOMException('denied', 'SecurityError'); };
        for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get });
    };
    await open({ script: refuse });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('#sign-in').waitFor();
});

test('a region is a choice where there are several', async () => {
    gateway.regions = [{ name: 'here' }, { name: 'there' }];
    await open();
    await page.locator('#region').selectOption('there');
    await page.getByRole('button', { name: 'Start demo' }).click();
    await page.getByText('Starting demo').waitFor();
    assert.equal((await asked).body.region, 'there');
});

test('one region is no choice', async () => {
    await open();
    assert.equal(await page.locator('#region').isVisible(), false);
});

test('the keys lead back to the page by either chord', async () => {
    await open();
    await start();
    for (const chord of ['Control+Alt+Shift', 'Control+Alt+Escape']) {
        await page.locator('#stage').focus();
        await page.keyboard.press(chord);
        assert.equal(await focus(), 'leave', chord);
    }
    await page.locator('#keyboard').focus();
    await page.keyboard.press('Enter');
    assert.equal(await focus(), 'text-field');
    await page.keyboard.press('Control+Alt+Escape');
    assert.equal(await focus(), 'leave');
});

test('shortcuts that begin like the chord go to the instance', async () => {
    await open();
    await start();
    await page.locator('#stage').focus();
    await page.keyboard.press('Control+Alt+Shift+KeyT');
    assert.equal(await focus(), 'stage');
    const keys = await heard('input::key', 8);
    assert.deepEqual(keys.filter(({ code }) => code === 23).map(({ pressed }) => pressed), [true, false]);
});

test('extra keys go to the instance, and one that is held holds for the next key', async () => {
    await open();
    await start();
    await page.locator('#keyboard').click();
    const keys = page.getByRole('group', { name: 'Keys for the instance' });
    await keys.getByRole('button', { name: 'Esc', exact: true }).click();
    await keys.getByRole('button', { name: 'Ctrl', exact: true }).click();
    await page.keyboard.type('c');
    const both = (code) => [{ code, pressed: true }, { code, pressed: false }];
    const [down, up] = both(83);
    assert.deepEqual(await heard('input::key', 6), [...both(41), down, ...both(6), up]);
    await page.keyboard.type('c');
    assert.deepEqual(await heard('input::ime-event', 1), [{ type: 1, data: { text: 'c' } }]);
});

test('what is said is seen on a stream that fills the screen', async () => {
    await open();
    await start();
    await page.getByRole('button', { name: 'Full screen' }).click();
    await page.waitForFunction(() => document.fullscreenElement?.id === 'stream');
    await page.evaluate(() => { navigator.geolocation.watchPosition = (ok, refused) => { refused({ message: 'no satellites' }); return 1; }; });
    await page.locator('#handle').hover();
    await page.locator('#share-location').click();
    assert.ok(await page.getByText('no satellites').isVisible());
    assert.ok(await page.evaluate(() => document.fullscreenElement.contains(document.querySelector('#notice'))));
});

test('an interruption is said over the picture, which can be left', { skip: isFirefox && 'a page that is closed says goodbye there' }, async () => {
    await open();
    await page.locator('#keep').check();
    await start();
    await instance.close();
    await page.getByText('interrupted').waitFor();
    assert.notEqual(await page.locator('#progress').evaluate((element) => getComputedStyle(element).backgroundColor), 'rgba(0, 0, 0, 0)');
    await page.locator('#progress').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: 'Start demo' }).waitFor();
    assert.deepEqual(gateway.requests.filter(({ method }) => method === 'DELETE'), []);
});

test('the browser\'s "back" leaves the stream and not the page', async () => {
    await open();
    await start();
    await page.goBack();
    await page.getByRole('button', { name: 'Start demo' }).waitFor();
    assert.deepEqual(await heard('stream::disconnect', 1), [{}]);
    await page.getByRole('button', { name: 'Start demo' }).click();
    await page.getByText('Starting demo').waitFor();
});

test('a screen that fits the window follows it, and not the panels', async () => {
    await open();
    await page.selectOption('#screen', 'fit');
    await start({ capabilities: ['resize', 'clipboard'], clipboard: { to_instance: true, from_instance: true } });
    await page.locator('#stage video').waitFor();
    await page.click('#share');
    await page.click('#share');
    await page.setViewportSize({ width: 900, height: 500 });
    const [{ width, height }] = await heard('display::resize', 1);
    const stage = await page.evaluate(() => [document.querySelector('#stage').clientWidth, document.querySelector('#stage').clientHeight]);
    assert.deepEqual([width, height], stage.map((value) => Math.round(value / 2) * 2));
});

test('a screen of a fixed size keeps it', async () => {
    await open();
    await start({ capabilities: ['resize'] });
    await page.locator('#stage video').waitFor();
    assert.equal(await page.evaluate(() => document.querySelector('#screen').value), '1280x720');
    await page.setViewportSize({ width: 900, height: 500 });
    await page.keyboard.press('KeyA');
    await heard('input::key', 2);
    assert.deepEqual(await heard('display::resize', 0), []);
});

test('the switches of the clipboard are remembered, and show what the operator forbids', async () => {
    const fake = { capabilities: ['clipboard'], clipboard: { to_instance: true, from_instance: false } };
    await open();
    await start(fake);
    await page.locator('#copy-out[disabled]').waitFor({ state: 'attached' });
    await page.click('#share');
    await page.getByText('What is greyed out is not allowed').waitFor();
    assert.equal(await page.isChecked('#paste-in'), true);
    await page.uncheck('#paste-in');
    await page.reload();
    assert.equal(await page.isChecked('#paste-in'), false);
});

test('an instance that shares nothing shows no switches', async () => {
    await open();
    await start();
    assert.equal(await page.isVisible('#share'), false);
});

test('everything that can be used has a name', async () => {
    gateway.sessions = [record({})];
    await open();
    await start();
    await page.locator('#keyboard').click();
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, textarea, [role]')].filter((element) => {
        const text = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
        return element.checkVisibility() && !text?.trim() && !element.getAttribute('aria-labelledby') && element.getAttribute('role') !== 'status';
    }).map(({ outerHTML }) => outerHTML));
    assert.deepEqual(nameless, []);
});

test('nothing is wider than a small phone', async () => {
    gateway.applications = [{ name: 'a-name-that-somebody-gave-without-thinking-of-phones-0123456789' }];
    gateway.sessions = [record({ app: gateway.applications[0].name, status_message: 'x'.repeat(200), status: 'error' })];
    await open({ device: { ...phone, viewport: { width: 320, height: 568 } } });
    await page.locator('summary').click();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
});
