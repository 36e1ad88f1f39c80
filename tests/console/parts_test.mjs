// Parts of the console that need no browser: archives, folders, tracks, logs, words, the pace of loads, gaps of graphs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';

const web = new URL('../../server/ui/web/', import.meta.url);
const load = (name) => import(new URL(name, web));
const { TarReader, end, entry, filler } = await load('tar.js');
const { LogLines } = await load('pages/instance/log_lines.js');
const { readTrack, steps } = await load('pages/instance/track.js');
const { wordsOf } = await load('ui/words.js');
const { dropped } = await load('pages/packages/choose.js');
const { chosenTrees, droppedTrees } = await load('pages/instance/dropped.js');
const { gapsOf } = await load('ui/gaps.js');
const { paced } = await load('ui/paced.js');

let folder;
before(() => { folder = mkdtempSync(join(tmpdir(), 'svc-parts-')); });
after(() => rmSync(folder, { recursive: true }));

const tar = (...words) => {
    const done = spawnSync('tar', words, { encoding: 'buffer' });
    assert.equal(done.status, 0, done.stderr.toString());
    return done.stdout;
};
const bytesOf = (text) => new TextEncoder().encode(text);
const long = `${'d'.repeat(90)}/${'ä'.repeat(60)}/file`;

test('what is written is what tar reads', () => {
    const content = bytesOf('x'.repeat(700));
    const file = join(folder, 'made.tar');
    const parts = [entry({ path: 'short', folder: true }), entry({ path: 'short/file', size: content.length, modified: 1_000_000_000 }), content, filler(content.length),
        entry({ path: long, size: 3 }), bytesOf('end'), filler(3), end()];
    writeFileSync(file, Buffer.concat(parts));
    assert.deepEqual(tar('-tf', file, '--quoting-style=literal').toString().trim().split('\n'), ['short', 'short/file', long]);
    const into = join(folder, 'into');
    mkdirSync(into);
    tar('-xf', file, '-C', into);
    assert.equal(readFileSync(join(into, 'short/file'), 'utf8'), 'x'.repeat(700));
    assert.equal(readFileSync(join(into, long), 'utf8'), 'end');
});

test('a file of more than 8 GiB is announced with its size', () => {
    const found = [];
    new TarReader({ onEntry: (about) => found.push(about) }).write(entry({ path: 'large', size: 9 * 2 ** 30 }));
    assert.deepEqual(found, [{ path: 'large', type: '0', size: 9 * 2 ** 30 }]);
});

test('what tar writes is read, however it is cut', () => {
    const tree = join(folder, 'tree');
    mkdirSync(join(tree, 'deep'), { recursive: true });
    writeFileSync(join(tree, 'deep', 'ä'.repeat(70)), 'content');
    symlinkSync('nowhere', join(tree, 'link'));
    for (const size of [1, 511, 512, 100_000]) {
        const archive = new Uint8Array(tar('--format=pax', '-C', tree, '-cf', '-', '.'));
        const found = {}, text = [];
        const reader = new TarReader({ onEntry: ({ path, type }) => { found[path] = type; }, onData: (bytes) => text.push(Buffer.from(bytes)) });
        for (let at = 0; at < archive.length; at += size) reader.write(archive.subarray(at, at + size));
        assert.deepEqual(found, { './': '5', './deep/': '5', [`./deep/${'ä'.repeat(70)}`]: '0', './link': '2' });
        assert.equal(Buffer.concat(text).toString(), 'content');
        assert.equal(reader.ended, true);
    }
});

test('a pax header of a hostile guest takes no memory', () => {
    const bytes = entry({ path: 'ä' });
    bytes.set(bytesOf('77777777777'), 124);
    assert.throws(() => new TarReader({}).write(bytes), /damaged/);
});

test('a size that is none ends the reading of a hostile archive', () => {
    for (const size of ['-0001000', '9', 'x'])
        for (const type of ['x', '0']) {
            const bytes = entry({ path: 'a' });
            bytes.set(bytesOf(size.padEnd(11, ' ')), 124);
            bytes[156] = type.charCodeAt(0);
            assert.throws(() => new TarReader({}).write(bytes), /damaged/, `${type} ${size}`);
        }
    const pax = entry({ path: 'ä' });
    pax.set(bytesOf('00000000015'), 124);
    pax.set(bytesOf('13 size=-512\n'), 512);
    assert.throws(() => new TarReader({}).write(pax), /damaged/);
});

test('a log keeps its newest lines, and shows no more of one than fits', () => {
    const log = new LogLines(3);
    log.add('one\ntwo\nthr');
    log.add('ee\n\x1b[31mred\x1b[0m\x07\x1b]8;;http://evil/\x07link\n');
    log.add('y'.repeat(10_000));
    assert.deepEqual(log.shown('').slice(0, 3).map(({ text }) => text), ['two', 'three', 'redlink']);
    assert.equal(log.dropped, 1);
    assert.match(log.shown('').at(-1).text, /^y{2000} … \[\d+ characters more\]$/);
    for (let count = 0; count < 100; count += 1) log.add('y'.repeat(10_000));
    assert.ok(log.rest.length <= 8000);
    assert.deepEqual(log.shown('RED').map(({ number }) => number), [4]);
});

