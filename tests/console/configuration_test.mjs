// The page of the configuration: typed editors, refusals, changes by others meanwhile.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { obstacles } from './packages.mjs';
import { enter } from './ways.mjs';
import { World } from './world.mjs';

let world, page;
before(async () => {
    world = await World.start();
    page = await world.open({ place: '#/configuration' });
});
after(() => world.close());

const value = (name) => world.json('config', 'show').config[name];
const item = (name) => page.getByRole('form', { name, exact: true });
const field = (name) => page.getByLabel(name, { exact: true }).and(page.locator('input, select'));
const save = (name) => item(name).getByRole('button', { name: 'Save' }).click();

test('each item of the schema has an editor, and says what it means', async () => {
    await item('scheduler.strategy').waitFor();
    const schema = world.json('config', 'schema');
    assert.equal(await page.getByRole('form').count(), schema.length);
    for (const { name, meaning } of schema) assert.equal(await item(name).getByText(meaning).count(), 1, name);
});

test('items are changed as their types say, and reset', async () => {
    await field('scheduler.strategy').selectOption('binpack');
    await save('scheduler.strategy');
    await page.getByText('scheduler.strategy is changed').waitFor();
    assert.equal(value('scheduler.strategy'), 'binpack');
    await field('application.auto_publish').selectOption('false');
    await save('application.auto_publish');
    await page.getByText('application.auto_publish is changed').waitFor();
    assert.equal(value('application.auto_publish'), false);
    await page.getByLabel('Only what differs from the default').check();
    assert.equal(await page.getByRole('form').count(), 2);
    await page.getByRole('button', { name: 'Reset scheduler.strategy' }).click();
    await item('scheduler.strategy').waitFor({ state: 'hidden' });
    assert.equal(value('scheduler.strategy'), 'spread');
    await page.getByLabel('Only what differs from the default').uncheck();
});

test('a value that is wrong is refused at its item, and stays in the field', async () => {
    await field('images.update_interval').fill('soon');
    await save('images.update_interval');
    await item('images.update_interval').getByRole('alert').getByText('duration').waitFor();
    assert.equal(await field('images.update_interval').inputValue(), 'soon');
    await item('images.update_interval').getByRole('button', { name: 'Discard' }).click();
    await enter(field('application.max_published_versions'), '5000');
    await save('application.max_published_versions');
    await item('application.max_published_versions').getByRole('alert').getByText('a number from 1 to 1000').waitFor();
    await item('application.max_published_versions').getByRole('button', { name: 'Discard' }).click();
    assert.equal(value('application.max_published_versions'), 3);
});

test('a change by somebody else is shown, and told to who edits the same item', async () => {
    await field('gpu.type').selectOption('amd');
    world.ctl('config', 'set', 'gpu.type', 'intel');
    world.ctl('config', 'set', 'registry.filter', 'games');
    await item('registry.filter').getByText('changed').waitFor();
    assert.equal(await field('registry.filter').inputValue(), 'games');
    await save('gpu.type');
    await item('gpu.type').getByRole('alert').getByText('Somebody else has set it to “intel” meanwhile').waitFor();
    assert.equal(value('gpu.type'), 'intel');
    await save('gpu.type');
    await page.getByText('gpu.type is changed').waitFor();
    assert.equal(value('gpu.type'), 'amd');
});

test('a secret is set and never shown', async () => {
    await field('core.trust_password').fill('correct horse');
    await save('core.trust_password');
    await item('core.trust_password').getByText('set', { exact: true }).waitFor();
    await page.getByText('core.trust_password is changed').waitFor();
    assert.equal(await field('core.trust_password').inputValue(), '');
    assert.equal((await page.content()).includes('correct horse'), false);
});

test('a hostile value is text', async () => {
    world.ctl('config', 'set', 'container.features', '<img src=x onerror=alert(1)>');
    await page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value.startsWith('<img')));
    assert.equal(await page.locator('main img').count(), 0);
});

test('the filter is in the address', async () => {
    await page.getByLabel('Filter the configuration').fill('registry');
    assert.equal(await page.getByRole('form').count(), 5);
    assert.match(page.url(), /filter=registry/);
    await page.getByLabel('Filter the configuration').fill('');
});

test('the page has no barriers', async () => {
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(page.said.filter((line) => !/400/.test(line)), []);
});
