// The commands that do what the form does. They can be run as they are.
import { shellWord } from '../../ui/format.js';
import { bodyOf, nameOf, nameParts, protocolsOf, wordsOf } from './launch_form.js';

// In double quotes nothing of a number needs quoting.
const numbered = (parts) => parts.map((part) => (part ? shellWord(part) : '')).join('"$n"');

// A value that begins with - would be taken for a flag.
const flag = (name, value) => (value.startsWith('-') ? [`${name}=${shellWord(value)}`] : [name, shellWord(value)]);
const given = (name, value) => (value === '' ? [] : flag(name, value));
const lists = (name, values) => given(name, values.join(','));

function serviceText(service) {
    return `${service.expose ? '+' : ''}${service.name ? `${service.name}:` : ''}${protocolsOf(service).join(',')}:${service.ports.replaceAll(' ', '')}`;
}

function nameWords(form) {
    const parts = nameParts(form);
    if (!parts) return [];
    return Number(form.count) > 1 ? ['--name', numbered(parts)] : given('--name', nameOf(form, 1));
}

const sourceWords = (form) => (form.kind === 'application'
    ? given('--application-version', form.version)
    : ['--raw', ...given('--version', form.version), '--instance-type', form.instanceType, ...lists('--addons', form.addons)]);

function often(form, command) {
    return Number(form.count) > 1 ? `for n in $(seq 1 ${Number(form.count)}); do\n    ${command}\ndone` : command;
}

export function svcctlOf(form) {
    const words = [
        'svcctl', form.start ? 'launch' : 'init', shellWord(form.sourceName.startsWith('-') ? form.source : form.sourceName || 'NAME'), ...sourceWords(form), ...nameWords(form), ...given('--node', form.node),
        ...given('--cpus', form.cpus), ...given('--memory', form.memory.trim()), ...given('--disk-size', form.disk.trim()), ...given('--gpu-slots', form.gpus),
        ...given('--expires-after', form.expires.trim()), ...given('--idle-after', form.idle.trim()),
        ...form.services.flatMap((service) => given('--service', serviceText(service))), ...lists('--tags', wordsOf(form.tags)), ...lists('--features', wordsOf(form.features)),
        ...given('--platform', form.platform), ...given('--userdata', form.userData), ...given('--metrics-server', form.metricsServer.trim()),
        ...[[form.protect, '--protect'], [form.unwatched, '--disable-watchdog'], [form.devmode, '--devmode']].filter(([on]) => on).map(([, name]) => name),
    ];
    return often(form, words.join(' '));
}

const mark = '\u0001', marked = JSON.stringify(mark).slice(1, -1);

// The body as a word; the name comes before what may have the mark in its text.
function bodyWord(form) {
    if (Number(form.count) <= 1 || !form.name) return shellWord(JSON.stringify(bodyOf(form)));
    const [before, ...behind] = JSON.stringify(bodyOf(form, mark)).split(marked);
    return numbered([before, behind.join(marked)]);
}

// The certificate and key of svcctl are in ~/.config/svcctl, once it has a remote.
export function curlOf(form, origin) {
    return often(form, `curl --cert client.crt --key client.key --insecure ${origin}/1.0/instances --header 'Content-Type: application/json' --data-raw ${bodyWord(form)}`);
}