test('an NMEA log becomes places with their speed and heading', () => {
    const sum = (text) => `$${text}*${[...text].reduce((all, letter) => all ^ letter.charCodeAt(0), 0).toString(16).padStart(2, '0')}`;
    const text = [sum('GPGGA,120000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,'), sum('GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,230394,,'),
        '$GPGGA,120001,0000.000,N,00000.000,E,1,08,0.9,0,M,,M,,*00', sum('GPGGA,120010,4807.138,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,')].join('\r\n');
    const [first, second] = steps(readTrack('ride.nmea', text));
    assert.ok(Math.abs(first.fix.latitude - 48.1173) < 1e-4 && Math.abs(first.fix.speed - 11.52) < 0.01 && first.fix.bearing === 84.4, JSON.stringify(first));
    assert.equal(second.after, 10);
    assert.ok(Math.abs(second.fix.speed - 18.5) < 0.2 && second.fix.bearing === 0, JSON.stringify(second));
    assert.throws(() => readTrack('x.nmea', 'nothing'), /no position/);
});

test('words of a command are those of a shell', () => {
    assert.deepEqual(wordsOf(`su -  'a b' "c"d ''`), ['su', '-', 'a b', 'cd', '']);
});

// What a browser tells of a drop: a hundred entries of a folder at a time.
const fileEntry = (name) => ({ name, isFile: true, isDirectory: false, file: (resolve) => resolve({ name, size: 1 }) });
const folderEntry = (name, entries) => ({
    name, isFile: false, isDirectory: true,
    createReader() {
        const left = [...entries];
        return { readEntries: (resolve) => resolve(left.splice(0, 100)) };
    },
});
const drop = (...entries) => ({ files: [], items: entries.map((entry) => ({ webkitGetAsEntry: () => entry })) });
const names = (count) => Array.from({ length: count }, (_, number) => `f${number}`);

test('a folder that is dropped is read to its end, at any depth', async () => {
    const folder = () => folderEntry('game', [folderEntry('hooks', [fileEntry('start')]), folderEntry('empty', []), ...names(250).map(fileEntry)]);
    const [tree] = await droppedTrees(drop(folder()));
    assert.equal(tree.name, 'game');
    assert.deepEqual(tree.items.slice(0, 4).map(({ path, file }) => [path, Boolean(file)]), [['.', false], ['hooks', false], ['hooks/start', true], ['empty', false]]);
    assert.equal(tree.items.length, 254);
    const { name, files } = await dropped(drop(folder()));
    assert.equal(name, 'game');
    assert.deepEqual(files.map(({ path }) => path), ['hooks/start', ...names(250)]);
    const several = await dropped(drop(fileEntry('manifest.yaml'), folder()));
    assert.deepEqual(several.files.slice(0, 3).map(({ path }) => path), ['manifest.yaml', 'game/hooks/start', 'game/f0']);
});

test('more files than can be sent at once are refused, also when all are in one folder', async () => {
    await assert.rejects(droppedTrees(drop(folderEntry('flat', names(20_001).map(fileEntry)))), /More than 20000 files/);
    assert.throws(() => chosenTrees(names(20_001).map((name) => ({ name, webkitRelativePath: `flat/${name}` }))), /More than 20000 files/);
});

test('a folder that is chosen has its folders, too', () => {
    const [{ name, items }] = chosenTrees(['top/a/b/one', 'top/two'].map((path) => ({ name: path.split('/').pop(), webkitRelativePath: path })));
    assert.equal(name, 'top');
    assert.deepEqual(items.map(({ path, file }) => [path, Boolean(file)]), [['.', false], ['a', false], ['a/b', false], ['a/b/one', true], ['two', true]]);
});

// How often `work` of so many milliseconds begins while it is asked for every 50 ms, for a minute.
async function beginnings(milliseconds) {
    let now = 0, count = 0, running = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    const clock = mock.method(performance, 'now', () => now);
    const { soon, end } = paced(async () => {
        count += 1;
        running += 1;
        assert.equal(running, 1);
        await new Promise((resolve) => { setTimeout(resolve, milliseconds); });
        running -= 1;
    });
    for (; now < 60_000; now += 50) {
        soon();
        mock.timers.tick(50);
        for (let turns = 0; turns < 10; turns += 1) await null;
    }
    end();
    clock.mock.restore();
    mock.timers.reset();
    return count;
}

test('what events ask for all the time is done twice a second at most, and for half of the time', async () => {
    const quick = await beginnings(1), slow = await beginnings(2000);
    assert.ok(quick > 90 && quick <= 120, `${quick} quick ones`);
    assert.ok(slow > 12 && slow <= 15, `${slow} slow ones`);
});

test('what is asked for once is done once, and nothing after the end', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let count = 0;
    const { soon, end } = paced(() => { count += 1; throw new Error('it is shown elsewhere'); });
    soon();
    soon();
    mock.timers.tick(10_000);
    for (let turns = 0; turns < 10; turns += 1) await null;
    mock.timers.tick(10_000);
    assert.equal(count, 1);
    soon();
    end();
    soon();
    mock.timers.tick(10_000);
    assert.equal(count, 1);
    mock.timers.reset();
});

test('a gap is where samples are missing', () => {
    assert.deepEqual(gapsOf([0, 10, 20, 90, 100, 131]), [[2, 3], [4, 5]]);
    assert.deepEqual(gapsOf([0, 10.2, 20.1, 40]), []);
    assert.deepEqual([gapsOf([]), gapsOf([5]), gapsOf([5, 900])], [[], [], []]);
});
