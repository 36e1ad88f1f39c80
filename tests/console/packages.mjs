// Packages as files of a test, and what tests of their pages do again and again.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setColors } from './ways.mjs';
import { barriers } from './world.mjs';

// A folder with `files` (path: text). No hook is executable: the console has to see to that.
export function folder(world, name, files) {
    const top = join(world.dir, 'packages', name);
    for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(top, path)), { recursive: true });
        writeFileSync(join(top, path), text);
    }
    return top;
}

export function archive(world, name, files) {
    const top = folder(world, name, files), file = `${top}.tar.bz2`;
    for (const path of Object.keys(files)) if (path.startsWith('hooks/')) chmodSync(join(top, path), 0o755);
    const done = spawnSync('tar', ['-cjf', file, '-C', top, '.']);
    if (done.status !== 0) throw new Error(String(done.stderr));
    return file;
}

// Answers the question of the page.
export async function confirm(page, answer = 'Delete') {
    await page.getByRole('dialog').getByRole('button', { name: answer, exact: true }).click();
}

// What keeps people from using what `page` shows: light and dark, wide and narrow.
export async function obstacles(page) {
    const found = [];
    for (const size of [{ width: 1280, height: 800 }, { width: 360, height: 740 }]) {
        await page.setViewportSize(size);
        if (!await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)) found.push(`sideways scrolling at ${size.width}`);
        for (const colors of ['light', 'dark']) {
            await setColors(page, colors);
            found.push(...await barriers(page));
        }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    return found;
}
