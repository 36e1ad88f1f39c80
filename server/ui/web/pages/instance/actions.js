// What can be done with an instance as a whole, by its state.
import { run } from '../../api.js';
import { sessionOf } from '../../gateway.js';
import { html, useState } from '../../html.js';
import { go, href } from '../../router.js';
import { ask } from '../../ui/notice.js';
import { CopyDialog, PublishDialog } from './copies.js';
import { DeleteDialog } from './delete.js';
import { isUp } from './needs.js';

const startable = ['prepared', 'stopped', 'error'];
const isProtected = (record) => Boolean(record.config?.security?.delete_protected);
const nameOf = (record) => record.name || record.id;

// The requests of the buttons, each with what is said at its end.
function requests({ record, begin }) {
    const change = (title, body, done) => begin(title, (progress) => run('PATCH', `/1.0/instances/${record.id}`, body, progress), done);
    const status = (title, wanted, done) => change(title, { desired_status: wanted }, done);
    return {
        start: async () => (record.status !== 'error' || await ask('Start a failed instance?', 'Starting it drops its stored logs.', 'Start'))
            && status('Starting', 'running', 'It runs.'),
        resume: () => status('Resuming', 'running', 'It goes on.'),
        pause: () => status('Pausing', 'paused', 'It is paused.'),
        stop: async () => await ask(`Stop ${nameOf(record)}?`, 'Its programs end; its disk stays.', 'Stop') && status('Stopping', 'stopped', 'It is stopped.'),
        restart: async () => await ask(`Restart ${nameOf(record)}?`, 'Its programs end, then it starts again.', 'Restart') && status('Restarting', 'restarted', 'It runs again.'),
        protect: (wanted) => change(wanted ? 'Protecting' : 'Unprotecting', { config: { security: { delete_protected: wanted } } },
            wanted ? 'It cannot be deleted now.' : 'It can be deleted now.'),
        remove: (force) => begin('Deleting', (progress) => run('DELETE', `/1.0/instances/${record.id}`, { force }, progress), `${nameOf(record)} is deleted.`)
            .then((good) => good && go('instances')),
    };
}

// The buttons that make sense now, the likeliest first.
function choices(record, does, open) {
    const { status, paused, pooled } = record;
    if (pooled) return [['Delete …', () => open('delete'), 'danger']];
    const up = status === 'running' || status === 'started';
    return [
        startable.includes(status) && ['Start', does.start, 'primary'],
        paused && ['Resume', does.resume, 'primary'],
        status === 'running' && !paused && ['Pause', does.pause],
        up && ['Stop', does.stop],
        up && !paused && ['Restart', does.restart],
        status === 'stopped' && ['Copy …', () => open('copy')],
        status === 'stopped' && ['Publish …', () => open('publish'), '', 'admin'],
        isProtected(record) ? ['Unprotect', () => does.protect(false)] : ['Protect', () => does.protect(true)],
        !isProtected(record) && ['Delete …', () => open('delete'), 'danger'],
    ].filter(Boolean);
}

export function Actions({ me, record, begin, busy }) {
    const [dialog, setDialog] = useState('');
    if (!me.may('operator') || record.type === 'base') return null;
    const does = requests({ record, begin });
    const close = () => setDialog('');
    const parts = { record, begin, onClose: close };
    return html`
        ${sessionOf(record) && isUp(record) && html`<a class="button primary" href=${href('instances', record.id, 'screen', 'stream')}>Stream</a>`}
        ${choices(record, does, setDialog).filter(([, , , role]) => !role || me.may(role)).map(([label, action, kind = '']) => html`
            <button key=${label} class=${kind} disabled=${busy} onClick=${action}>${label}</button>`)}
        ${dialog === 'copy' && html`<${CopyDialog} ...${parts} />`}
        ${dialog === 'publish' && html`<${PublishDialog} ...${parts} />`}
        ${dialog === 'delete' && html`<${DeleteDialog} ...${parts} remove=${does.remove} />`}`;
}
