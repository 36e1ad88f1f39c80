// Logging in and out: one-use links, sessions that end, roles, and pages of other origins.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { after, before, test } from 'node:test';
import { reload } from './ways.mjs';
import { barriers, World } from './world.mjs';

let world;
before(async () => {
    world = await World.start();
    world.addImage();
    world.addApplication('game');
});
after(() => world.close());

const placeOf = (link) => link.slice(link.indexOf('#'));
const link = (role) => placeOf(world.ctl('ui', '--print', ...(role ? ['--role', role] : [])));
const overview = (page) => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
const loginIsShown = (page) => page.getByRole('button', { name: 'Log in' }).waitFor();
const ask = (page, method, path, body) => page.evaluate(async (request) => {
    const headers = { 'Content-Type': 'application/json', 'X-Svc-Session-Key': localStorage.getItem('svc-session-key') ?? '' };
    const answer = await fetch(request.path, { method: request.method, body: request.body && JSON.stringify(request.body), headers });
    return { status: answer.status, text: await answer.text() };
}, { method, path, body });

// What a program behind another port of the same host gets: it keeps the cookies of whoever opens its page.
async function neighbour() {
    const seen = [];
    const server = createServer({ key: readFileSync(world.key), cert: readFileSync(world.certificate) }, (request, answer) => {
        seen.push(request.headers.cookie ?? '');
        answer.setHeader('Content-Type', 'text/html');
        answer.end('<title>elsewhere</title>');
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    return { seen, url: `https://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

// A request of no browser, which may say whatever it likes.
const askAlone = (path, headers) => new Promise((resolve, reject) => {
    get(`${world.url}${path}`, { headers, rejectUnauthorized: false, agent: false }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode));
    }).on('error', reject);
});

async function logIn(role) {
    const page = await world.open({ certificate: false, place: link(role) });
    await overview(page);
    return page;
}

test('before login the service tells nothing, whatever the page asks', async () => {
    const page = await world.open({ certificate: false });
    await loginIsShown(page);
    for (const path of ['/1.0/applications', '/1.0/config', '/1.0/certificates', '/1.0/sessions', '/1.0/containers/x/logs/y'])
        assert.equal((await ask(page, 'GET', path)).status, 403, path);
    const opened = await page.evaluate(() => new Promise((resolve) => {
        const socket = new WebSocket(`wss://${location.host}/1.0/events`);
        socket.onopen = () => resolve(true);
        socket.onclose = () => resolve(false);
    }));
    assert.equal(opened, false);
    assert.deepEqual(await barriers(page), []);
    await page.context().close();
});

test('a link logs in once; the second use is refused, and its secret is in no address', async () => {
    const place = link();
    const page = await world.open({ certificate: false, place });
    await overview(page);
    assert.equal(page.url().includes('login='), false);
    const cookies = await page.context().cookies();
    assert.deepEqual(cookies.map(({ name, httpOnly, secure, sameSite }) => [name, httpOnly, secure, sameSite]), [['__Host-svc-session', true, true, 'Strict']]);
    const second = await world.open({ certificate: false, place });
    await loginIsShown(second);
    await second.getByRole('alert').waitFor();
    await second.getByLabel('One-use link').fill(`https://example/ui/${link()}`);  // by hand
    await second.getByRole('button', { name: 'Log in' }).click();
    await overview(second);
    await reload(second);
    await overview(second);
    await page.context().close();
    await second.context().close();
});

test('a link asks before it replaces who is logged in', async () => {
    const page = await logIn('viewer');
    for (const answer of ['Cancel', 'Log in']) {
        await page.goto('about:blank');
        await page.goto(`${world.url}/ui/${link()}`);
        await page.getByRole('dialog').getByRole('button', { name: answer }).click();
        await overview(page);
        assert.equal(await page.getByRole('banner').getByText('viewer', { exact: true }).count(), answer === 'Cancel' ? 1 : 0);
    }
    await page.context().close();
});

