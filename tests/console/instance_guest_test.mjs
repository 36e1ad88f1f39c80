// The page of one instance with a real guest: terminal, logs, files, injected data, snapshots. Needs root and LXC.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { choose, enter, saved } from './ways.mjs';
import { barriers, World } from './world.mjs';

const possible = process.getuid() === 0 && spawnSync('lxc-info', ['--version']).status === 0;
const skip = possible ? false : 'needs root and LXC';
const nasty = '<img src=x onerror=alert(1)>';

let world, id;
before(async () => {
    if (!possible) return;
    world = await World.start({}, { runtime: 'lxc' });
    world.addImage('automotive', { property: 'variant: aaos' });
    world.ctl('launch', 'automotive', '--name', 'phone', '-t', '120s');
    id = world.json('show', 'phone').id;
}, { timeout: 180_000 });
after(() => world?.close());

const opened = async (tab, options = {}) => {
    const page = await world.open({ place: `#/instances/phone/${tab}`, ...options });
    await page.getByRole('heading', { level: 1, name: 'phone' }).waitFor();
    return page;
};
const button = (page, name) => page.getByRole('button', { name, exact: true });
const inside = (...words) => world.ctl('exec', id, '--', ...words);

test('a shell is used, resized, ended and opened again', { skip }, async () => {
    const page = await opened('terminal');
    const terminal = page.frameLocator('iframe');
    await terminal.getByText('~ #').waitFor();
    await terminal.getByRole('textbox').pressSequentially('echo $((6*7))-$(stty size)\n');
    const [, rows, columns] = /42-(\d+) (\d+)/.exec(await terminal.getByText(/42-\d+ \d+/).textContent());
    assert.ok(Number(rows) > 10 && Number(columns) > 80, `${rows} ${columns}`);
    await page.setViewportSize({ width: 800, height: 900 });
    await terminal.getByRole('textbox').pressSequentially('echo now-$(stty size)\n');
    await page.waitForFunction((before) => {
        const found = /now-\d+ (\d+)/.exec(document.querySelector('iframe').contentDocument.body.textContent);
        return found && Number(found[1]) < before;
    }, Number(columns));
    await terminal.getByRole('textbox').pressSequentially('exit 3\n');
    await page.getByText('The command has ended with status 3.').waitFor();
    await button(page, 'Again').click();
    await terminal.getByText('~ #', { exact: true }).waitFor();  // not what was typed before
    await page.context().close();
});

test('what the guest prints leads nowhere and changes nothing', { skip }, async () => {
    inside('sh', '-c', `printf '\\033]0;title\\007\\033]8;;https://evil.example/\\033\\\\click\\033]8;;\\033\\\\ ${nasty}\\n' >/root/hostile`);
    const page = await opened('terminal');
    const terminal = page.frameLocator('iframe'), title = await page.title();
    await terminal.getByText('~ #').waitFor();
    await terminal.getByRole('textbox').pressSequentially('cat hostile\n');
    await terminal.getByText(nasty).waitFor();
    page.context().on('page', () => assert.fail('a page was opened'));
    await terminal.getByText('click').last().click({ force: true });  // what the terminal lies over it
    assert.equal(await terminal.locator('img').count(), 0);
    assert.equal(await page.title(), title);
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('logs are followed, searched, paused and fetched', { skip }, async () => {
    inside('sh', '-c', `printf 'first\\n${nasty}\\n\\342\\200\\256turned\\n' >/var/log/mine; head -c 10000 /dev/zero | tr '\\0' y >>/var/log/mine; echo >>/var/log/mine`);
    const page = await opened('logs');
    await page.getByText('guest is running').waitFor();
    await page.getByLabel('A file in the instance').fill('/var/log/mine');
    await button(page, 'Follow').click();
    await page.getByText(nasty).waitFor();
    await page.getByText('characters more').waitFor();
    inside('sh', '-c', 'echo later >>/var/log/mine');
    await page.getByText('later', { exact: true }).waitFor();
    await page.getByLabel('Search').fill('LATER');
    await page.getByText('1 line with').waitFor();
    const log = await saved(page, () => button(page, 'Download').click());
    assert.equal(log.toString(), inside('cat', '/var/log/mine') + '\n');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true);
    assert.deepEqual(await barriers(page), []);
    await page.context().close();
});

test('a log of more than memory should hold shows its end', { skip }, async () => {
    inside('sh', '-c', 'seq 1 200000 >/var/log/long');
    const page = await opened('logs/file/%2Fvar%2Flog%2Flong');
    await page.getByText('200000', { exact: true }).waitFor();
    await page.getByText('Following, 5,000 lines').waitFor();
    await page.context().close();
});

test('files and folders are uploaded, shown, fetched, renamed and deleted', { skip }, async () => {
    const page = await opened('files/srv');
    await page.getByText('index.html').waitFor();
    const content = Buffer.alloc(3_000_000, 'ab\u0000c');
    writeFileSync(join(world.dir, 'random.bin'), content);
    await page.getByLabel('Files to upload').setInputFiles(join(world.dir, 'random.bin'));
    await button(page, 'Download random.bin').waitFor();
    assert.equal(inside('sha256sum', '/srv/random.bin').split(' ')[0], spawnSync('sha256sum', [join(world.dir, 'random.bin')]).stdout.toString().split(' ')[0]);
    assert.deepEqual(await saved(page, () => button(page, 'Download random.bin').click()), content);
    const tree = join(world.dir, 'tree');
    mkdirSync(join(tree, 'deep'), { recursive: true });
    writeFileSync(join(tree, 'deep', nasty.replace('/', '')), 'hostile');
    writeFileSync(join(tree, 'ä file'), 'content');
    await choose(page.getByLabel('Folder to upload'), tree);
    await button(page, 'tree/').click();
    await page.getByText('ä file').waitFor();
    await button(page, 'deep/').click();
    await page.getByText(nasty).waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    await page.getByRole('navigation', { name: 'Folder' }).getByRole('button', { name: 'srv/' }).click();
    const archive = await saved(page, () => button(page, 'Download tree').click());
    assert.match(spawnSync('tar', ['-t'], { input: archive }).stdout.toString(), /^\.\/\ndeep/);
    await button(page, 'Rename tree').click();
    await page.getByRole('dialog').getByLabel('Name').fill('forest');
    await page.getByRole('dialog').getByRole('button', { name: 'OK' }).click();
    await button(page, 'Delete forest').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('forest is deleted.').waitFor();
    assert.equal(inside('ls', '/srv'), 'index.html\nrandom.bin');
    await button(page, 'Rename random.bin').click();
    await page.getByRole('dialog').getByLabel('Name').fill('index.html');
    await page.getByRole('dialog').getByRole('button', { name: 'OK' }).click();
    await page.getByText('“/srv/index.html” is there already').waitFor();
    assert.deepEqual(await barriers(page), []);
    await page.context().close();
});

test('an upload that is cancelled leaves nothing', { skip }, async () => {
    const page = await opened('files/root'), large = join(world.dir, 'large');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 30);
    await page.getByText('The folder is empty').or(page.getByText('hostile')).waitFor();
    await page.getByLabel('Files to upload').setInputFiles(large);
    await button(page, 'Cancel').click();
    await page.getByText('Uploading').waitFor({ state: 'hidden' });
    assert.equal(await page.getByText('All is uploaded.').count(), 0);
    assert.equal(inside('ls', '/root').includes('large'), false);
    await page.context().close();
});

