// What the console does when the daemon is away, when it is somebody else's turn, and when events never stop.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchMany } from './many.mjs';
import { World } from './world.mjs';

const many = 40;

let world;
before(async () => {
    world = await World.start();
    world.addImage();
    await launchMany(world.socket, many, (number) => ({ image_id: 'busybox', name: `web-${number}` }));
});
after(() => world.close());

const overview = (page) => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
const away = (page) => page.getByText('The service does not answer. The page goes on when it does.');

test('many actions wait while the daemon is away, and go on when it is back', async () => {
    const page = await world.open({ place: '#/instances' });
    await page.getByText(`${many} of ${many}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: `running ${many}` }).waitFor();
    const isDeletion = (request) => request.method() === 'DELETE' && request.url().includes('/1.0/instances/');
    let begun = 0;
    page.on('request', (request) => { begun += isDeletion(request) ? 1 : 0; });
    await page.getByRole('button', { name: `Select all ${many}` }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await world.stopDaemon('SIGKILL');
    await away(page).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: `Delete ${many}` }).click();
    await page.getByText(`0 of ${many} instances done`).waitFor();
    assert.equal(begun, 0);
    await world.startDaemon();
    await page.getByText(`${many} of ${many} instances done`).waitFor();
    assert.equal(begun, many);
    await page.getByText('No instance yet').waitFor();
    await page.context().close();
});

test('who has another role now sees what that role sees, without a reload', async () => {
    const page = await world.open();
    await overview(page);
    let loads = 0;
    page.on('load', () => { loads += 1; });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Configuration' }).waitFor();
    const { fingerprint } = world.json('trust', 'list').find((one) => one['common-name'] === 'console');
    world.ctl('trust', 'role', fingerprint, 'viewer');
    await page.getByRole('banner').getByText('viewer', { exact: true }).waitFor();
    world.ctl('trust', 'role', fingerprint, 'admin');
    assert.equal(loads, 0);
    await page.context().close();
});

test('events that never stop let a page rest between its loads', async () => {
    const page = await world.open({ place: '#/none' });
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    let tell;
    await page.routeWebSocket(/events/, (socket) => {
        socket.connectToServer();
        tell = (event) => socket.send(JSON.stringify(event));
    });
    const slow = 700, counted = new Map();
    await page.route(/\/1\.0\/(instances\?.*status=error.*limit=0|nodes\?|operations\?)/, async (route) => {
        const kind = /1\.0\/(\w+)/.exec(route.request().url())[1];
        counted.set(kind, (counted.get(kind) ?? 0) + 1);
        await new Promise((resolve) => { setTimeout(resolve, slow); });
        await route.continue();
    });
    await page.goto(`${world.url}/ui/#/overview`);
    await page.reload();
    await overview(page);
    await page.getByText('online').first().waitFor();
    const before = new Map(counted), began = performance.now();
    const events = [{ type: 'lifecycle', metadata: { action: 'container-running', source: '/1.0/containers/none' } },
        { type: 'logging', metadata: { level: 'info', message: 'node m1' } }, { type: 'gap', metadata: { since: 1, first: 9, last: 10 } }];
    for (let round = 0; round < 160; round += 1) {
        for (const event of events) tell(event);
        await page.waitForTimeout(50);
    }
    const most = (performance.now() - began) / (2 * slow) + 3;  // half of the time; one that has begun before, and one of each end
    for (const kind of ['instances', 'nodes', 'operations']) {
        const count = counted.get(kind) - before.get(kind);
        assert.ok(count > 1 && count <= most, `${kind}: ${count} loads, ${most} allowed`);
    }
    await page.context().close();
});

// The service has forgotten its samples when it is back: `times` of those that it has.
function historyOf(sample, times) {
    const columns = (value) => (Array.isArray(value) ? times.map(() => value[0]) : value && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, columns(one)])) : value);
    return { ...columns({ ...sample, slowest_nodes: undefined }), times, slowest_nodes: sample.slowest_nodes };
}

test('a graph goes on after the daemon was away: no sample twice, and a gap where there is none', async () => {
    const page = await world.open({ place: '#/none' });
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const start = Math.floor(Date.now() / 1000) - 2000;
    const answers = [[0, 10, 20], null, [620, 630], [640]], asked = [];
    await page.route(/metrics\/history/, async (route) => {
        const url = new URL(route.request().url());
        asked.push(Number(url.searchParams.get('since')));
        const times = answers.shift();
        if (!times) return route.abort();
        url.searchParams.delete('since');
        const response = await route.fetch({ url: url.href });
        const body = await response.json();
        return route.fulfill({ response, json: { ...body, metadata: historyOf(body.metadata, times.map((time) => start + time)) } });
    });
    await page.goto(`${world.url}/ui/#/overview`);
    await page.getByRole('button', { name: 'Values of Operations' }).click();
    const rows = page.getByRole('region', { name: 'Values of Operations' }).locator('tbody tr');
    await rows.nth(2).waitFor();
    const next = async () => {
        const answered = page.waitForEvent(answers[0] ? 'response' : 'requestfailed', (it) => it.url().includes('metrics/history'));
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
        await answered;
    };
    await next();
    await next();
    await page.getByText('nothing is known for 10 min').waitFor();
    await next();
    await rows.nth(6).waitFor();
    assert.equal(await rows.count(), 7, 'six samples and the gap');
    assert.deepEqual(asked, [0, 20, 20, 630].map((time) => (time ? start + time : 0)));
    await page.context().close();
});