test('who logs out is out, with all that the cookie could do', async () => {
    const page = await logIn();
    const [cookie] = await page.context().cookies();
    await page.getByRole('button', { name: 'Log out' }).click();
    await loginIsShown(page);
    assert.deepEqual(await page.context().cookies(), []);
    await page.context().addCookies([cookie]);
    assert.equal((await ask(page, 'GET', '/1.0/config')).status, 403);
    await page.context().close();
});

test('a session that is ended elsewhere sends its page to the login', async () => {
    const page = await logIn();
    await page.evaluate(() => { location.hash = '#/applications'; });
    await page.getByRole('link', { name: 'game', exact: true }).waitFor();
    for (const { id } of world.json('trust', 'session', 'list')) world.ctl('trust', 'session', 'delete', id);
    await loginIsShown(page);
    assert.equal(await page.getByText('game').count(), 0);
    await page.context().close();
});

test('a session goes on after the daemon was restarted', async () => {
    const page = await logIn();
    await world.stopDaemon();
    await page.getByText('The service does not answer.').waitFor();
    await world.startDaemon();
    await page.getByText('The service does not answer.').waitFor({ state: 'hidden' });
    assert.equal((await ask(page, 'GET', '/1.0/config')).status, 200);
    await page.context().close();
});

test('a viewer sees pages without buttons that change, and the service refuses', async () => {
    const page = await logIn('viewer');
    await page.getByText('viewer', { exact: true }).first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Audit' }).count(), 0);
    const shown = { applications: 'game', images: 'busybox', addons: 'There are no addons yet', configuration: 'scheduler.strategy', trust: 'console' };
    for (const [place, text] of Object.entries(shown)) {
        await page.evaluate((name) => { location.hash = `#/${name}`; }, place);
        await page.locator('main').getByText(text, { exact: true }).first().waitFor();
        for (const action of [/^New\b/, /^Upload/, /^Add an? /, /^Delete/, /^Remove/, /^Save/, /^Reset/, /^Launch/, /^Make/]) {
            assert.equal(await page.locator('main').getByRole('button', { name: action }).count(), 0, `${place}: ${action}`);
            assert.equal(await page.locator('main').getByRole('link', { name: action }).count(), 0, `${place}: ${action}`);
        }
    }
    await page.evaluate(() => { location.hash = '#/audit'; });
    await page.getByText('The page “Audit” needs the role admin; yours is viewer.').waitFor();
    for (const [method, path, body] of [['PATCH', '/1.0/config', { name: 'gpu.type', value: 'amd' }], ['DELETE', '/1.0/applications/game', {}], ['POST', '/1.0/sessions/links', { role: 'admin' }]]) {
        const { status, text } = await ask(page, method, path, body);
        assert.equal(status, 403, `${method} ${path}: ${text}`);
    }
    assert.equal(world.json('application', 'list').length, 1);
    await page.context().close();
});

test('an operator launches, and does not configure', async () => {
    const page = await logIn('operator');
    await page.evaluate(() => { location.hash = '#/applications'; });
    await page.getByRole('link', { name: 'Launch game' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'New application' }).count(), 0);
    const { text } = await ask(page, 'PATCH', '/1.0/config', { name: 'gpu.type', value: 'amd' });
    assert.match(text, /role admin/);
    await page.context().close();
});

