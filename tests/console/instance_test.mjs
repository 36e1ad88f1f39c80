// The page of one instance, over the simulated runtime: what needs no guest.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { enter } from './ways.mjs';
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

// Presses the button, and gives the id of the operation once the service has accepted the request.
async function restarting(page) {
    const accepted = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await button(page, 'Restart').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    return (await (await accepted).json()).metadata.id;
}

test('a restart is one request, and the page tells its end', async () => {
    const page = await opened('summary');
    let patches = 0;
    page.on('request', (request) => { patches += request.method() === 'PATCH' ? 1 : 0; });
    await restarting(page);
    await page.getByText('It runs again.').waitFor();
    assert.equal(patches, 1);
    await page.getByRole('region', { name: 'History' }).getByText('Stopped').first().waitFor();
    await page.context().close();
});

test('a restart comes to its end when its page is reloaded or closed', async () => {
    const page = await opened('summary');
    const first = await restarting(page);
    await page.reload();
    world.ctl('wait', first);
    await page.getByRole('heading', { level: 1 }).getByText('running').waitFor();
    const second = await restarting(page);
    await page.context().close();
    world.ctl('wait', second);
    assert.equal(world.json('show', id).status, 'running');
});

test('a restart comes to its end when the daemon is killed meanwhile', async () => {
    const page = await opened('summary');
    const restart = await restarting(page);
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    world.ctl('wait', restart);
    await page.getByRole('heading', { level: 1 }).getByText('running').waitFor();
    assert.equal(world.json('operation', 'show', restart).status, 'Success');
    await page.context().close();
});

// A command in the instance that prints what the test wants: { print(text) } of its output.
async function playedCommand(page) {
    const outputs = [];
    let tell;
    const connected = new Promise((resolve) => { tell = resolve; });
    await page.route('**/exec', (route) => route.fulfill({ json: { type: 'async', status_code: 103, metadata: { id: 'played', metadata: { fds: { control: 'c', 0: 'in', 1: 'out', 2: 'err' } } } } }));
    await page.routeWebSocket(/operations\/played\/websocket\?secret=out$/, (socket) => {
        outputs.push(socket);
        tell();
    });
    await page.routeWebSocket(/operations\/played\/websocket\?secret=(c|in|err)$/, () => {});
    return { connected, print: (text) => outputs.at(-1).send(Buffer.from(text)) };
}

test('a log that is followed has its newest 5,000 lines, in blocks that stay while it grows', async () => {
    const page = await world.open({ place: '#/none' });
    const command = await playedCommand(page);
    await page.goto(`${world.url}/ui/#/instances/${id}/logs/console`);
    await command.connected;
    const lines = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => `line ${first + at}\n`).join('');
    command.print(lines(1, 4000));
    command.print(lines(4001, 7000));
    await page.getByText('Following, 5,000 lines; 2,000 older ones are left out here, not in the download').waitFor();
    const log = page.getByRole('log', { name: 'Lines' });
    const blocks = log.locator('.line-block'), isAtEnd = () => log.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 2);
    assert.equal(await blocks.locator('div').count(), 5000);
    assert.ok(await blocks.count() <= 26);
    assert.ok(await isAtEnd());
    await blocks.nth(10).evaluate((block) => { block.seen = true; });
    command.print(lines(7001, 7400));
    await page.getByText('5,000 lines; 2,400 older ones').waitFor();
    assert.equal(await blocks.first().locator('div').first().textContent(), 'line 2401');
    assert.equal(await blocks.last().locator('div').last().textContent(), 'line 7400');
    assert.equal(await blocks.locator('div').count(), 5000);
    assert.equal(await log.evaluate((it) => [...it.querySelectorAll('.line-block')].findIndex(({ seen }) => seen)), 8, 'the same element, two blocks further up');
    assert.ok(await isAtEnd());
    await log.evaluate((it) => { it.scrollTop = 100; });
    command.print(lines(7401, 7500));
    await page.getByText('5,000 lines; 2,500 older ones').waitFor();
    assert.equal(await isAtEnd(), false, 'who reads further up is left there');
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

test('a link of somebody else repeats no command', async () => {
    const page = await world.open({ place: '#/' });
    await page.evaluate(() => localStorage.setItem('svc-terminal-command', 'touch /tmp/repeated'));
    await page.goto(`${world.url}/ui/#/instances/${id}/terminal`);
    await page.getByRole('button', { name: '1: /bin/sh -l' }).waitFor();
    assert.equal(await page.getByLabel('Command').inputValue(), 'touch /tmp/repeated');
    assert.equal(await page.locator('iframe').count(), 1);
    await page.context().close();
});

