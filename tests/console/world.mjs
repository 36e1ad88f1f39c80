// A daemon over the simulated runtime, with an image, an application and a browser that is logged in. Real programs;
// everything is in a folder of the test, and gone with close().
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isFirefox, launch, phone } from '../browser/browser.mjs';

const root = new URL('../..', import.meta.url).pathname;
const build = process.env.SVC_BUILD_DIR ?? join(root, 'build');
const axe = readFileSync(createRequire(`${process.env.SVC_NODE_MODULES}/`).resolve('axe-core/axe.min.js'), 'utf8');

function succeed(command, words, options = {}) {
    const done = spawnSync(command, words, { encoding: 'utf8', timeout: 240_000, ...options });
    if (done.status !== 0) throw new Error(`${command} ${words.join(' ')}: ${done.stderr || done.error}`);
    return done.stdout.trim();
}

// A bridge and addresses that nobody else has.
function ownNetwork() {
    const net = succeed('python3', ['-c', 'from addresses import free_net; print(free_net())'], { cwd: join(root, 'tests/system') });
    return ['--bridge', `svct${process.pid % 100000}x${Math.floor(Math.random() * 1000)}`.slice(0, 15), '--subnet', `${net}.1/24`];
}

export class World {
    build = build;

    // `runtime`: `lxc` for real guests; needs root.
    static async start(settings = {}, { runtime = 'simulated' } = {}) {
        const world = new World();
        world.runtime = runtime;
        world.network = runtime === 'simulated' ? [] : ownNetwork();
        world.dir = mkdtempSync('/var/tmp/svc-console-');
        chmodSync(world.dir, 0o755);
        world.socket = join(world.dir, 'unix.socket');
        world.listen = '127.0.0.1:0';
        world.configure(settings);
        try {
            await world.startDaemon();
            world.trust();
            world.browser = await launch();
        } catch (error) {
            await world.close();
            throw error;
        }
        return world;
    }

    // What svcd.yaml says from the next start on.
    configure(settings) {
        writeFileSync(join(this.dir, 'svcd.yaml'), `${JSON.stringify(settings)}\n`);
    }

    async restart(settings) {
        await this.stopDaemon();
        this.configure(settings);
        await this.startDaemon();
    }

    place() {
        return ['--runtime', this.runtime, '--state-dir', join(this.dir, 'state'), ...this.network];
    }

    // The address stays when it is started again.
    async startDaemon() {
        const words = ['--config', join(this.dir, 'svcd.yaml'), ...this.place(), '--socket', this.socket, '--listen', this.listen, '--metrics-listen', 'none', '--hypervisor-listen', 'none'];
        const daemon = spawn(join(build, 'server/svcd'), words, { stdio: ['ignore', 'ignore', 'pipe'] });
        this.daemon = daemon;
        this.exited = new Promise((resolve) => { daemon.once('exit', resolve); });
        this.log = [];
        await new Promise((resolve, reject) => {
            createInterface({ input: daemon.stderr }).on('line', (line) => {
                this.log.push(line);
                if (line.startsWith('svcd: ready')) resolve(line);
            }).on('close', () => reject(new Error(`svcd has ended: ${this.log.slice(-5).join('\n')}`)));
        }).then((line) => {
            this.url = /https:\/\/\S+/.exec(line)[0];
            this.listen = this.url.replace('https://', '');
        });
    }

    async stopDaemon(signal = 'SIGTERM') {
        if (!this.daemon) return;
        this.daemon.kill(signal);
        await this.exited;
        this.daemon = null;
    }

    // What `svcctl` prints.
    ctl(...words) {
        return succeed(join(build, 'cli/svcctl'), ['--socket', this.socket, ...words]);
    }

