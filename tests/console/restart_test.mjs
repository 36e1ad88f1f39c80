// Pages that are open while the daemon ends and comes again: each then shows what one shows that is opened afterwards.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everywhere, fill, visit } from './places.mjs';
import { World } from './world.mjs';

let world, places;
before(async () => {
    world = await World.start();
    places = [...everywhere, ...await fill(world)];
});
after(() => world.close());

// What is different in each page, or differs from one moment to the next: graphs, times, what a page has seen since it was opened.
const ownOfPage = ['#/events', '/terminal', '/logs', '/files', '/injection', '/screen'];
const compared = () => places.filter((place) => !ownOfPage.some((name) => place.includes(name)));

// The text of a page without its figures and times; each row of a table is a line.
const textOf = (page) => page.evaluate(() => {
    const copy = document.querySelector('main').cloneNode(true);
    for (const element of copy.querySelectorAll('time, .figure, .graph, .tiles li:last-child, [aria-label="The last hour"], [aria-label="Usage"], [aria-label="Slowest nodes"]')) element.remove();
    for (const cell of copy.querySelectorAll('td, th, p, li, h1, h2, dt, dd')) cell.append('\n');
    return copy.textContent.replace(/[ \t]+/g, ' ');
});

// Until `check` finds nothing to say. Firefox takes longer than 20 seconds at times before it connects again to what was away.
async function until(check) {
    const end = Date.now() + 90_000;
    let said = await check();
    while (said && Date.now() < end) {
        await new Promise(setImmediate);
        said = await check();
    }
    assert.equal(said, '');
}

function difference(text, expected) {
    const lines = text.split('\n'), wanted = expected.split('\n');
    return [...lines.filter((line) => !wanted.includes(line)).map((line) => `- ${line}`), ...wanted.filter((line) => !lines.includes(line)).map((line) => `+ ${line}`),
        ...(lines.length === wanted.length ? [] : [`${lines.length} lines, not ${wanted.length}`])].join('\n');
}

// Does something where no page hears of it: the daemon has another address meanwhile.
async function unheard(signal, change) {
    const { listen } = world;
    await world.stopDaemon(signal);
    world.listen = '127.0.0.1:0';
    await world.startDaemon();
    change();
    await world.stopDaemon();
    world.listen = listen;
    await world.startDaemon();
}

function changeMuch(round) {
    world.ctl('launch', 'game', '--name', `unheard-${round}`, '--tags', 'session=new');
    world.ctl('delete', '-y', round === 'SIGKILL' ? 'failed-1' : 'unheard-SIGKILL');
    world.ctl('config', 'set', 'container.features', round);
    world.ctl('trust', 'token', round);
    world.ctl('application', 'set', 'game', 'tags', round);
    world.ctl('protect', 'running-1');
    for (const { id } of world.json('trust', 'session', 'list').filter(({ role }) => role === 'viewer')) world.ctl('trust', 'session', 'delete', id);
}

for (const signal of ['SIGKILL', 'SIGTERM']) {
    test(`the page of an instance that was deleted meanwhile offers nothing, ${signal}`, async () => {
        const id = world.ctl('launch', 'game', '--name', 'short-lived');
        const page = await world.open({ place: `#/instances/${id}` });
        await page.getByRole('button', { name: 'Delete …' }).waitFor();
        await unheard(signal, () => world.ctl('delete', '-y', id));
        await page.getByRole('alert').getByText('not found').waitFor();
        assert.equal(await page.locator('main .actions button').count(), 0);
        assert.equal(await page.getByText('running', { exact: true }).count(), 0);
        await page.context().close();
    });

    test(`each page goes on by itself after ${signal}, with what happened meanwhile, once`, { timeout: 400_000 }, async () => {
        const link = world.ctl('ui', '--print', '--role', 'viewer').split('\n')[0];
        const viewer = await world.open({ certificate: false, place: link.slice(link.indexOf('#')) });
        await viewer.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
        const gone = signal === 'SIGKILL' ? world.json('show', 'failed-1').id : 'none';
        const shown = compared().filter((place) => !place.includes(gone));
        const first = await world.open(), pages = new Map([[shown[0], first]]);
        for (const place of shown.slice(1)) pages.set(place, await first.context().newPage());
        for (const [place, page] of pages) {
            if (page !== first) await page.goto(`${world.url}/ui/`);
            await visit(page, place);
        }
        const interrupted = first.waitForEvent('websocket');  // another one
        await unheard(signal, () => changeMuch(signal));
        await interrupted;
        const fresh = await first.context().newPage();
        await fresh.goto(`${world.url}/ui/`);
        for (const [place, page] of pages) {
            await visit(fresh, place);
            await until(async () => {
                const found = difference(await textOf(page), await textOf(fresh));
                return found && `${place}\n${found}`;
            });
        }
        await viewer.getByRole('button', { name: 'Log in' }).waitFor();  // its session has ended meanwhile
        await viewer.context().close();
        await first.context().close();
    });
}