test('snapshots are taken of a stopped instance, restored, launched, exported and deleted', async () => {
    world.ctl('launch', 'busybox', '--name', 'disk-1');
    const page = await world.open({ place: '#/instances/disk-1/snapshots' });
    await page.getByText('A snapshot is taken of a stopped instance; this one is running.').waitFor();
    await button(page, 'Stop').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await button(page, 'Take a snapshot').click();
    await page.getByRole('dialog').getByLabel('Name').fill('before');
    await page.getByRole('dialog').getByRole('button', { name: 'Take it' }).click();
    await page.getByRole('cell', { name: 'before' }).waitFor();
    await button(page, 'Restore').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The disk is what it was.').waitFor();
    await button(page, 'Launch …').click();
    await page.getByRole('dialog').getByLabel('Name').fill('disk-2');
    await page.getByRole('dialog').getByRole('button', { name: 'Launch' }).click();
    await page.getByText('An instance with the disk of before runs.').waitFor();
    assert.equal(world.json('show', 'disk-2').status, 'running');
    assert.deepEqual(await barriers(page), []);
    await button(page, 'Copy …').click();
    await page.getByRole('dialog').getByLabel('Name').fill('copied');
    await enter(page.getByRole('dialog').getByRole('spinbutton', { name: 'Copies' }), '2');
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('2 copies run.').waitFor();
    assert.equal(world.json('show', 'copied-2').status, 'running');
    await page.getByRole('cell', { name: /^temporary-/ }).waitFor({ state: 'hidden' });
    await button(page, 'Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No snapshots').waitFor();
    await button(page, 'Delete …').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Instances' }).waitFor();
    assert.equal(world.json('list').some(({ name }) => name === 'disk-1'), false);
    await page.context().close();
});

test('what cannot be captured is told, and a stream needs its session', async () => {
    const page = await opened('screen');
    await button(page, 'Screenshot').click();
    await page.getByText(/does not stream: no streamer is ready in it/).waitFor();
    await page.getByText('This instance is of no session of a gateway').waitFor();
    await page.context().close();
});

test('a session of a gateway leads to its stream', async () => {
    world.ctl('launch', 'busybox', '--name', 'streamed', '--tags', 'session=a b');
    world.ctl('config', 'set', 'console.gateway_url', 'https://127.0.0.1:1');
    const page = await world.open({ place: '#/instances/streamed' });
    await page.getByRole('link', { name: 'Stream', exact: true }).click();
    const address = 'https://127.0.0.1:1/#session=a%20b';
    assert.equal(await page.getByRole('link', { name: 'Open in a tab' }).getAttribute('href'), address);
    const frame = page.getByTitle('Stream', { exact: true });
    assert.equal(await frame.getAttribute('src'), address);
    assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts allow-same-origin allow-forms allow-downloads');
    await page.getByRole('link', { name: 'Close the stream' }).click();
    await frame.waitFor({ state: 'detached' });
    await page.context().close();
});

test('only the gateway that is configured is shown in a frame', async () => {
    world.ctl('config', 'set', 'console.gateway_url', 'https://127.0.0.1:1');
    const page = await world.open();
    const refused = page.evaluate(() => new Promise((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => resolve([effectiveDirective, new URL(blockedURI).origin]));
        document.body.append(Object.assign(document.createElement('iframe'), { src: 'https://127.0.0.1:2/' }));
    }));
    assert.deepEqual(await refused, ['frame-src', 'https://127.0.0.1:2']);
    await page.context().close();
});

test('who may only look sees nothing that changes anything', async () => {
    const page = await world.open({ place: '#/overview' });
    await page.route('**/1.0', async (route) => {
        const answer = await (await route.fetch()).json();
        await route.fulfill({ json: { ...answer, metadata: { ...answer.metadata, auth_role: 'viewer' } } });
    });
    await page.goto(`${world.url}/ui/?viewer#/instances/web-1/snapshots`);
    await page.getByText('No snapshots').waitFor();
    const tabs = page.getByRole('navigation', { name: 'Of this instance' }).getByRole('link');
    assert.deepEqual(await tabs.allTextContents(), ['Summary', 'Logs', 'Snapshots']);
    assert.equal(await page.locator('main button').count(), 0);
    await page.goto(`${world.url}/ui/?viewer#/instances/web-1/terminal`);
    await page.getByText('There is no tab “terminal” that you may use.').waitFor();
    await page.context().close();
});

test('an instance that is not there is told', async () => {
    const page = await world.open({ place: '#/instances/nothing' });
    await page.getByRole('alert').getByText(/not found|nothing/i).waitFor();
    await page.context().close();
});

for (const tab of ['summary', 'terminal', 'logs', 'files', 'snapshots', 'injection', 'screen'])
    test(`${tab} has no barriers, light and dark, wide and narrow`, async () => {
        for (const [small, dark] of [[false, false], [true, true]]) {
            const page = await opened(tab, { small, dark });
            await page.getByText('Loading').waitFor({ state: 'hidden' });
            assert.deepEqual(await barriers(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true, 'no sideways scrolling');
            await page.context().close();
        }
    });