test('the guest is where the page says, also along a track', { skip }, async () => {
    const page = await opened('injection/location');
    await page.getByLabel('Inject locations').check();
    await enter(page.getByLabel('Latitude'), '48.0573');
    await enter(page.getByLabel('Longitude'), '11.5167');
    await button(page, 'Send').click();
    await page.getByText('Sent: 48.057300, 11.516700').waitFor();
    assert.match(inside('sh', '-c', 'head -n 1 /run/svc/gnss'), /GGA,.*,4803\.438\d*,N,01131\.00\d*,E/);
    await page.getByRole('application').press('ArrowUp');
    await page.getByText(/Sent: 48\.0583/).waitFor();
    const gpx = join(world.dir, 'ride.gpx');
    writeFileSync(gpx, `<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>${[0, 1, 2].map((at) => `<trkpt lat="${10 + at}" lon="20"><time>2024-01-01T00:00:0${at}Z</time></trkpt>`).join('')}</trkseg></trk></gpx>`);
    await page.getByLabel('A GPX file').setInputFiles(gpx);
    await page.getByText('ride.gpx: 3 points, 2 s').waitFor();
    await page.getByText('Sent: 12.000000, 20.000000').waitFor();
    writeFileSync(gpx, '<!DOCTYPE x [<!ENTITY a "b">]><gpx/>');
    await page.getByLabel('A GPX file').setInputFiles(gpx);
    await page.getByText('GPX: entities are not allowed').waitFor();
    await page.context().close();
});

test('sensors, camera, telephone, vehicle and platform take what is put in', { skip, timeout: 120_000 }, async () => {
    const page = await opened('injection/sensors');
    await page.getByLabel('Inject sensor values').check();
    await page.getByRole('region', { name: 'Light' }).getByRole('slider').fill('500');
    await page.getByText("Sensor 'light' is not active").waitFor();
    const part = (name) => page.getByRole('navigation', { name: 'Kinds of data' }).getByRole('link', { name }).click();
    await part('Camera');
    await page.getByLabel('Inject pictures').check();
    await page.screenshot({ path: join(world.dir, 'picture.png') });
    await page.getByLabel('A picture').setInputFiles(join(world.dir, 'picture.png'));
    await page.getByRole('img', { name: 'What the camera shows' }).waitFor();
    assert.equal(JSON.parse(world.ctl('instance', 'camera', 'show', id)).data_available, true);
    await part('Telephone');
    await page.getByLabel('From').fill('+12025550123');
    await page.getByLabel('Text').fill(nasty);
    await button(page, 'Send to the guest').click();
    await page.getByRole('cell', { name: nasty }).waitFor();
    await enter(page.getByLabel('Signal, percent'), '40');
    await button(page, 'Set').click();
    await page.getByText('The phone has what you set.').waitFor();
    assert.equal(JSON.parse(world.ctl('instance', 'telephony', 'show', id)).signal, 40);
    await part('Vehicle');
    await page.getByRole('textbox', { name: /^Property/ }).fill('PERF_VEHICLE_SPEED');
    await page.getByRole('textbox', { name: /^Values/ }).fill('27.5');
    await button(page, 'Set').click();
    await page.getByText('PERF_VEHICLE_SPEED is set.').waitFor();
    await page.getByLabel('Find a property').fill('0x11600207');
    await page.getByRole('region', { name: 'Properties' }).getByRole('button', { name: 'Read' }).click();
    await page.getByText('27.5', { exact: true }).waitFor();
    await part('Platform');
    await button(page, 'Start').click();
    const trace = await saved(page, () => button(page, 'Stop and download').click());
    assert.ok(trace.length > 0);
    await page.context().close();
});

