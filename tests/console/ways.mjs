// What people do with any browser, where the driver of Firefox does it in another way than that of Chromium.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isFirefox } from '../browser/browser.mjs';

export { isFirefox };

export async function reload(page) {
    if (!isFirefox) return page.reload();
    await page.evaluate(() => {
        window.isFormer = true;
        location.reload();
    });
    return page.waitForFunction(() => !window.isFormer && document.readyState === 'complete');
}

// The driver of Firefox waits for a load, which a step to another place of the same page has not.
export const back = (page) => page.evaluate(() => history.back());

// By keys: the driver of Firefox adds to a number where it should replace it.
export async function enter(field, text) {
    await field.press('Control+a');
    await field.pressSequentially(text);
}

// Firefox has the colors of its system: there the page is asked for others.
export async function setColors(page, colors) {
    if (!isFirefox) return page.emulateMedia({ colorScheme: colors });
    return page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, colors);
}

// The bytes of a file that `click` makes the page save. The driver of Firefox does not tell of files that a page has made: there the page is asked.
export async function saved(page, click) {
    if (!isFirefox) {
        const [download] = await Promise.all([page.waitForEvent('download'), click()]);
        return readFileSync(await download.path());
    }
    await page.evaluate(() => {
        const make = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob) => {
            URL.createObjectURL = make;
            window.savedFile = blob;
            return make(blob);
        };
    });
    await click();
    await page.waitForFunction(() => window.savedFile);
    return Buffer.from(await page.evaluate(() => new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.split(',')[1]);
        reader.readAsDataURL(window.savedFile);
        delete window.savedFile;
    })), 'base64');
}

function filesIn(top) {
    const found = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? found(join(folder, entry.name)) : [join(folder, entry.name)]));
    return found(top).map((path) => ({ path: relative(dirname(top), path), content: readFileSync(path, 'base64') }));
}

// Chooses a file or a folder. The driver of Firefox chooses no folders: there the field is told what it would have of one.
export function choose(field, path) {
    if (!isFirefox || !statSync(path).isDirectory()) return field.setInputFiles(path);
    return field.evaluate((input, entries) => {
        const files = entries.map(({ path: place, content }) => {
            const file = new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], place.split('/').pop());
            return Object.defineProperty(file, 'webkitRelativePath', { value: place });
        });
        Object.defineProperty(input, 'files', { value: files, configurable: true });
        input.dispatchEvent(new Event('change', { bubbles: true }));
    }, filesIn(path));
}
