// The overview: figures that lead to what they count, graphs of the last hour, newest failures; live, and over a restart of the daemon.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { back, setColors } from './ways.mjs';
import { barriers, World } from './world.mjs';

let world;
before(async () => { world = await World.start(); });
after(() => world.close());

const tile = (page, name) => page.getByRole('list', { name: 'Figures' }).getByRole('link', { name });
const shown = (page, name, text) => tile(page, name).filter({ hasText: text }).waitFor();

test('an empty service says what to do first, and stops saying it', async () => {
    const page = await world.open();
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByText('svcctl image add NAME FILE --default').waitFor();
    world.addImage();
    await steps.getByText('done').waitFor();
    world.addApplication();
    await steps.waitFor({ state: 'hidden' });
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('figures follow what happens, also while the daemon is restarted', async () => {
    const page = await world.open();
    await shown(page, 'Running', '0 of 0');
    const first = world.ctl('launch', 'game');
    world.ctl('launch', 'game');
    await shown(page, 'Running', '2 of 2');
    world.ctl('pause', first);
    await tile(page, 'Running').first().click();
    await page.getByText(/^2 of /).waitFor();
    await back(page);
    world.ctl('resume', first);
    world.ctl('stop', first);
    await shown(page, 'Stopped', '1');
    await world.restart({ simulated_fail_share: 1 });
    assert.throws(() => world.ctl('launch', 'game', '--name', 'unlucky'));
    await shown(page, 'Failed', '1');
    const failures = page.getByRole('region', { name: 'Newest failures' }).first();
    await failures.getByRole('row', { name: /unlucky.*simulated/ }).waitFor();
    assert.match(await failures.getByRole('link', { name: 'unlucky' }).getAttribute('href'), /^#\/instances\/\w+$/);
    await page.getByRole('region', { name: 'Newest operations' }).first().getByText('failure', { exact: true }).waitFor();
    await tile(page, 'Failed').first().click();
    await page.waitForURL(/#\/instances\?filter=type%3Dregular%20status%3Derror$/);
    await page.getByText('1 of 3', { exact: true }).waitFor();
    await page.context().close();
});

test('a graph tells its values without being seen, and follows the theme', async () => {
    const page = await world.open();
    const graph = page.getByRole('img', { name: /^Instances by state, last values: running \d/ });
    await graph.waitFor();
    await page.getByRole('button', { name: 'Values of Instances by state' }).click();
    await page.getByRole('region', { name: 'Values of Instances by state' }).getByRole('columnheader', { name: 'stopped' }).waitFor();
    const picture = () => graph.locator('canvas').evaluate((canvas) => canvas.toDataURL());
    const light = await picture();
    await setColors(page, 'dark');
    await page.waitForFunction((before) => document.querySelector('.graph canvas').toDataURL() !== before, light);
    await page.context().close();
});

for (const dark of [false, true]) {
    test(`the overview has no barriers, ${dark ? 'dark' : 'light'}, wide and narrow`, async () => {
        for (const small of [false, true]) {
            const page = await world.open({ small, dark });
            await page.getByRole('img', { name: /^Operations, last values/ }).waitFor();
            await page.getByRole('region', { name: 'Newest failures' }).getByText('unlucky').waitFor();
            assert.deepEqual(await barriers(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'no sideways scrolling');
            assert.deepEqual(page.said, []);
            await page.context().close();
        }
    });
}
