// The keyboard alone: the main action of each page is reached, begun and left, and who leaves it is where they were.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { visit } from './places.mjs';
import { World } from './world.mjs';

let world, page;
before(async () => {
    world = await World.start();
    world.addImage();
    world.ctl('launch', '--raw', 'busybox', '--name', 'web-1');
    page = await world.open();
});
after(() => world.close());

const focused = () => page.evaluate(() => document.activeElement.ariaLabel || document.activeElement.textContent.trim());

// From the title of the page on.
async function tabTo(name) {
    await page.locator('main h1').focus();
    for (let steps = 0; steps < 60 && await focused() !== name; steps += 1) await page.keyboard.press('Tab');
    assert.equal(await focused(), name);
}

const actions = {
    '#/instances': 'Columns', '#/instances/web-1/summary': 'Delete …', '#/applications': 'New application', '#/images': 'Upload an image', '#/addons': 'Add an addon', '#/nodes': 'Add a node …',
    '#/trust': 'Add a certificate', '#/trust/invitations': 'Invite a client', '#/trust/sessions': 'Make a login link',
};
for (const [place, name] of Object.entries(actions)) {
    test(`${name} of ${place} is begun and left by keys`, async () => {
        await visit(page, place);
        await tabTo(name);
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').waitFor();
        assert.equal(await page.evaluate(() => document.activeElement.closest('dialog') !== null), true, 'the focus is in the dialog');
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
        await page.waitForFunction((text) => document.activeElement.ariaLabel === text || document.activeElement.textContent.trim() === text, name);
    });
}

test('a value of the configuration is changed by keys', async () => {
    await visit(page, '#/configuration');
    await page.getByLabel('scheduler.strategy', { exact: true }).and(page.locator('select')).focus();
    await page.keyboard.press('b');  // binpack
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Save');
    await page.keyboard.press('Enter');
    await page.getByText('scheduler.strategy is changed').waitFor();
    assert.equal(world.json('config', 'show').config['scheduler.strategy'], 'binpack');
});
