// Nodes: what they have, what can be done to them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { enter, reload } from './ways.mjs';
import { barriers, World } from './world.mjs';

let world, name;
before(async () => {
    world = await World.start();
    world.addImage();
    world.addApplication();
    world.ctl('launch', 'game', '--name', 'first');
    [{ name }] = world.json('node', 'list');
});
after(() => world.close());

test('the list has capacity and use, and leads to a node', async () => {
    const page = await world.open({ place: '#/nodes' });
    await page.getByRole('row', { name: new RegExp(`${name}.*online.*of 256`) }).waitFor();
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Facts' }).getByText('simulated').first().waitFor();
    await page.getByRole('region', { name: 'Instances' }).getByRole('link', { name: 'first' }).waitFor();
    assert.equal(await page.getByRole('link', { name: '1 instances' }).getAttribute('href'), `#/instances?filter=node%3D${name}`);
    await page.getByRole('img', { name: /^Reserved, last values: CPUs/ }).waitFor();
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('a node is cordoned and uncordoned', async () => {
    const page = await world.open({ place: `#/nodes/${name}` });
    await page.getByRole('button', { name: 'Cordon' }).click();
    await page.getByText(`Node ${name} is cordoned`).waitFor();
    assert.throws(() => world.ctl('launch', 'game', '--name', 'refused'));
    await page.getByRole('button', { name: 'Uncordon' }).click();
    await page.getByText(`Node ${name} takes new instances again`).waitFor();
    await page.getByRole('button', { name: 'Cordon', exact: true }).waitFor();
    world.ctl('launch', 'game', '--name', 'accepted');
    await page.context().close();
});

test('settings are stored, and what is refused says why', async () => {
    const page = await world.open({ place: `#/nodes/${name}` });
    await page.getByRole('button', { name: 'Settings …' }).click();
    await page.getByLabel('Tags').fill('zone=a, fast');
    await enter(page.getByLabel(/^CPU allocation rate/), '2');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings are stored.').waitFor();
    await page.getByRole('region', { name: 'Facts' }).getByText('zone=a, fast').waitFor();
    assert.equal(world.json('node', 'show', name).config['cpu-allocation-rate'], 2);
    await page.getByRole('button', { name: 'Settings …' }).click();
    await enter(page.getByLabel(/^CPU allocation rate/), '200');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByText(/cpu_allocation_rate is invalid/).waitFor();
    await page.context().close();
});

test('an evacuation shows its work, and the node can be opened again', async () => {
    const page = await world.open({ place: `#/nodes/${name}` });
    await page.getByRole('button', { name: 'Evacuate …' }).click();
    assert.equal(await page.getByRole('radio', { name: /^stop/ }).isChecked(), true);
    assert.deepEqual(await barriers(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Evacuate' }).click();
    await page.getByText('evacuated', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Work on this node' }).first().getByText('success').first().waitFor();
    await page.getByRole('region', { name: 'Instances' }).getByText('stopped').first().waitFor();
    await page.getByRole('button', { name: 'Uncordon' }).click();
    await page.getByText('online', { exact: true }).waitFor();
    await page.context().close();
});

test('a removal that is refused says why, and the node stays', async () => {
    const page = await world.open({ place: `#/nodes/${name}` });
    await page.getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('button', { name: 'Remove the node' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Remove …', 'the focus is where it was');
    assert.equal(world.json('node', 'list').length, 1);
    await page.context().close();
});

test('a node that is not there says so', async () => {
    const page = await world.open({ place: '#/nodes/nothing' });
    await page.getByText('node not found').waitFor();
    await page.context().close();
});

test('a part that cannot be loaded says why, and is loaded again', async () => {
    const page = await world.open();
    await page.route(/instances\?node=/, (route) => route.fulfill({ status: 500, json: { type: 'error', error: 'the list is damaged', error_code: 500 } }));
    await page.evaluate((hash) => { location.hash = hash; }, `#/nodes/${name}`);
    await page.getByRole('alert').getByText('the list is damaged').waitFor();
    await page.unroute(/instances\?node=/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Instances' }).getByRole('link', { name: 'first' }).waitFor();
    await page.context().close();
});

test('a viewer sees the same without what changes it', async () => {
    const page = await world.open();
    await page.route('**/1.0', async (route) => {
        const answer = await (await route.fetch()).json();
        await route.fulfill({ json: { ...answer, metadata: { ...answer.metadata, auth_role: 'viewer' } } });
    });
    await page.goto(`${world.url}/ui/#/nodes`);
    await reload(page);
    await page.getByRole('row', { name: new RegExp(name) }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Add a node …' }).count(), 0);
    await page.getByRole('link', { name }).click();
    await page.getByRole('region', { name: 'Facts' }).waitFor();
    assert.equal(await page.getByRole('main').getByRole('button', { name: /Cordon|Evacuate|Settings|Remove/ }).count(), 0);
    await page.context().close();
});

for (const dark of [false, true]) {
    test(`nodes have no barriers, ${dark ? 'dark' : 'light'}, wide and narrow`, async () => {
        for (const small of [false, true]) {
            for (const [place, ready] of [['#/nodes', name], [`#/nodes/${name}`, 'first']]) {
                const page = await world.open({ place, small, dark });
                await page.getByRole('link', { name: ready }).waitFor();
                assert.deepEqual(await barriers(page), []);
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'no sideways scrolling');
                await page.context().close();
            }
        }
    });
}
