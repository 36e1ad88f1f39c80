// The frame of the console: what is shown before login, where one can go, what happens when the daemon is away.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { barriers, World } from './world.mjs';

let world;
before(async () => { world = await World.start(); });
after(() => world.close());

test('nothing is shown before login but how to log in', async () => {
    const page = await world.open({ certificate: false });
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    assert.equal(await page.getByRole('navigation').count(), 0);
    assert.deepEqual(await barriers(page), []);
    await page.context().close();
});

test('each page is reached from the navigation, and by the keyboard alone', async () => {
    const page = await world.open();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');  // "To the page"
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
    const entries = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    for (const title of await entries.allTextContents()) {
        const focused = () => page.evaluate(() => document.activeElement.closest('nav')?.ariaLabel === 'Pages' && document.activeElement.textContent.trim());
        await page.getByRole('link', { name: 'To the page' }).focus();
        for (let steps = 0; steps < 30 && await focused() !== title; steps += 1) await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: title, level: 1 }).waitFor();
        assert.equal(await page.locator('main .failure').count(), 0, title);
    }
    assert.deepEqual(page.said, []);
    await page.context().close();
});

test('an address that changes while the page is shown first is followed', async () => {
    const page = await world.open({ place: 'icon.svg' });
    await page.addInitScript(() => {
        new MutationObserver((changes, observer) => {
            if (!document.querySelector('nav.side')) return;
            observer.disconnect();
            location.hash = '#/nodes';
        }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${world.url}/ui/`);
    await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
    await page.context().close();
});

test('values of something else are not shown, and a load that is asked for again comes to its end', async () => {
    const page = await world.open();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const said = await page.evaluate(async () => {
        const { html, render } = await import('/ui/html.js');
        const { useLoaded } = await import('/ui/ui/loaded.js');
        const place = document.createElement('div'), answers = [], said = [];
        let reload;
        function Shown({ of }) {
            const loaded = useLoaded(() => new Promise((resolve) => { answers.push(resolve); }), [of]);
            reload = loaded.reload;
            return html`${loaded.value ?? 'nothing'}`;
        }
        const show = (of) => render(html`<${Shown} of=${of} />`, place);
        const until = async (check) => { while (!check()) await new Promise(requestAnimationFrame); };
        show('one');
        await until(() => answers.length === 1);
        reload();
        answers[0]('first');
        await until(() => place.textContent === 'first' && answers.length === 2);
        answers[1]('second');
        await until(() => place.textContent === 'second');
        show('two');
        said.push(place.textContent);
        render(null, place);
        return said;
    });
    assert.deepEqual(said, ['nothing']);
    await page.context().close();
});

test('the page goes on when the daemon has been away', async () => {
    const page = await world.open();
    await page.getByText('online').first().waitFor();
    await world.stopDaemon('SIGKILL');
    await page.getByText('The service does not answer. The page goes on when it does.').waitFor();
    await world.startDaemon();
    await page.getByText('The service does not answer.').waitFor({ state: 'hidden' });
    await page.getByText('online').first().waitFor();
    await page.context().close();
});

for (const dark of [false, true]) {
    test(`the frame has no barriers, ${dark ? 'dark' : 'light'}, wide and narrow`, async () => {
        for (const small of [false, true]) {
            const page = await world.open({ small, dark });
            await page.getByText('online').first().waitFor();
            assert.deepEqual(await barriers(page), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, 'no sideways scrolling');
            await page.context().close();
        }
    });
}
