// All pages of the console: a service that has something for each of them, where they are, and when they have come.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { archive } from './packages.mjs';

export const everywhere = ['#/overview', '#/instances', '#/instances/launch', '#/applications', '#/images', '#/addons', '#/nodes', '#/operations', '#/events',
    '#/configuration', '#/trust', '#/trust/invitations', '#/trust/sessions', '#/audit', '#/streams'];

export const tabs = ['summary', 'terminal', 'logs', 'files', 'snapshots', 'injection', 'screen'];

// Something of each kind. `text` is in what takes any text. The places of what is there, besides those that are always there.
export async function fill(world, text = 'plain') {
    world.addImage();
    world.addApplication('game', `version: '${text}'\ntags: ['${text}']\n`);
    world.ctl('addon', 'add', 'ssh', archive(world, 'ssh', { 'manifest.yaml': 'description: one\n', 'hooks/pre-start': '#!/bin/sh\n' }));
    world.ctl('launch', 'game', '--name', 'running-1', '-s', '+web:tcp:80', '--tags', `session=${text}`);
    world.ctl('launch', 'game', '--name', 'stopped-1');
    world.ctl('stop', 'stopped-1');
    world.ctl('snapshot', 'create', 'stopped-1');
    world.ctl('trust', 'token', text);
    mkdirSync(join(world.dir, 'registry'));
    world.ctl('config', 'set', 'registry.mode', 'manual');
    world.ctl('config', 'set', 'registry.url', `file://${world.dir}/registry`);
    await world.restart({ simulated_fail_share: 1 });
    try { world.ctl('launch', 'game', '--name', 'failed-1'); } catch { /* as it must */ }
    await world.restart({});
    const [{ id: application }] = world.json('application', 'list'), [{ name: node }] = world.json('node', 'list');
    const [running, stopped, failed] = ['running-1', 'stopped-1', 'failed-1'].map((name) => world.json('show', name).id);
    return [...tabs.map((tab) => `#/instances/${running}/${tab}`), `#/instances/${stopped}/summary`, `#/instances/${stopped}/snapshots`, `#/instances/${failed}/summary`,
        '#/applications?tab=registry', `#/applications/${application}`, `#/applications/${application}/0`, `#/nodes/${node}`];
}

// Goes there; what is there has been loaded then.
export async function visit(page, place) {
    await page.locator('main h1').waitFor();
    await page.evaluate((hash) => location.hash === hash || new Promise((resolve) => {
        window.addEventListener('hashchange', () => setTimeout(resolve), { once: true });
        location.hash = hash;
    }), place);
    await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .loading'));
}
