// The pages of trust: certificates with their roles, invitations, sessions and links.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { confirm, obstacles } from './packages.mjs';
import { isFirefox } from './ways.mjs';
import { World } from './world.mjs';

const hostile = '<img src=x onerror=alert(1)>';
let world, page;
before(async () => {
    world = await World.start();
    page = await world.open({ place: '#/trust' });
    if (!isFirefox) await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
});
after(() => world.close());

function openssl(...words) {
    const done = spawnSync('openssl', words, { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stderr);
}

// A file with a certificate of that name.
function certificate(file, name, days = 30) {
    const path = join(world.dir, file);
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', String(days), '-subj', `/O=Some/CN=${name}`, '-keyout', `${path}.key`, '-out', path);
    return path;
}

const dialog = () => page.getByRole('dialog');
const press = (name, where = page) => where.getByRole('button', { name, exact: true }).click();
const trusted = () => world.json('trust', 'list').map((one) => one['common-name']);
// Firefox is logged in by a session itself.
const isAlone = () => page.getByText(isFirefox ? 'this one' : 'No browser is logged in').waitFor();
const tab = (name) => page.getByRole('navigation', { name: 'Trust' }).getByRole('link', { name }).click();

test('a certificate is added by its text and by a file, with a role, and removed', async () => {
    await page.getByRole('cell', { name: 'console', exact: true }).waitFor();
    await press('Add a certificate');
    await dialog().getByLabel('Certificate', { exact: false }).first().fill('nonsense');
    await press('Trust it', dialog());
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Certificate', { exact: false }).first().fill(readFileSync(certificate('one.crt', hostile), 'utf8'));
    await dialog().getByLabel('Role').selectOption('viewer');
    await press('Trust it', dialog());
    await page.getByRole('cell', { name: hostile, exact: true }).waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    await press('Add a certificate');
    const der = join(world.dir, 'two.der');
    openssl('x509', '-in', certificate('two.crt', 'two'), '-outform', 'DER', '-out', der);
    await dialog().getByLabel('File', { exact: true }).setInputFiles(der);
    await dialog().getByLabel('Certificate', { exact: false }).first().and(page.locator(':not(:placeholder-shown)')).waitFor();
    await press('Trust it', dialog());
    await page.getByRole('cell', { name: 'two', exact: true }).waitFor();
    await press('Remove two');
    await confirm(page, 'Remove');
    await page.getByRole('cell', { name: 'two', exact: true }).waitFor({ state: 'hidden' });
    assert.deepEqual(trusted().sort(), [hostile, 'console'].sort());
});

test('dates and names are those that the command line tells', async () => {
    const until = await page.getByRole('row').filter({ hasText: 'console' }).getByRole('cell').nth(3).innerText();
    const told = world.json('trust', 'list').find((one) => one['common-name'] === 'console')['expiry-date'];
    assert.equal(new Date(until).getTime(), new Date(told).getTime());
});

test('a role is changed after a question', async () => {
    const chosen = page.getByLabel(`Role of ${hostile}`);
    await chosen.selectOption('admin');
    await press('Cancel', dialog());
    await dialog().waitFor({ state: 'hidden' });
    assert.equal(await chosen.inputValue(), 'viewer');
    await chosen.selectOption('operator');
    await confirm(page, 'Change');
    await page.getByText('is operator now').waitFor();
    const { role } = world.json('trust', 'list').find((one) => one['common-name'] === hostile);
    assert.equal(role, 'operator');
});

test('an invitation is made, shown once, and taken back', async () => {
    await tab('Invitations');
    await page.getByText('There are no invitations').waitFor();
    await press('Invite a client');
    await dialog().getByLabel('Who it is for').fill('laptop');
    await dialog().getByLabel('How long it is good').fill('soon');
    await press('Invite', dialog());
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('How long it is good').fill('2h');
    await dialog().getByLabel('Role').selectOption('viewer');
    await press('Invite', dialog());
    const token = await dialog().getByLabel('Invitation for laptop', { exact: true }).inputValue();
    assert.equal(JSON.parse(Buffer.from(token, 'base64').toString()).secret.length > 20, true);
    await press('Copy', dialog());
    await dialog().getByRole('button', { name: 'Copied' }).waitFor();
    if (!isFirefox) assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);  // it lets a page read only when somebody clicks
    await press('Done', dialog());
    await page.getByRole('cell', { name: 'laptop', exact: true }).waitFor();
    assert.equal((await page.content()).includes(token), false);
    await press('Revoke the invitation for laptop');
    await confirm(page, 'Revoke');
    await page.getByText('There are no invitations').waitFor();
    assert.deepEqual(world.json('trust', 'list-tokens'), []);
});

test('a link logs another browser in; its session is listed and ended', async () => {
    await tab('Sessions');
    await isAlone();
    await press('Make a login link');
    await dialog().getByLabel('Who it is for').fill('night shift');
    await dialog().getByLabel('Role').selectOption('viewer');
    await press('Make the link', dialog());
    const link = await dialog().getByLabel('Login link', { exact: true }).inputValue();
    await press('Done', dialog());
    const other = await world.open({ certificate: false, place: link.split('/ui/')[1] });
    await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await press('Look again');
    await page.getByRole('cell', { name: 'night shift', exact: true }).waitFor();
    assert.deepEqual(await obstacles(page), []);
    await press('End the session of night shift');
    await confirm(page, 'End the session');
    await page.getByRole('cell', { name: 'night shift', exact: true }).waitFor({ state: 'hidden' });
    await isAlone();
    await other.getByRole('button', { name: 'Log in' }).waitFor();  // without a click there
    await other.context().close();
});

test('the pages have no barriers', async () => {
    for (const name of ['Certificates', 'Invitations']) {
        await tab(name);
        await page.getByText({ Certificates: 'console', Invitations: 'There are no invitations' }[name]).first().waitFor();
        assert.deepEqual(await obstacles(page), [], name);
    }
    assert.deepEqual(page.said.filter((line) => !/400/.test(line)), []);
});
