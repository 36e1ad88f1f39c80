// The list of instances: loaded in pages, followed by events, filtered, worked with by keys, acted upon many at a time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchMany } from './many.mjs';
import { reload } from './ways.mjs';
import { barriers, World } from './world.mjs';

const many = 2000;
const early = ['early-1', 'early-2', 'early-3'];
let world;
before(async () => {
    world = await World.start({ simulated_nodes: 3, simulated_cpus: 100000, simulated_memory: '100TB' });
    world.addImage();
});
after(() => world.close());

const grid = (page) => page.getByRole('grid', { name: 'Instances' });
const filter = (page) => page.getByLabel('Filter instances');
const shown = (page, text) => page.getByText(text, { exact: true }).waitFor();
const rowCount = (page) => grid(page).getAttribute('aria-rowcount').then((text) => Number(text) - 1);

async function open(options) {
    const page = await world.open({ place: '#/instances', ...options });
    await grid(page).waitFor();
    return page;
}

test('an empty list says what to do first', async () => {
    const page = await world.open({ place: '#/instances' });
    await page.getByText('No instance yet').waitFor();
    await page.getByText('svcctl launch APPLICATION').waitFor();
    assert.deepEqual(await barriers(page), []);
    await page.getByRole('link', { name: 'Launch an instance' }).click();
    await page.getByRole('heading', { name: 'Launch instances' }).waitFor();
    await page.context().close();
});

