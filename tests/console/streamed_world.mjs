// The console over a service with a gateway and a desktop that is streamed (streamed_service.py).
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isFirefox, launch } from '../browser/browser.mjs';
import { World } from './world.mjs';

export class StreamedWorld extends World {
    // { skipped } where there can be none: why.
    static async start() {
        const world = new StreamedWorld();
        await world.startService();
        if (world.skipped) return world;
        try {
            world.trust();
            world.browser = await launch();
        } catch (error) {
            await world.close();
            throw error;
        }
        return world;
    }

    async startService() {
        const service = spawn('python3', [new URL('streamed_service.py', import.meta.url).pathname], { stdio: ['pipe', 'pipe', 'inherit'] });
        this.service = service;
        this.exited = new Promise((resolve) => { service.once('exit', resolve); });
        const [line] = await Promise.race([this.exited.then(() => ['null']), new Promise((resolve) => { createInterface({ input: service.stdout }).once('line', (text) => resolve([text])); })]);
        const about = JSON.parse(line);
        if (!about) throw new Error('the service has ended');
        Object.assign(this, about);
        // Another host than that of the console: to the browser they are pages of two sites. The driver of Firefox sends keys and
        // clicks to no frame of another site.
        this.gateway = `https://${isFirefox ? '127.0.0.1' : 'localhost'}:${this.port}`;
    }

    // Throws when something was left behind.
    async close() {
        await this.browser?.close();
        this.service.stdin.end();
        const status = await this.exited;
        if (status !== 0) throw new Error(`streamed_service.py has ended with ${status}`);
    }
}
