// Texts of others on every page: whatever an answer or an event says is shown as text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everywhere, fill, visit } from './places.mjs';
import { World } from './world.mjs';

const markup = '<img src=x onerror="window.isHit = 1"><b class=injected>bold</b>';
// Members that are texts for people. The others are words, numbers and URLs that the service itself has made.
const texts = new Set(['name', 'app_name', 'description', 'notes', 'tags', 'error_message', 'err', 'error', 'message', 'meaning', 'manifest_version', 'boot', 'boot_activity', 'features', 'requestor', 'who', 'auth_name',
    'user_agent', 'address', 'public_address', 'node_address', 'architecture', 'runtime', 'path', 'rule', 'default', 'stored_logs', 'required_permissions', 'node_selector', 'boot_package', 'addons', 'config', 'context',
    'storage_pool', 'video_encoder', 'instance_type', 'abi', 'url']);

const hostile = (value) => (typeof value === 'string' ? `${value}${markup}` : Array.isArray(value) ? value.map(hostile) : spoiled(value, true));

// The same value with markup in its texts.
function spoiled(value, all = false) {
    if (Array.isArray(value)) return value.map((item) => spoiled(item, all));
    if (typeof value !== 'object' || value === null) return all && typeof value === 'string' ? hostile(value) : value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, texts.has(name) ? hostile(member) : spoiled(member, all)]));
}

let world, places;
before(async () => {
    world = await World.start();
    places = [...everywhere, ...await fill(world)];
});
after(() => world.close());

// The page of somebody whose service is full of markup.
async function open() {
    const page = await world.open();
    await page.route(/\/1\.0\/(?!events)/, async (route) => {
        if (route.request().method() !== 'GET') return route.continue();  // the driver of Firefox would lose what is sent
        const answer = await route.fetch(), text = await answer.text();
        const isJson = (answer.headers()['content-type'] ?? '').includes('json');
        return route.fulfill({ response: answer, body: isJson ? JSON.stringify(spoiled(JSON.parse(text))) : `${text}${markup}` });
    });
    await page.routeWebSocket(/\/1\.0\/events/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => socket.send(JSON.stringify(spoiled(JSON.parse(message)))));
    });
    await page.goto('about:blank');
    await page.goto(`${world.url}/ui/`);
    return page;
}

// What the markup has become, in the page and in links that would run something.
const become = (page) => page.evaluate(() => [
    ...[...document.querySelectorAll('.injected, main img')].map((element) => element.outerHTML),
    ...[...document.querySelectorAll('a[href]')].filter(({ protocol }) => ['javascript:', 'data:', 'vbscript:'].includes(protocol)).map(({ href }) => href),
    ...(window.isHit ? ['a script has run'] : []),
]);

const isShown = () => [document.querySelector('main').textContent, ...[...document.querySelectorAll('main input')].map(({ value }) => value)].join().includes('<b class=injected>');

// One that is logged in elsewhere, for the list of sessions.
async function logInElsewhere() {
    const link = world.ctl('ui', '--print', '--role', 'viewer').split('\n')[0];
    const viewer = await world.open({ certificate: false, place: link.slice(link.indexOf('#')) });
    await viewer.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    return viewer;
}

// What happens before the page is connected is not told.
async function somethingHappens(page) {
    await page.getByText('live', { exact: true }).waitFor();
    world.ctl('protect', 'running-1');
}

test('markup in whatever the service answers is shown, and is nothing but text', { timeout: 240_000 }, async () => {
    const viewer = await logInElsewhere(), page = await open();
    for (const place of places) {
        await visit(page, place);
        if (place === '#/events') await somethingHappens(page);
        if (place !== '#/trust') await page.waitForFunction(isShown).catch(() => assert.fail(`${place} shows no text of the service`));  // names of certificates: trust_test.mjs
        assert.deepEqual(await become(page), [], place);
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().close();
    await viewer.context().close();
});

test('markup in what the service refuses is text', async () => {
    const page = await world.open({ place: '#/images' });
    await page.getByRole('table').getByText('busybox').waitFor();
    await page.route(/\/1\.0\//, (route) => route.fulfill({ status: 400, json: { type: 'error', error: markup, error_code: 400 } }));
    for (const place of ['#/applications', '#/nodes', '#/configuration', '#/trust/invitations', '#/operations']) {
        await visit(page, place);
        await page.getByRole('alert').getByText(markup).first().waitFor();
        assert.deepEqual(await become(page), [], place);
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().close();
});
