// The page of the audit: what was there, what comes, and what was refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { obstacles } from './packages.mjs';
import { saved } from './ways.mjs';
import { World } from './world.mjs';

let world, page;
before(async () => {
    world = await World.start();
    world.ctl('config', 'set', 'scheduler.strategy', 'binpack');
    page = await world.open({ place: '#/audit' });
});
after(() => world.close());

const rows = () => page.getByRole('row').filter({ hasText: '/1.0/config' });

test('what was changed before is listed, and what is changed now comes', async () => {
    await rows().first().waitFor();
    assert.equal(await rows().count(), 1);
    world.ctl('config', 'set', 'container.features', 'a');
    await rows().nth(1).waitFor();
});

test('what was refused is told with the reason, and hostile paths are text', async () => {
    await page.evaluate(() => fetch('/1.0/images/<img src=x onerror=alert(1)>', { method: 'DELETE', body: '{}', headers: { 'X-Svc-Session-Key': localStorage.getItem('svc-session-key') ?? '' } }));
    await page.getByLabel('Only what was refused').check();
    await page.getByRole('cell', { name: 'image not found' }).waitFor();
    assert.equal(await rows().count(), 0);
    assert.equal(await page.locator('main img').count(), 0);
    await page.evaluate(() => fetch('/1.0/oidc/callback', { redirect: 'manual' }));
    const login = page.getByRole('row').filter({ hasText: '/1.0/oidc/callback' });
    await login.locator('.state.bad', { hasText: '303' }).waitFor();
    await page.getByLabel('Only what was refused').uncheck();
});

test('a pause holds new entries back, and loses none', async () => {
    const before = await rows().count();
    await page.getByRole('button', { name: 'Pause' }).click();
    world.ctl('config', 'set', 'container.features', 'b');
    world.ctl('config', 'set', 'container.features', 'c');
    await page.getByRole('button', { name: 'Go on (2 new)' }).waitFor();
    assert.equal(await rows().count(), before);
    await page.getByRole('button', { name: 'Go on (2 new)' }).click();
    await rows().nth(before + 1).waitFor();
});

test('what the filter leaves is downloaded', async () => {
    await page.getByLabel('Filter the audit').fill('/1.0/config');
    const file = await saved(page, () => page.getByRole('button', { name: 'Download' }).click());
    const lines = file.toString().trim().split('\n').map(JSON.parse);
    assert.equal(lines.length, await rows().count());
    assert.equal(lines.every(({ method, path, who }) => method === 'PATCH' && path === '/1.0/config' && who !== ''), true);
});

test('the page has no barriers', async () => {
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(page.said.filter((line) => !/404/.test(line)), []);
});
