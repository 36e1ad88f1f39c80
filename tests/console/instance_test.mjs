// The page of one instance, over the simulated runtime: what needs no guest.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { barriers, World } from './world.mjs';

let world, id;
before(async () => {
    world = await World.start();
    world.addImage();
    world.ctl('launch', 'busybox', '--name', 'web-1', '-s', '+web:tcp:80', '-s', 'adb:tcp:5559', '--tags', 'shop');
    id = world.json('show', 'web-1').id;
});
after(() => world.close());

const opened = async (tab, options = {}) => {
    const page = await world.open({ place: `#/instances/web-1/${tab}`, ...options });
    await page.getByRole('heading', { level: 1, name: 'web-1' }).waitFor();
    return page;
};
const button = (page, name) => page.getByRole('button', { name, exact: true });

test('the summary tells what the instance is, where its services are, what happened and what it uses', async () => {
    const page = await opened('summary');
    const { services } = JSON.parse(world.ctl('show', 'web-1', '-o', 'json')).network;
    await page.getByRole('link', { name: `http://127.0.0.1:${services[0].node_port}` }).waitFor();
    await page.getByText(`127.0.0.1:${services[1].node_port}`, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Facts' }).getByText('shop').waitFor();
    await page.getByRole('region', { name: 'History' }).getByText('Placed on a node').waitFor();
    await page.getByRole('img', { name: /^Memory of .*: used [\d.]+ MiB/ }).waitFor();
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('it is paused, resumed, protected, stopped and started, and the page follows', async () => {
    const page = await opened('summary');
    const state = (name) => page.getByRole('heading', { level: 1 }).getByText(name).waitFor();
    await button(page, 'Pause').click();
    await state('paused');
    await button(page, 'Resume').click();
    await state('running');
    await button(page, 'Protect').click();
    await page.getByText('refused: it is protected').waitFor();
    assert.equal(await button(page, 'Delete …').count(), 0);
    await button(page, 'Unprotect').click();
    await page.getByText('allowed', { exact: true }).waitFor();
    await button(page, 'Stop').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await state('stopped');
    world.ctl('start', id);  // somebody else
    await state('running');
    await page.getByRole('region', { name: 'History' }).getByText('Resumed').waitFor();
    await page.context().close();
});

test('a guest without a shell is told, and tried again', async () => {
    const page = await opened('terminal');
    await page.getByText('Command not found').waitFor();
    await page.getByLabel('Command').fill('cat');
    await button(page, 'Open another').click();
    await page.getByText('Connected').waitFor();
    await page.frameLocator('iframe:visible').getByRole('textbox').pressSequentially('over here');
    await page.frameLocator('iframe:visible').getByText('over here').waitFor();
    await page.keyboard.press('Control+Alt+Escape');
    await page.waitForFunction(() => document.activeElement.getAttribute('aria-pressed') === 'true');
    await page.context().close();
});

test('the address cannot make the terminal run a command', async () => {
    const page = await world.open({ place: 'terminal.html' });
    const operations = world.json('operation', 'list').length;
    await page.evaluate((instance) => postMessage({ open: { instance, command: ['echo', 'stolen'] } }, location.origin), id);
    await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve); }));
    assert.equal(world.json('operation', 'list').length, operations);
    await page.context().close();
});

for (const tab of ['summary', 'terminal'])
    test(`${tab} has no barriers, light and dark, wide and narrow`, async () => {
        for (const [small, dark] of [[false, false], [true, true]]) {
            const page = await opened(tab, { small, dark });
            await page.getByText('Loading').waitFor({ state: 'hidden' });
            assert.deepEqual(await barriers(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'no sideways scrolling');
            await page.context().close();
        }
    });