test('calls are begun, answered for the guest, held and hung up; those of the guest are seen', { skip, timeout: 120_000 }, async () => {
    const cat = '/bin/svc-guest-cat';
    world.ctl('file', 'push', id, join(world.build, 'instance-agent/samples/svc-guest-cat'), cat);
    const phone = world.spawn('exec', id, '--', cat, 'telephony');
    await phone.said(/^telephony sim ready/);
    const page = await opened('injection/telephony');
    await page.getByText('Programs of the guest listen').waitFor();
    const call = (text) => page.getByRole('region', { name: 'Calls' }).getByRole('row').filter({ hasText: text });
    const does = (text, name) => call(text).getByRole('button', { name, exact: true }).click();
    await page.getByLabel('Who calls').fill('+12025550123');
    await button(page, 'Call the guest').click();
    await phone.said(/^call 1 from \+12025550123 ringing/);
    await does('ringing', 'active');
    await phone.said(/^call 1 from \+12025550123 active/);
    await does('active', 'held');
    await call('held').filter({ hasText: 'incoming' }).waitFor();
    await does('held', 'Hang up');
    await phone.said(/^call 1 from \+12025550123 ended by remote/);
    await call('ended').filter({ hasText: 'remote' }).waitFor();
    inside(cat, 'call', 'telephony.dial', '"number":"777"');
    await button(page, 'Look again').click();
    await does('777', 'alerting');
    await does('777', 'active');
    await phone.said(/^call 2 to 777 active/);
    assert.equal(await page.getByText('Invalid Date').count(), 0);
    assert.deepEqual(await barriers(page), []);
    await phone.end();
    await button(page, 'Look again').click();
    await page.getByText('No program of the guest listens for calls.').waitFor();
    assert.equal(await button(page, 'Call the guest').isDisabled(), true);
    await page.context().close();
});

// Another instance, stopped, with a file that its image does not have.
function stopped(name) {
    world.ctl('launch', 'automotive', '--name', name, '-t', '120s');
    world.ctl('exec', name, '--', 'sh', '-c', 'echo changed >/root/mark');
    world.ctl('stop', name);
}

test('an image is made of an instance, and has its disk', { skip, timeout: 240_000 }, async () => {
    stopped('source');
    const page = await world.open({ place: '#/instances/source' });
    await button(page, 'Publish …').click();
    await page.getByRole('dialog').getByLabel('Name of the image').fill('golden');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Image golden is there.').waitFor();
    assert.deepEqual(world.json('snapshot', 'list', 'source'), []);
    world.ctl('launch', 'golden', '--name', 'made', '-t', '120s');
    assert.equal(world.ctl('exec', 'made', '--', 'cat', '/root/mark'), 'changed');
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('the disk of a snapshot is saved as an image package', { skip, timeout: 240_000 }, async () => {
    stopped('exported');
    const page = await world.open({ place: '#/instances/exported/snapshots' });
    await button(page, 'Take a snapshot').click();
    await page.getByRole('dialog').getByLabel('Name').fill('before');
    await page.getByRole('dialog').getByRole('button', { name: 'Take it' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
    assert.match(download.suggestedFilename(), /\.tar\.gz$/);
    const names = spawnSync('tar', ['-tzf', await download.path()], { encoding: 'utf8' }).stdout.split('\n');
    for (const name of ['metadata.yaml', 'rootfs/root/mark']) assert.ok(names.includes(name), `${name} is in the package`);
    await page.context().close();
});

test('each kind of data has no barriers, light and dark, wide and narrow', { skip, timeout: 120_000 }, async () => {
    for (const options of [{}, { small: true, dark: true }]) {
        const page = await opened('injection', options);
        for (const name of ['Location', 'Sensors', 'Camera', 'Telephone', 'Vehicle', 'Platform']) {
            await page.getByRole('navigation', { name: 'Kinds of data' }).getByRole('link', { name }).click();
            await page.locator('.loading').first().waitFor({ state: 'hidden' });
            assert.deepEqual(await barriers(page), [], name);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true, `${name}: no sideways scrolling`);
        }
        await page.context().close();
    }
});