// The cookie is sent to this page's neighbour, as both are the same site: another port of one host.
test('a page of another origin changes nothing and hears nothing, with the cookie', async () => {
    const page = await logIn();
    const own = await page.evaluate(() => new Promise((resolve) => {
        const socket = new WebSocket(`wss://${location.host}/1.0/events`, ['svc', `svc-session-key.${localStorage.getItem('svc-session-key')}`]);
        socket.onopen = () => resolve(true);
        socket.onclose = () => resolve(false);
    }));
    assert.equal(own, true);
    const elsewhere = await neighbour();
    try {
        const other = await page.context().newPage();
        await other.goto(elsewhere.url);
        const heard = await other.evaluate(async (url) => {
            await fetch(`${url}/1.0/certificates/tokens`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"thief"}' });
            return new Promise((resolve) => {
                const socket = new WebSocket(`${url.replace('https', 'wss')}/1.0/events`);
                socket.onopen = () => resolve(true);
                socket.onclose = () => resolve(false);
            });
        }, world.url);
        assert.equal(heard, false);
        assert.deepEqual(world.json('trust', 'list-tokens'), []);
        assert.equal((await ask(page, 'POST', '/1.0/certificates/tokens', { name: 'own' })).status, 200);  // from the console's own origin
    } finally {
        elsewhere.close();
    }
    await page.context().close();
});

test('a program behind another port of the host gets the cookie, and can do nothing with it', async () => {
    const page = await logIn();
    const elsewhere = await neighbour();
    try {
        const [other] = await Promise.all([page.context().waitForEvent('page'), page.evaluate((url) => {
            const link = Object.assign(document.createElement('a'), { href: url, target: '_blank', rel: 'noreferrer noopener' });
            document.body.append(link);
            link.click();
        }, elsewhere.url)]);
        await other.waitForLoadState();
        const stolen = elsewhere.seen.find((cookie) => cookie.includes('__Host-svc-session='));
        assert.ok(stolen, 'the browser has sent the cookie');
        for (const path of ['/1.0/config', '/1.0/instances', '/1.0/sessions', '/1.0/certificates']) assert.equal(await askAlone(path, { Cookie: stolen }), 403, path);
        const key = await page.evaluate(() => localStorage.getItem('svc-session-key'));
        assert.equal(await askAlone('/1.0/config', { Cookie: stolen, 'X-Svc-Session-Key': key }), 200);
        assert.equal(await other.evaluate(() => localStorage.getItem('svc-session-key')), null);
    } finally {
        elsewhere.close();
    }
    await page.context().close();
});

test('tabs share a session, and downloads go by a ticket', async () => {
    const page = await logIn();
    const second = await page.context().newPage();
    await second.goto(`${world.url}/ui/`);
    await overview(second);
    const id = world.json('application', 'list')[0].id;
    await second.goto(`${world.url}/ui/#/applications/${id}/0`);
    const [download] = await Promise.all([second.waitForEvent('download'), second.getByRole('button', { name: 'Export' }).click()]);
    assert.equal(await download.failure(), null);
    assert.match(download.url(), /\?ticket=/);
    await page.context().close();
});

test('a key of another session in an address costs nobody the session', async () => {
    const page = await logIn();
    await page.goto('about:blank');
    await page.goto(`${world.url}/ui/#session-key=0123456789abcdef&return=${encodeURIComponent('#/images')}`);
    await page.getByRole('heading', { name: 'Images', level: 1 }).waitFor();
    assert.equal(page.url().includes('session-key'), false);
    await page.context().close();
});

test('what a page asks by itself is said to be no use of the session', async () => {
    const page = await world.open({ certificate: false });
    await page.clock.install();
    await page.goto('about:blank');
    await page.goto(`${world.url}/ui/${link()}`);
    await overview(page);
    const polled = () => page.waitForRequest(/metrics\/history/);
    const [attended] = await Promise.all([polled(), page.clock.runFor(11_000)]);
    assert.equal(attended.headers()['x-svc-background'], undefined);
    await page.clock.runFor(61_000);
    const [alone] = await Promise.all([polled(), page.clock.runFor(11_000)]);
    assert.equal(alone.headers()['x-svc-background'], '1');
    await page.mouse.click(1, 1);
    const [back] = await Promise.all([polled(), page.clock.runFor(11_000)]);
    assert.equal(back.headers()['x-svc-background'], undefined);
    await page.context().close();
});
