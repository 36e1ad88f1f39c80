// The pages of applications: from a folder to a published version, with what may go wrong.
import assert from 'node:assert/strict';
import { readFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { archive, confirm, folder, obstacles } from './packages.mjs';
import { choose } from './ways.mjs';
import { World } from './world.mjs';

const hostile = '<img src=x onerror=alert(1)>\u202e';
let world, page;
before(async () => {
    world = await World.start({ simulated_start_delay: '1500ms' });
    world.addImage();
    page = await world.open({ place: '#/applications' });
    page.on('dialog', () => page.said.push('a script of a package has run'));
});
after(() => world.close());

const application = (name) => world.json('application', 'list').find((one) => one.name === name);
const go = (place) => page.evaluate((hash) => { location.hash = hash; }, place);
const upload = async (button, label, file, action) => {
    await page.getByRole('button', { name: button, exact: true }).first().click();
    await choose(page.getByRole('dialog').getByLabel(label, { exact: true }), file);
    await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
};

test('an empty list says what to do first', async () => {
    await page.getByText('There are no applications yet').waitFor();
    await page.getByText('svcctl application create ./my-app').waitFor();
});

test('a folder without a manifest is refused before anything is sent', async () => {
    await upload('New application', 'Folder', folder(world, 'empty', { 'readme.txt': 'x' }), 'Create');
    await page.getByRole('alert').getByText('“empty” has no manifest.yaml at its top').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.deepEqual(world.json('application', 'list'), []);
});

test('a folder becomes an application: hidden files, hooks executable, the bootstrap live', async () => {
    const long = 'extra/'.repeat(12) + 'x'.repeat(200);
    const top = folder(world, 'game', { 'manifest.yaml': `name: game\nversion: '${hostile}'\ntags: [arcade]\n`, '.hidden': '1', 'hooks/pre-start': '#!/bin/sh\n', [long]: 'äöü' });
    await upload('New application', 'Folder', top, 'Create');
    await page.getByText('Bootstrap of version 0').waitFor();
    await page.getByRole('button', { name: 'Cancel the bootstrap' }).waitFor();
    await page.getByText('Bootstrap of version 0').waitFor({ state: 'hidden' });
    await page.getByRole('table').getByText('active').waitFor();
    assert.equal(application('game').status, 'ready');
});

test('what a package says is shown as text', async () => {
    await page.getByRole('link', { name: 'Version 0' }).click();
    await page.getByRole('heading', { name: 'game, version 0' }).waitFor();
    await page.locator('.manifest').getByText('onerror=alert(1)').waitFor();
    assert.equal(await page.locator('main img').count(), 0);
});

test('a version is revoked, published and exported', async () => {
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Publish' }).waitFor();
    assert.equal(application('game').versions['0'].published, false);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    assert.deepEqual([...readFileSync(await download.path()).subarray(0, 2)], [0x1f, 0x8b]);
});

test('an archive that is dropped becomes the next version; one with another name is refused', async () => {
    await page.locator('main').getByRole('link', { name: 'game' }).click();
    const drop = async (name) => {
        const file = archive(world, `${name}2`, { 'manifest.yaml': `name: ${name}\nversion: two\ntags: [arcade]\n` });
        await page.getByRole('button', { name: 'New version' }).click();
        const transfer = await page.evaluateHandle((bytes) => {
            const made = new DataTransfer();
            made.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], 'dropped.tar.bz2'));
            return made;
        }, readFileSync(file).toString('base64'));
        await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: transfer });
        await page.getByText('dropped.tar.bz2').waitFor();
        await page.getByRole('button', { name: 'Upload' }).click();
    };
    await drop('game');
    await page.getByRole('link', { name: 'Version 1' }).waitFor();
    await page.getByText('Bootstrap of version 1').waitFor({ state: 'hidden' });
    await drop('chess');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
});

test('fields are edited; a change by somebody else meanwhile is told', async () => {
    const edit = async (label, value) => {
        await page.getByRole('button', { name: 'Edit' }).click();
        await page.getByRole('dialog').getByLabel(label).fill(value);
    };
    await edit('Memory', '4GB');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('4GB memory').waitFor();
    await edit('Memory', '5GB');
    world.ctl('application', 'set', 'game', 'tags', 'other');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has changed the application meanwhile').waitFor();
    await page.keyboard.press('Escape');
    await edit('Instance type', 'z9.9');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('instance').waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(application('game').tags, ['other']);
});

test('a pool is set, and what waits in it shows as such until a launch takes it', async () => {
    const place = await page.evaluate(() => location.hash);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Booted instances that wait').fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 booted instance', { exact: true }).waitFor();
    await go('#/instances');
    const row = page.getByRole('row').filter({ hasText: 'game' });
    await row.getByText('pooled').waitFor();
    const [waiting] = world.json('list', '-f', 'status=pooled');
    assert.equal(world.ctl('launch', 'game'), waiting.id);
    await row.getByText('running').waitFor();
    world.ctl('application', 'pool', 'game');
    world.ctl('delete', '-y', waiting.id);
    await go(place);
});

test('a bootstrap is cancelled; its version says so and is deleted', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Command that starts it').fill('/bin/true');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Cancel the bootstrap' }).click();
    await page.getByRole('table').getByText('error').waitFor();
    await page.getByRole('link', { name: 'Version 2' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page);
    await page.getByRole('link', { name: 'Version 1' }).waitFor();
    assert.deepEqual(Object.keys(application('game').versions), ['0', '1']);
});

test('an application goes to the registry', async () => {
    mkdirSync(join(world.dir, 'registry'));
    world.ctl('config', 'set', 'registry.mode', 'manual');
    world.ctl('config', 'set', 'registry.url', `file://${world.dir}/registry`);
    await go('#/applications?tab=registry');
    await page.getByRole('button', { name: 'Push game' }).click();
    await page.getByText('game is sent').waitFor();
    await page.getByRole('button', { name: 'Delete game in the registry' }).waitFor();
    assert.deepEqual(world.json('registry', 'list').map(({ name }) => name), ['game']);
});

test('the pages have no barriers', async () => {
    const { id } = application('game');
    for (const place of ['#/applications', `#/applications/${id}`, `#/applications/${id}/1`, '#/applications?tab=registry']) {
        await go(place);
        await page.locator('main').getByText('game').first().waitFor();
        assert.deepEqual(await obstacles(page), [], place);
    }
    await go(`#/applications/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Memory').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await page.keyboard.press('Escape');
});

test('an application is deleted, and the list is empty again', async () => {
    await go(`#/applications/${application('game').id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page);
    await page.getByText('There are no applications yet').waitFor();
    assert.deepEqual(page.said.filter((line) => !/40[09]|412/.test(line)), []);
});
