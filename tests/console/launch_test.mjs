// The launch of instances: what the form makes of its fields, and that the commands it prints do exactly the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { call } from './many.mjs';
import { enter } from './ways.mjs';
import { barriers, World } from './world.mjs';

const build = process.env.SVC_BUILD_DIR ?? new URL('../../build', import.meta.url).pathname;
let world;
before(async () => {
    world = await World.start({ simulated_cpus: 10000, simulated_memory: '100TB' });
    world.addImage();
    world.addApplication('game');
});
after(() => world.close());

const record = async (name) => (await call(world.socket, 'GET', `/1.0/instances/${name}`)).metadata;

// What a launch decides of a record: not its id, nor what is picked for it.
async function decided(name) {
    const { id, name: given, created_at: created, address, services, status, status_code: code, expires_at: end, used_at: used, ...rest } = await record(name);
    return { ...rest, services: services.map(({ node_port: port, node_port_end: end, ...service }) => service) };
}

// As the user's shell runs it, in the folder of the certificate.
function shell(command) {
    const env = { ...process.env, PATH: join(build, 'cli') + delimiter + process.env.PATH, SVC_SOCKET: world.socket };
    const done = spawnSync('sh', ['-c', command], { cwd: world.dir, env, encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, done.stderr + done.stdout);
    return done.stdout;
}

// The words that the program of a command gets from the shell.
const wordsOf = (program, command) => shell(`${program}() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`).split('\0');

async function open(place = '#/instances/launch', options = {}) {
    const page = await world.open({ place, ...options });
    await page.getByRole('heading', { name: 'Launch instances' }).waitFor();
    await page.getByRole('button', { name: /^Launch/ }).waitFor();
    return page;
}

const command = (page, title) => page.locator(`pre[aria-label=${title}]`).textContent();
const launch = (page) => page.getByRole('button', { name: /^Launch/ }).click();

test('the only application is chosen, and its launch leads to the instance', async () => {
    const page = await open();
    await page.getByLabel('Name', { exact: false }).first().fill('one');
    await launch(page);
    await page.getByText('1 of 1 instance done').waitFor();
    await page.getByRole('list', { name: 'Launched instances' }).getByRole('link', { name: 'one' }).click();
    const { id } = await record('one');
    await page.waitForFunction((hash) => location.hash === hash, `#/instances/${id}`);
    await page.context().close();
});

const userData = "--x 'quoted' $(id) `id`\nsecond \\n line \\u0001 \"end\" \u00e9\n";

// Fills what can be filled, with texts that a shell would take apart.
async function fillAll(page) {
    await page.getByLabel('An image alone').check();
    await page.getByRole('combobox', { name: 'Image', exact: true }).selectOption({ label: 'busybox' });
    await page.getByLabel('Instance type').selectOption('a4.3');
    await page.getByLabel('Node').selectOption({ index: 1 });
    await page.getByRole('spinbutton', { name: 'CPUs' }).fill('1.5');
    await page.getByRole('textbox', { name: 'Memory' }).fill('512MB');
    await page.getByRole('textbox', { name: 'Disk' }).fill('2GB');
    await page.getByRole('button', { name: '+ ssh' }).click();
    await page.getByRole('button', { name: 'Add a service' }).click();
    await page.getByLabel('Name of service 2').fill('media');
    await page.getByLabel('Port of service 2').fill('5000-5010');
    await page.getByLabel('udp of service 2').check();
    await page.getByLabel('exposed of service 2').check();
    await page.getByLabel('Platform').selectOption('swrast');
    await page.getByLabel('Tags').fill(`it's, $HOME, "b c"`);
    await page.getByLabel('Features').fill('-dark, fast');
    await page.getByLabel('Metrics server').fill('10.0.0.9:9100');
    await page.getByLabel('Delete it after').fill('2h');
    await page.getByLabel('Delete it when unused for').fill('90m');
    await page.getByLabel('Protect it from deletion').check();
    await page.getByLabel('Watch the application').uncheck();
    await page.getByLabel('Development mode').check();
    await page.getByLabel('For the guest to read').fill(userData);
}

test('the links of an application lead to the form with it', async () => {
    const id = world.addApplication('other');
    const chosen = async (place, name) => {
        await page.goto(`${world.url}/ui/${place}`);
        await page.getByRole('link', { name, exact: true }).click();
        return ['source', 'version'].reduce(async (all, field) => [...await all, await page.locator(`select[name=${field}]`).inputValue()], []);
    };
    const page = await world.open();
    assert.deepEqual(await chosen('#/applications', 'Launch other'), [id, '']);
    assert.deepEqual(await chosen(`#/applications/${id}`, 'Launch'), [id, '']);
    assert.deepEqual(await chosen(`#/applications/${id}/0`, 'Launch'), [id, '0']);
    world.ctl('application', 'delete', '-y', id);
    await page.context().close();
});

test('svcctl and curl, as they are printed, launch the same record', async () => {
    const page = await open();
    await fillAll(page);
    const name = page.getByLabel('Name', { exact: false }).first();
    await name.fill('by-page');
    await launch(page);
    await page.getByText('1 of 1 instance done').waitFor();
    await name.fill('by-svcctl');
    shell(await command(page, 'svcctl'));
    await name.fill('by-curl');
    assert.equal(JSON.parse(shell(await command(page, 'curl'))).status_code, 100);
    // No answer shows the user data.
    assert.ok(wordsOf('svcctl', await command(page, 'svcctl')).includes(`--userdata=${userData}`));
    assert.equal(JSON.parse(wordsOf('curl', await command(page, 'curl')).at(-2)).user_data, userData);
    const expected = await decided('by-page');
    assert.equal(expected.tags.length, 3);
    assert.equal(expected.idle_after, '1h30m');
    const { created_at: made, expires_at: end } = await record('by-curl');
    assert.equal(end, made + 7200);
    assert.deepEqual(await decided('by-svcctl'), expected);
    assert.deepEqual(await decided('by-curl'), expected);
    assert.deepEqual(await barriers(page), []);
    await page.goto(`${world.url}/ui/#/instances/by-page`);
    await page.getByText('or when unused for 1h30m; last use seen').waitFor();
    await page.context().close();
});

test('several get numbered names, by the page and by both commands', async () => {
    const page = await open('#/instances/launch?application=game');
    const name = page.getByLabel('Name', { exact: false }).first();
    await enter(page.getByLabel('How many'), '3');
    await page.getByLabel('For the guest to read').fill('\\u0001');
    await page.getByLabel('Start it').uncheck();
    await name.fill('page');
    await page.getByRole('button', { name: 'Launch 3 instances' }).click();
    await page.getByText('3 of 3 instances done').waitFor();
    await name.fill('ctl-{n}-x');
    shell(await command(page, 'svcctl'));
    await name.fill('curl');
    shell(await command(page, 'curl'));
    for (const number of [1, 2, 3]) {
        const expected = await decided(`page-${number}`);
        assert.equal((await record(`page-${number}`)).status, 'prepared');
        assert.deepEqual(await decided(`ctl-${number}-x`), expected);
        assert.deepEqual(await decided(`curl-${number}`), expected);
    }
    await page.context().close();
});

test('mistakes are told at their fields, before and by the service', async () => {
    const page = await open();
    const name = page.getByLabel('Name', { exact: false }).first();
    await name.fill('a_b');
    await page.getByRole('textbox', { name: 'Memory' }).fill('lots');
    await launch(page);
    await page.getByText('A size like 4GB or 512MB').waitFor();
    await page.getByText('From 3 to 63 letters').waitFor();
    await name.fill('page-1');
    await page.getByRole('textbox', { name: 'Memory' }).fill('');
    await launch(page);
    await page.getByText('1 failed').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    await name.fill('dc5hd1ec5ee0kgg7pu10');
    await launch(page);
    await page.getByRole('region', { name: 'What has failed' }).getByText('must not look like an id').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    await page.context().close();
});

test('user data comes from a file of text, not from another', async () => {
    const page = await open();
    await page.getByLabel('From a file').setInputFiles({ name: 'data', mimeType: 'text/plain', buffer: Buffer.from('héllo\n') });
    await page.waitForFunction(() => document.querySelector('textarea').value === 'héllo\n');
    await page.getByLabel('From a file').setInputFiles({ name: 'picture', mimeType: 'image/png', buffer: Buffer.from([0x89, 0xff, 0]) });
    await page.getByText('“picture” is not a text in UTF-8').waitFor();
    await page.getByLabel('From a file').setInputFiles({ name: 'large', mimeType: 'text/plain', buffer: Buffer.alloc(10241, 'a') });
    await page.getByText('user data has at most 10,240').waitFor();
    await page.context().close();
});

for (const dark of [false, true]) {
    test(`the form has no barriers, ${dark ? 'dark' : 'light'}, wide and narrow`, async () => {
        for (const small of [false, true]) {
            const page = await open('#/instances/launch', { small, dark });
            await page.getByRole('button', { name: '+ adb' }).click();
            assert.deepEqual(await barriers(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'no sideways scrolling');
            await page.context().close();
        }
    });
}
