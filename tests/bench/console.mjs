// What 10,000 instances cost the console, beside the bare records: in time, frames and memory of the browser.
//
//     python3 tests/browser/chromium.py tests/bench/console.mjs       (SVC_INSTANCES=10000)
import { spawnSync } from 'node:child_process';
import { launchMany } from '../console/many.mjs';
import { World } from '../console/world.mjs';

const many = Number(process.env.SVC_INSTANCES ?? 10000);
const pageSize = 500, rounds = 5;
const figures = [];
const tell = (name, value, unit, baseline, what = '') => figures.push([name, `${value} ${unit}`, baseline === undefined ? '' : `${baseline} ${unit}, ${what}`, baseline ? (value / baseline).toFixed(2) : '']);
const rounded = (number, digits = 1) => Number(number.toFixed(digits));
const sorted = (numbers) => [...numbers].sort((left, right) => left - right);
const share = (numbers, part) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))];
const median = (numbers) => share(numbers, 0.5);

const urls = (world) => Array.from({ length: Math.ceil(many / pageSize) }, (_, page) => `${world.url}/1.0/instances?recursion=1&offset=${page * pageSize}&limit=${pageSize}`);

// The same pages by curl, over one connection.
function bareFetch(world) {
    const begin = performance.now();
    const done = spawnSync('curl', ['-sk', '--cert', world.certificate, '--key', world.key, ...urls(world)], { maxBuffer: 1 << 28 });
    if (done.status !== 0) throw new Error(`curl: ${done.stderr}`);
    return performance.now() - begin;
}

// Milliseconds until the frame of the console is there, around no page.
async function framed(page, world) {
    await page.goto('about:blank');
    const begin = performance.now();
    await page.goto(`${world.url}/ui/#/none`);
    await page.getByRole('navigation').waitFor();
    return performance.now() - begin;
}

// Milliseconds from opening the console until the first rows are seen, and until all have come. The browser has its files.
async function opened(page, world) {
    await page.goto('about:blank');
    const begin = performance.now();
    await page.goto(`${world.url}/ui/#/instances`);
    await page.locator('.vrow').first().waitFor();
    const first = performance.now() - begin;
    await page.waitForFunction((text) => document.querySelector('.count')?.textContent === text, `${many.toLocaleString('en-US')} of ${many.toLocaleString('en-US')}`);
    return [first, performance.now() - begin];
}

// Milliseconds between frames for two seconds while `step(time)` runs in each.
const frames = (page, scroll) => page.evaluate((moves) => new Promise((resolve) => {
    const list = document.querySelector('.vlist'), times = [];
    const begin = performance.now();
    const frame = (now) => {
        times.push(now);
        if (moves) list.scrollTop = (list.scrollTop + 170) % (list.scrollHeight - list.clientHeight);
        if (now - begin < 2000) requestAnimationFrame(frame);
        else resolve(times.slice(1).map((time, index) => time - times[index]));
    };
    requestAnimationFrame(frame);
}), scroll);

async function heap(page) {
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize / 2 ** 20;
}

// The records themselves, parsed and kept by a page that does nothing else.
async function bareHeap(page, world) {
    await page.goto(`${world.url}/ui/icon.svg`);
    const before = await heap(page);
    await page.evaluate(async (pages) => {
        window.kept = [];
        for (const url of pages) window.kept.push((await (await fetch(url)).json()).metadata);
    }, urls(world));
    return await heap(page) - before;
}

// Milliseconds from a key in the filter until the list is drawn.
const filterTime = (page, text) => page.evaluate((value) => new Promise((resolve) => {
    const field = document.querySelector('input[type=search]');
    const begin = performance.now();
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begin)));
}), text);

async function measureTimes(page, world) {
    const bare = [], frame = [], first = [], all = [];
    for (let round = 0; round < rounds; ++round) {
        bare.push(bareFetch(world));
        frame.push(await framed(page, world));
        const [one, every] = await opened(page, world);
        first.push(one);
        all.push(every);
    }
    tell(`opened until the first of ${many} instances are seen`, rounded(median(first)), 'ms', rounded(median(frame)), 'the frame alone');
    tell(`from the first until all ${many} have come`, rounded(median(all.map((time, round) => time - first[round]))), 'ms', rounded(median(bare)), 'curl of all pages');
}

async function measureFrames(page) {
    const still = await frames(page, false), moved = await frames(page, true);
    tell('frames while scrolling, median', rounded(median(moved)), 'ms', rounded(median(still)), 'standing still');
    tell('frames while scrolling, 95th percentile', rounded(share(moved, 0.95)), 'ms', rounded(share(still, 0.95)), 'standing still');
    tell('rows in the document', await page.locator('.vrow').count(), 'rows');
    const times = [];
    for (const text of ['w', 'we', 'web-7', 'tags=odd', 'status=running 99', '']) times.push(await filterTime(page, text));
    tell('a key in the filter until the list is drawn, longest of 6', rounded(Math.max(...times)), 'ms');
}

async function measureMemory(page, world) {
    const bare = await bareHeap(page, world);
    await page.goto('about:blank');
    await page.goto(`${world.url}/ui/#/none`);
    await page.getByRole('navigation').waitFor();
    const empty = await heap(page);
    await opened(page, world);
    const full = await heap(page);
    tell(`heap of the list with ${many} instances`, rounded(full - empty), 'MiB', rounded(bare), 'the parsed records alone');
    for (let round = 0; round < 10; ++round) {
        await page.getByRole('link', { name: 'Launch', exact: true }).click();
        await page.getByRole('link', { name: 'All instances' }).click();
        await page.locator('.vrow').first().waitFor();
        await frames(page, true);
    }
    tell('the same after leaving it and scrolling through it ten times', rounded(await heap(page) - empty), 'MiB', rounded(full - empty), 'before');
}

// All of them change at once: requests, and how long the list needs to be right again.
async function measureBurst(page, world) {
    let requests = 0;
    page.on('request', (request) => { requests += request.url().includes('/1.0/instances?') ? 1 : 0; });
    const number = Math.min(1000, many);
    await launchMany(world.socket, number, (one) => ({ image_id: 'busybox', name: `late-${one}` }));
    const begin = performance.now();
    const text = `running ${(many + number).toLocaleString('en-US')}`;
    await page.waitForFunction((wanted) => [...document.querySelectorAll('.chip')].some((chip) => chip.textContent === wanted), text);
    tell(`${number} launched at once: requests of the list`, requests, 'requests', number, 'one each');
    tell('from the last launch until the list has them all', rounded(performance.now() - begin, 0), 'ms');
}

const world = await World.start({ simulated_nodes: 3, simulated_cpus: 1000000, simulated_memory: '1000TB' });
try {
    world.addImage();
    await launchMany(world.socket, many, (number) => ({ image_id: 'busybox', name: `web-${number}`, tags: [number % 2 ? 'odd' : 'even'] }));
    const page = await world.open({ place: '#/instances' });
    await page.locator('.vrow').first().waitFor();
    await measureTimes(page, world);
    await measureFrames(page);
    await measureMemory(page, world);
    await measureBurst(page, world);
    console.log(['| Figure | Ours | Baseline | Ratio |', '|---|---|---|---|', ...figures.map((cells) => `| ${cells.join(' | ')} |`)].join('\n'));
} finally {
    await world.close();
}
