// The pages of images and addons: uploads with their progress, versions, the default, the image server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { archive, confirm, folder, obstacles } from './packages.mjs';
import { choose as chooseIn } from './ways.mjs';
import { World } from './world.mjs';

const root = new URL('../..', import.meta.url).pathname;
let world, page, image;
before(async () => {
    world = await World.start();
    image = join(world.dir, 'image.tar.gz');
    execFileSync(join(root, 'tests/images/busybox.sh'), [image]);
    page = await world.open({ place: '#/images' });
});
after(() => world.close());

const images = () => world.json('image', 'list');
const named = (name) => images().find((one) => one.name === name);
const go = (place) => page.evaluate((hash) => { location.hash = hash; }, place);
const choose = (label, file) => chooseIn(page.getByRole('dialog').getByLabel(label, { exact: true }), file);
const press = (name, where = page) => where.getByRole('button', { name, exact: true }).first().click();
const dialog = () => page.getByRole('dialog');
async function escape() {
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'hidden' });
}

test('an image is uploaded; a name that is taken, and what is no image, are refused with the reason', async () => {
    await page.getByText('There are no images yet').waitFor();
    const add = async (name, file) => {
        await press('Upload an image');
        await dialog().getByLabel('Name').fill(name);
        await choose('Archive', file);
        await press('Upload', dialog());
    };
    await add('base', image);
    await page.getByRole('table').getByText('base').waitFor();
    await page.getByText('default', { exact: true }).waitFor();
    await add('base', image);
    await dialog().getByRole('alert').getByText('already exists').waitFor();
    await escape();
    await add('nothing', folder(world, 'nothing', { 'x.tar.gz': 'no archive' }) + '/x.tar.gz');
    await dialog().getByRole('alert').getByText('tarball').waitFor();
    await dialog().getByLabel('Name').fill('名前');
    await press('Upload', dialog());
    await dialog().getByRole('alert').getByText('name').waitFor();
    await escape();
    assert.deepEqual(images().map(({ name }) => name), ['base']);
});

test('an upload is cancelled', async () => {
    await page.route('**/1.0/images', async (route) => {
        if (route.request().method() === 'GET') await route.continue();  // others hang
    });
    await press('Upload an image');
    await dialog().getByLabel('Name').fill('slow');
    await choose('Archive', image);
    await press('Upload', dialog());
    await press('Cancel the upload', dialog());
    await press('Cancel', dialog());
    await page.unroute('**/1.0/images');
    assert.equal(named('slow'), undefined);
});

test('an image of the image server is imported by its name, made the default, and deleted', async () => {
    await press('From the image server');
    await dialog().getByText('There is no image server').waitFor();
    await escape();
    const server = join(world.dir, 'server');
    execFileSync(join(root, 'tests/images/simplestreams.py'), [server, `jammy:amd64=20240101=${image}`]);
    world.ctl('config', 'set', 'images.update_interval', '24h');
    world.ctl('config', 'set', 'images.url', `file://${server}`);
    await press('From the image server');
    await dialog().getByLabel('Name on the server').fill('absent');
    await press('Import', dialog());
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Name on the server').fill('jammy:amd64');
    await dialog().getByLabel('Name here').fill('copy');
    await press('Import', dialog());
    await page.getByText('copy is imported').waitFor();
    await press('Make copy the default');
    await page.getByRole('button', { name: 'Make base the default' }).waitFor();
    assert.equal(named('copy').default, true);
    await press('Update copy');
    await press('Make base the default');
    await press('Delete copy');
    await confirm(page);
    await page.getByText('Image copy is deleted').waitFor();
    assert.equal(named('copy'), undefined);
});

test('an addon is added from a folder, gets a version, and loses one', async () => {
    await go('#/addons');
    await page.getByText('There are no addons yet').waitFor();
    await press('Add an addon');
    await dialog().getByLabel('Name').fill('ssh');
    await choose('Folder', folder(world, 'plain', { 'manifest.yaml': 'description: none\n' }));
    await press('Upload', dialog());
    await dialog().getByRole('alert').getByText('hook').waitFor();
    await choose('Folder', folder(world, 'ssh', { 'manifest.yaml': 'description: one\n', 'hooks/pre-start': '#!/bin/sh\n' }));
    await press('Upload', dialog());
    await page.getByRole('table').getByText('ssh').waitFor();
    await press('New version of ssh');
    await choose('Archive', archive(world, 'ssh2', { 'manifest.yaml': 'description: two\n', 'hooks/pre-start': '#!/bin/sh\n' }));
    await press('Upload', dialog());
    await press('Versions of ssh');
    await press('Delete version 0');
    await dialog().last().getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Version 0 of ssh is deleted').waitFor();
    await page.getByRole('button', { name: 'Delete version 1' }).waitFor({ state: 'hidden' });
    await escape();
    assert.deepEqual(Object.keys(world.json('addon', 'list')[0].versions), ['1']);
});

test('the pages have no barriers', async () => {
    await page.getByRole('table').getByText('ssh').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await go('#/images');
    await page.getByRole('button', { name: 'Versions of base' }).click();
    await dialog().getByText('active').waitFor();
    assert.deepEqual(await obstacles(page), []);
    await escape();
    await press('Upload an image');
    assert.deepEqual(await obstacles(page), []);
    await escape();
    assert.deepEqual(page.said.filter((line) => !/40[0-9]/.test(line)), []);
});