test('what is launched, paused, stopped and deleted elsewhere is seen without a reload', async () => {
    const page = await world.open({ place: '#/instances' });
    await page.getByText('No instance yet').waitFor();
    const id = world.ctl('launch', '--raw', 'busybox', '--name', 'first-1');
    const row = page.getByRole('row').filter({ hasText: 'first-1' });
    await row.getByText('running').waitFor();
    world.ctl('pause', id);
    await row.getByText('paused').waitFor();
    world.ctl('stop', id);
    await row.getByText('stopped').waitFor();
    world.ctl('protect', id);
    await row.getByText('protected').waitFor();
    world.ctl('unprotect', id);
    world.ctl('delete', '-y', id);
    await page.getByText('No instance yet').waitFor();
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('thousands are a window of rows, and a burst of changes is a few requests', async () => {
    const page = await world.open({ place: '#/instances' });
    await page.getByText('No instance yet').waitFor();
    for (const name of early) world.ctl('launch', '--raw', 'busybox', '--name', name);
    let requests = 0;
    page.on('request', (request) => { requests += request.url().includes('/1.0/instances?') ? 1 : 0; });
    await launchMany(world.socket, many, (number) => ({ image_id: 'busybox', name: `web-${number}`, tags: [number % 2 ? 'odd' : 'even'] }));
    const all = (many + early.length).toLocaleString();
    await shown(page, `${all} of ${all}`);
    await page.getByRole('button', { name: `running ${all}` }).waitFor();
    assert.ok(requests < many / 10, `${requests} requests`);
    assert.ok(await page.getByRole('row').count() < 60, 'only the rows in view are in the document');
    assert.equal(await rowCount(page), many + early.length);
    await page.context().close();
});

test('no record is missed when others go while the list is read', async () => {
    const page = await world.open({ place: '#/none' });
    await page.getByRole('navigation').waitFor();
    let removed = false;
    await page.route(/offset=998/, async (route) => {
        if (!removed) world.ctl('delete', '-y', ...early);
        removed = true;
        await route.continue();
    });
    await page.goto(`${world.url}/ui/#/instances`);
    await shown(page, `${many.toLocaleString()} of ${many.toLocaleString()}`);
    assert.ok(removed);
    assert.equal(await page.evaluate(async () => (await import('/ui/fleet.js')).fleet.rows.size), many);
    await page.context().close();
});

test('the list is read again when events are missing', async () => {
    const page = await world.open();
    let deaf = false, tell;
    await page.routeWebSocket(/events/, (socket) => {
        const server = socket.connectToServer();
        tell = (event) => socket.send(JSON.stringify(event));
        server.onMessage((message) => deaf || socket.send(message));
    });
    await page.goto(`${world.url}/ui/#/instances?filter=unseen`);
    await reload(page);
    await shown(page, `0 of ${many.toLocaleString()}`);
    deaf = true;
    world.ctl('launch', '--raw', 'busybox', '--name', 'unseen-1');
    assert.equal(await page.getByRole('link', { name: 'unseen-1' }).count(), 0);
    tell({ type: 'gap', metadata: { since: 1, first: 9, last: 10 } });
    await page.getByRole('link', { name: 'unseen-1' }).waitFor();
    world.ctl('delete', '-y', 'unseen-1');
    await page.context().close();
});

test('the keyboard alone reaches every row, selects and opens', async () => {
    const page = await open({ place: '#/instances?filter=tags%3Deven' });
    await shown(page, `${(many / 2).toLocaleString()} of ${many.toLocaleString()}`);
    await page.getByRole('button', { name: 'Name' }).click();
    await filter(page).focus();
    const isReached = () => page.evaluate(() => document.activeElement.getAttribute('role') === 'grid');
    for (let steps = 0; steps < 20 && !await isReached(); steps += 1) await page.keyboard.press('Tab');
    assert.ok(await isReached(), 'the list is reached by Tab');
    const active = () => page.evaluate(() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).innerText.split('\n')[0]);
    await page.keyboard.press('Home');
    assert.equal(await active(), 'web-2');
    await page.keyboard.press('ArrowDown');
    assert.equal(await active(), 'web-4', 'numbers in names are numbers');
    await page.keyboard.press('End');
    await page.getByRole('link', { name: `web-${many}`, exact: true }).waitFor();
    assert.equal(await active(), `web-${many}`);
    await page.keyboard.press('Shift+PageUp');
    await page.keyboard.press('Shift+ArrowDown');
    assert.ok(await page.getByRole('row', { selected: true }).count() > 3);
    await page.keyboard.press('Escape');
    await page.getByText('None selected').waitFor();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Control+a');
    await page.getByText(`${(many / 2).toLocaleString()} selected`).waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /^#\/instances\/[0-9a-v]{20}$/.test(location.hash));
    await page.context().close();
});

test('a filter is that of svcctl list, is in the address, and a mistake in it matches nothing', async () => {
    const page = await open();
    await filter(page).fill('node=sim2 tags=odd');
    const expected = world.json('list', '-f', 'node=sim2', '-f', 'tags=odd').length;
    await shown(page, `${expected.toLocaleString()} of ${many.toLocaleString()}`);
    assert.match(page.url(), /\?filter=node%3Dsim2\+tags%3Dodd$/);
    assert.deepEqual(await page.locator('#instance-filters option').evaluateAll((options) => options.map((option) => option.value)), ['node=sim2 tags=odd']);
    await filter(page).fill('status=created,running node=sim2 tags=odd');
    await shown(page, `${expected.toLocaleString()} of ${many.toLocaleString()}`);
    await filter(page).fill('colour=red');
    await page.getByText('“colour” is no key').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Show all' }).click();
    await filter(page).fill('WEB-1999');
    await shown(page, `1 of ${many.toLocaleString()}`);
    await reload(page);
    await shown(page, `1 of ${many.toLocaleString()}`);
    await page.context().close();
});

test('many are stopped with one bar, and what fails says why and is tried again', async () => {
    const page = await open({ place: '#/instances?filter=web-12' });
    const names = Array.from({ length: many }, (_, number) => `web-${number + 1}`).filter((name) => name.includes('web-12'));
    await shown(page, `${names.length} of ${many.toLocaleString()}`);
    world.ctl('protect', 'web-12');
    await page.getByRole('button', { name: `Select all ${names.length}` }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await page.getByText(`${names.length} of ${names.length} instances done`).waitFor();
    await page.getByRole('button', { name: `stopped ${names.length}` }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: `Delete ${names.length}` }).click();
    await page.getByText(`${names.length - 1} of ${names.length} instances done, 1 failed`).waitFor();
    await page.getByRole('region', { name: 'What has failed' }).getByText('protected').waitFor();
    assert.deepEqual(await barriers(page), []);
    world.ctl('unprotect', 'web-12');
    await page.getByRole('button', { name: 'Try 1 instance again' }).click();
    await page.getByText('1 of 1 instance done').waitFor();
    await page.getByText('No instance matches the filter').waitFor();
    assert.deepEqual(page.said.filter((text) => !text.includes('403')), []);
    await page.context().close();
});

test('what has not begun can be cancelled', async () => {
    const page = await open({ place: '#/instances?filter=tags%3Dodd' });
    await page.getByRole('button', { name: /^Select all/ }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const said = await page.getByText(/not begun$/).textContent();
    assert.ok(Number(/([\d,]+) not begun/.exec(said)[1].replace(',', '')) > 0, said);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.context().close();
});

test('who may not act on one is not refused a thousand times', async () => {
    const page = await open({ place: '#/instances?filter=tags%3Deven' });
    let refused = 0;
    await page.route(/1\.0\/instances\/\w+$/, (route) => {
        refused += 1;
        return route.fulfill({ status: 403, json: { type: 'error', error: 'Not Authorized', error_code: 403 } });
    });
    await page.getByRole('button', { name: /^Select all/ }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText(/failed, \d+ not begun$/).waitFor();
    await page.getByRole('button', { name: 'Close' }).waitFor();
    assert.ok(refused <= 8, `${refused} refused`);
    await page.context().close();
});

test('the list goes on after the daemon has been away', async () => {
    const page = await open({ place: '#/instances?filter=web-1999' });
    await page.getByRole('link', { name: 'web-1999' }).waitFor();
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    world.ctl('delete', '-y', 'web-1999');
    await page.getByRole('link', { name: 'web-1999' }).waitFor({ state: 'detached' });
    await page.context().close();
});

test('chosen columns are remembered', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Memory' }).check();
    await page.getByRole('checkbox', { name: 'Tags' }).uncheck();
    await page.getByRole('button', { name: 'Done' }).click();
    await reload(page);
    await page.getByRole('columnheader', { name: 'Memory' }).waitFor();
    assert.equal(await page.getByRole('columnheader', { name: 'Tags' }).count(), 0);
    await page.context().close();
});

test('texts of instances are texts', async () => {
    const evil = '<img src=x onerror=document.title=1>\u202e';
    world.ctl('launch', '--raw', 'busybox', '--name', 'evil-1', '--tags', evil);
    const page = await open({ place: '#/instances?filter=evil' });
    await page.getByText(evil).waitFor();
    await filter(page).fill(`tags="${evil}"`);
    await page.getByText(/^1 of /).waitFor();
    assert.equal(await rowCount(page), 1);
    assert.equal(await page.locator('main img').count(), 0);
    assert.deepEqual(page.said, []);
    await page.context().close();
});

for (const dark of [false, true]) {
    test(`the list has no barriers, ${dark ? 'dark' : 'light'}, wide and narrow`, async () => {
        for (const small of [false, true]) {
            const page = await open({ small, dark });
            await page.getByRole('link', { name: /^web-/ }).first().waitFor();
            assert.deepEqual(await barriers(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'no sideways scrolling');
            await page.context().close();
        }
    });
}
