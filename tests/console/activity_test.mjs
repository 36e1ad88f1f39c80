// Operations, events and streams: what goes on, what went on, and how it is stopped.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { saved } from './ways.mjs';
import { barriers, World } from './world.mjs';

const hostile = '<img src=x onerror=alert(1)> \u202egnirts';

let world;
before(async () => {
    world = await World.start({ simulated_start_delay: '0s' });
    world.addImage();
    world.addApplication();
});
after(() => world.close());

// As a client does that does not wait.
const send = (page, method, path, body) => page.evaluate(async ([verb, url, content]) => (await fetch(url, { method: verb, body: JSON.stringify(content), headers: { 'X-Svc-Session-Key': localStorage.getItem('svc-session-key') ?? '' } })).status, [method, path, body]);
const isLive = (page) => page.getByText('live', { exact: true }).waitFor();  // what happens before is not told
const rows = (page) => page.getByRole('list', { name: 'Events' }).getByRole('listitem');

test('operations come live, with who asked, what they are of, and why they failed', async () => {
    const page = await world.open({ place: '#/operations' });
    const adding = page.getByRole('row', { name: /success Adding image .* root/ });
    await adding.waitFor();
    assert.match(await adding.getByRole('link').getAttribute('href'), /^#\/images\/\w+$/);
    world.ctl('launch', 'game', '--name', 'live');
    await page.getByRole('row', { name: /success Creating container/ }).first().waitFor();
    await page.getByLabel('Filter operations').fill('adding');
    await page.getByRole('row', { name: /Creating container/ }).first().waitFor({ state: 'hidden' });
    assert.match(page.url(), /filter=adding/);
    await page.getByLabel('Filter operations').fill('nothing is like this');
    await page.getByText(/^None of \d+ operations matches/).waitFor();
    await page.context().close();
});

test('an operation is cancelled, after a question', async () => {
    await world.restart({ simulated_start_delay: '10m' });
    const page = await world.open({ place: '#/operations' });
    await page.getByRole('status').filter({ hasText: '0 running' }).waitFor();
    assert.equal(await send(page, 'POST', '/1.0/instances', { app_id: 'game', name: 'endless' }), 202);
    const row = page.getByRole('row', { name: /running Creating container/ });
    await row.getByRole('button', { name: 'Cancel Creating container' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the operation' }).click();
    await page.getByRole('row', { name: /cancelled Creating container/ }).waitFor();
    await page.getByLabel('Status').selectOption('cancelled');
    await page.getByRole('row', { name: /success/ }).first().waitFor({ state: 'hidden' });
    await page.context().close();
    await world.restart({});
});

test('events come live, are filtered by type and text, and open to their JSON', async () => {
    const page = await world.open({ place: '#/events' });
    await isLive(page);
    world.ctl('launch', 'game', '--name', 'seen');
    const running = rows(page).filter({ hasText: 'container-running' });
    await running.waitFor();
    await running.getByRole('button', { name: /^JSON of event/ }).click();
    await running.getByText('"action": "container-running"').waitFor();
    await page.getByLabel('Lifecycle').uncheck();
    await running.waitFor({ state: 'hidden' });
    await rows(page).filter({ hasText: 'Creating container: Success' }).waitFor();
    await page.getByLabel('Lifecycle').check();
    await page.getByLabel('Filter events').fill('container-CREATED');
    await rows(page).filter({ hasText: 'Creating container' }).first().waitFor({ state: 'hidden' });
    assert.equal(await rows(page).count(), 1);
    await page.context().close();
});

test('events wait while the list is paused, and those that are kept are loaded', async () => {
    const page = await world.open({ place: '#/events' });
    await isLive(page);
    await page.getByRole('button', { name: 'Pause' }).click();
    world.ctl('launch', 'game', '--name', 'paused');
    const resume = page.getByRole('button', { name: /^Resume \(\d+ waiting\)$/ });
    await resume.waitFor();
    assert.equal(await rows(page).count(), 0);
    await resume.click();
    await rows(page).filter({ hasText: 'container-running' }).first().waitFor();
    await page.getByRole('button', { name: 'Load what is kept' }).click();
    await rows(page).filter({ hasText: 'Adding image: Success' }).first().waitFor();
    await page.getByText('Older ones are being loaded').waitFor({ state: 'hidden' });
    const numbers = await page.getByRole('button', { name: /^JSON of event/ }).evaluateAll((buttons) => buttons.map((button) => Number(/\d+/.exec(button.getAttribute('aria-label'))[0])));
    assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => b - a), 'each event once, newest first');
    const file = await saved(page, () => page.getByRole('button', { name: 'Download' }).click());
    const lines = file.toString().trimEnd().split('\n').map(JSON.parse);
    assert.ok(lines.length >= numbers.length);
    assert.ok(lines[0].sequence < lines.at(-1).sequence, 'oldest first');
    await page.context().close();
});

test('a text that looks like markup stays a text', async () => {
    const page = await world.open({ place: '#/events' });
    await isLive(page);
    let asked = false;
    page.on('dialog', (dialog) => { asked = true; dialog.dismiss(); });
    assert.equal(await send(page, 'POST', '/1.0/instances', { app_id: 'game', tags: [`session=${hostile}`] }), 202);
    await rows(page).filter({ hasText: 'container-running' }).waitFor();
    await page.evaluate(() => { location.hash = '#/streams'; });
    await page.getByRole('cell').filter({ hasText: '<img src=x onerror=alert(1)>' }).waitFor();
    assert.equal(await page.locator('img[src=x]').count(), 0);
    assert.equal(asked, false);
    assert.deepEqual(await barriers(page), []);
    await page.context().close();
});

test('streams are the instances of sessions; the gateway is the one that is configured', async () => {
    const page = await world.open({ place: '#/streams' });
    const before = await page.getByRole('region', { name: 'Streams' }).getByRole('row').count();
    world.ctl('launch', 'game', '--name', 'streamed', '--tags', 'session=abc123');
    const row = page.getByRole('row', { name: /abc123 streamed running game/ });
    await row.waitFor();
    assert.ok(before < 3);
    await page.getByText('The service knows no gateway.').waitFor();
    assert.equal(await row.getByRole('link', { name: 'Stream', exact: true }).getAttribute('href'), `#/instances/${world.json('show', 'streamed').id}/screen/stream`);
    world.ctl('config', 'set', 'console.gateway_url', 'https://gateway.example:4000');
    await page.reload();
    assert.equal(await page.getByRole('link', { name: 'Open the gateway' }).getAttribute('href'), 'https://gateway.example:4000');
    assert.equal(await page.getByText('The service knows no gateway.').count(), 0);
    world.ctl('config', 'set', 'console.gateway_url', '');
    world.ctl('delete', 'streamed', '--yes');
    await row.waitFor({ state: 'hidden' });
    await page.context().close();
});

for (const dark of [false, true]) {
    test(`operations, events and streams have no barriers, ${dark ? 'dark' : 'light'}, wide and narrow`, async () => {
        for (const small of [false, true]) {
            for (const [place, ready] of [['#/operations', 'Creating container'], ['#/events', 'Nothing has happened yet'], ['#/streams', 'onerror']]) {
                const page = await world.open({ place, small, dark });
                await page.getByText(ready).first().waitFor();
                if (place === '#/events') {
                    await page.getByRole('button', { name: 'Load what is kept' }).click();
                    await rows(page).first().waitFor();
                }
                assert.deepEqual(await barriers(page), []);
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, `no sideways scrolling of ${place}`);
                assert.deepEqual(page.said, []);
                await page.context().close();
            }
        }
    });
}