    // A command of `svcctl` that goes on: said(pattern) waits for a line of it, end() ends it.
    spawn(...words) {
        const child = spawn(join(build, 'cli/svcctl'), ['--socket', this.socket, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
        const ended = new Promise((resolve) => { child.once('exit', resolve); });
        const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
        const said = async (pattern) => {
            for (let line = await lines.next(); !line.done; line = await lines.next()) if (pattern.test(line.value)) return line.value;
            throw new Error(`svcctl ${words.join(' ')} has ended without ${pattern}`);
        };
        const end = () => {
            child.kill();
            return ended;
        };
        return { said, end };
    }

    json(...words) {
        return JSON.parse(this.ctl(...words, '-o', 'json'));
    }

    trust() {
        this.key = join(this.dir, 'client.key');
        this.certificate = join(this.dir, 'client.crt');
        succeed('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=console',
            '-keyout', this.key, '-out', this.certificate]);
        this.ctl('trust', 'add', this.certificate);
    }

    // `property`: a line more of those of its metadata.
    addImage(name = 'busybox', { property } = {}) {
        const file = join(this.dir, 'image.tar.gz');
        succeed(join(root, 'tests/images/busybox.sh'), [file]);
        if (property) this.addProperty(file, property);
        this.ctl('image', 'add', name, file, '--default');
    }

    addProperty(file, property) {
        const tree = join(this.dir, 'tree-of-image'), about = join(tree, 'metadata.yaml');
        mkdirSync(tree);
        succeed('tar', ['-C', tree, '-xf', file]);
        writeFileSync(about, readFileSync(about, 'utf8').replace('properties:\n', `properties:\n  ${property}\n`));
        succeed('tar', ['-C', tree, '-czf', file, 'metadata.yaml', 'rootfs']);
        rmSync(tree, { recursive: true });
    }

    addApplication(name = 'game', manifest = '') {
        const folder = join(this.dir, name);
        mkdirSync(folder);
        writeFileSync(join(folder, 'manifest.yaml'), `name: ${name}\n${manifest}`);
        const id = this.ctl('application', 'create', folder);
        this.ctl('wait', id);
        return id;
    }

    // A page that is logged in by a client certificate. What it says on its console, and what its policy refuses, is kept in `said`.
    async open({ place = '', certificate = true, small = false, dark = false, options = {} } = {}) {
        const clientCertificates = certificate && !isFirefox ? [{ origin: this.url, certPath: this.certificate, keyPath: this.key }] : [];
        const size = small ? { ...phone, viewport: { width: 360, height: 740 } } : { viewport: { width: 1280, height: 800 } };
        const context = await this.browser.newContext({ ignoreHTTPSErrors: true, clientCertificates, colorScheme: dark ? 'dark' : 'light', ...size, ...options });
        context.setDefaultTimeout(30_000);
        if (dark && isFirefox) await context.addInitScript(() => location.protocol === 'https:' && localStorage.setItem('svc-theme', 'dark'));  // its driver has no colors
        const page = await context.newPage();
        page.said = [];
        page.on('console', (message) => message.type() === 'error' && page.said.push(message.text()));
        page.on('pageerror', (error) => page.said.push(String(error)));
        if (certificate && isFirefox) await this.logIn(page);
        await page.goto(`${this.url}/ui/${place}`);
        return page;
    }

    // By a link: Firefox cannot be given a certificate from outside.
    async logIn(page) {
        await page.goto(this.ctl('ui', '--print').split('\n')[0]);
        await page.locator('nav.side').waitFor({ state: 'attached' });
    }

    async close() {
        await this.browser?.close();
        if (this.runtime !== 'simulated' && this.daemon) this.ctl('delete', '--all', '--force', '-y');
        await this.stopDaemon('SIGTERM');
        if (this.runtime !== 'simulated') succeed(join(build, 'server/svcd'), ['--config', join(this.dir, 'svcd.yaml'), ...this.place(), '--tear-down']);
        rmSync(this.dir, { recursive: true, force: true });
    }
}

// What axe-core finds wrong with the page as it is: "rule: element", a line each.
export async function barriers(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`));
}
