// Every page for every role: nothing is refused by looking, nothing is offered that would be, and nobody is kept out by a barrier.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everywhere, fill, visit } from './places.mjs';
import { setColors } from './ways.mjs';
import { barriers, World } from './world.mjs';

let world;
before(async () => { world = await World.start(); });
after(() => world.close());

// A page of somebody with that role, and the answers that it was refused with.
async function open(role) {
    const link = world.ctl('ui', '--print', '--role', role).split('\n')[0];
    const page = await world.open({ certificate: false, place: link.slice(link.indexOf('#')) });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const refused = [];
    page.on('response', (answer) => answer.status() === 403 && refused.push(`${answer.request().method()} ${answer.url()}`));
    return { page, refused };
}

// The names of what can be pressed or changed; the heads of columns sort.
const offered = (page) => page.evaluate(() => {
    const nameOf = (element) => element.ariaLabel ?? element.getAttribute('aria-label') ?? element.labels?.[0]?.querySelector('span')?.textContent ?? element.labels?.[0]?.textContent ?? element.textContent;
    return [...document.querySelectorAll('main :is(button:not(.sort), a.button, a[download], select, input, textarea)')].filter((element) => !element.disabled).map((element) => nameOf(element).trim());
});

// What changes nothing but the page, or is of the user's own session.
const looking = [/^(Filter|Values of|JSON of|Versions of) /, /^(Status|Lifecycle$|Operations$|Log$|Columns$|Copy$|Pause$|Load what is kept$|Download$|Clear$|Look again$|All instances$)/,
    /^(running|stopped|error) \d/, /^Only what differs/, /^(Make a login link|End the session of .*|Name the gateway …)$/];
const isLooking = (name) => looking.some((pattern) => pattern.test(name));
// What only admins may do.
const configuring = /^(New (application|version)|Upload (an|a) image|Add an? (addon|certificate|node|image)|Edit|Update|Publish|Revoke|Remove|Save|Reset|From the image|Make .* the default|Invite|Cordon|Uncordon|Evacuate|Settings|Pull |Push |Role of|Delete (busybox|ssh|version)|\w+\.\w+$)/;

const wide = { width: 1280, height: 800 }, narrow = { width: 360, height: 740 };

async function obstaclesOf(page) {
    const found = [];
    for (const [size, colors] of [[narrow, 'dark'], [wide, 'light']]) {
        await page.setViewportSize(size);
        await setColors(page, colors);
        found.push(...await barriers(page));
        if (!await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)) found.push(`sideways scrolling at ${size.width}`);
    }
    return found;
}

// What is offered at each of the places, where nothing may be in the way.
async function tour(role, places) {
    const { page, refused } = await open(role), found = [];
    for (const place of places) {
        await visit(page, place);
        found.push(...(await offered(page)).map((name) => ({ place, name })));
        if (role !== 'operator') assert.deepEqual(await obstaclesOf(page), [], `${place} for ${role}`);  // what operators see is in what admins see
    }
    assert.deepEqual(refused, []);
    assert.deepEqual(page.said, []);
    await page.context().close();
    return found;
}

const mayBeOffered = {
    viewer: (place, name) => isLooking(name) && !(name === 'Pause' && place.startsWith('#/instances')),
    operator: (place, name) => !configuring.test(name),
    admin: () => true,
};

let more = [];
for (const state of ['empty', 'used']) {
    for (const role of ['viewer', 'operator', 'admin']) {
        test(`${role}: each page of ${state === 'empty' ? 'an empty service' : 'one that is used'}`, async () => {
            if (state === 'used' && more.length === 0) more = await fill(world);
            const found = await tour(role, [...everywhere, ...more]);
            assert.deepEqual(found.filter(({ place, name }) => !mayBeOffered[role](place, name)), []);
            assert.equal(found.some(({ name }) => configuring.test(name)), role === 'admin', 'admins are offered what is kept from others');
        });
    }
}

test('a page that is not for the role says so, under its title', async () => {
    const { page } = await open('operator');
    await visit(page, '#/audit');
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.getByText('The page “Audit” needs the role admin; yours is operator.').waitFor();
    assert.equal(await page.title(), 'Audit – Instances');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Audit', 'a reader hears it');
    await page.context().close();
});

test('what only others may do is said', async () => {
    const { page } = await open('viewer');
    const said = {
        '#/instances/launch': 'Only operators and admins launch instances.', '#/configuration': 'Only admins change the configuration.', '#/trust': 'Only admins change who is trusted.',
    };
    for (const [place, text] of Object.entries(said)) {
        await visit(page, place);
        await page.locator('main').getByText(text).waitFor();
    }
    await page.context().close();
});
