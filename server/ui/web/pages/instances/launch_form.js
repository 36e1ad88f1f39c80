// What the form of a launch holds, what is wrong with it, and the request that it makes.

export const instanceTypes = ['a2.3', 'a4.3', 'a6.3', 'a8.3', 'a10.3', 'g2.3', 'g4.3', 'g6.3', 'g8.3', 'g10.3'];
export const describeType = (type) => `${type}: ${/\d+/.exec(type)[0]} CPUs, 3 GB memory, 3 GB disk${type.startsWith('g') ? ', a GPU slot' : ''}`;

export const emptyForm = {
    kind: 'application', source: '', sourceName: '', version: '', instanceType: 'a2.3', name: '', count: '1', node: '',
    cpus: '', memory: '', disk: '', gpus: '', services: [], tags: '', addons: [], features: '', platform: '',
    userData: '', metricsServer: '', expires: '', idle: '', protect: false, start: true, unwatched: false, devmode: false,
};

export const emptyService = { name: '', ports: '', tcp: true, udp: false, expose: false };

export const wordsOf = (text) => text.split(',').map((word) => word.trim()).filter(Boolean);
const portsOf = (service) => service.ports.split('-').map((port) => Number(port.trim()));
export const protocolsOf = (service) => ['tcp', 'udp'].filter((protocol) => service[protocol]);

// The name around its number: "web-{n}" has one, another name gets it behind it where several are launched.
export function nameParts({ name, count }) {
    if (!name) return null;
    const at = name.indexOf('{n}');
    if (at >= 0) return [name.slice(0, at), name.slice(at + 3)];
    return Number(count) > 1 ? [`${name}-`, ''] : [name];
}

export function nameOf(form, number) {
    return nameParts(form)?.join(number) ?? '';
}

function serviceOf(service) {
    const [port, end] = portsOf(service);
    return { name: service.name, port, ...(end ? { port_end: end } : {}), protocols: protocolsOf(service), expose: service.expose };
}

const without = (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)));
const numberOf = (text) => (text === '' ? undefined : Number(text));

function configOf(form) {
    return without({
        platform: form.platform, features: wordsOf(form.features).join(','), metrics_server: form.metricsServer.trim(), disable_watchdog: form.unwatched || undefined,
        devmode: form.devmode || undefined, security: form.protect ? { delete_protected: true } : undefined,
    });
}

const sourceOf = (form) => (form.kind === 'application'
    ? { app_id: form.source, app_version: numberOf(form.version) }
    : { image_id: form.source, image_version: numberOf(form.version), instance_type: form.instanceType, addons: form.addons });

// The body of the request for the instance of this number.
export function bodyOf(form, number = 1) {
    return without({
        ...sourceOf(form), name: nameOf(form, number), node: form.node, cpu: numberOf(form.cpus), memory: form.memory.trim(), disk_size: form.disk.trim(),
        gpu_slots: numberOf(form.gpus), services: form.services.map(serviceOf), tags: wordsOf(form.tags), user_data: form.userData,
        expires_after: form.expires.trim(), idle_after: form.idle.trim(), no_start: form.start ? undefined : true, config: configOf(form),
    });
}

const isSize = (text) => /^\s*[1-9]\d*(B|kB|MB|GB|TB|PB|EB)?\s*$/.test(text);
const isDuration = (text) => /^\s*(never|(\d+(\.\d+)?(ns|us|ms|s|m|h))+)\s*$/.test(text);
const isName = (text) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{1,61})[A-Za-z0-9]$/.test(text);
const isPort = (port) => Number.isInteger(port) && port >= 1 && port <= 65535;
export const mostAtOnce = 1000;
export const mostUserData = 10240;

function serviceProblem(service) {
    const [port, end = port, ...more] = portsOf(service);
    if (more.length > 0 || !isPort(port) || !isPort(end) || end < port) return `“${service.ports}” is no port from 1 to 65535, nor a range like 5000-5010`;
    if (service.name && !/^[a-z0-9][a-z0-9-]{0,62}$/.test(service.name)) return `“${service.name}”: a service's name has lower-case letters, digits and -`;
    return protocolsOf(service).length === 0 ? `Port ${service.ports} has no protocol` : '';
}

// What is wrong, by field. Hints only: the service decides.
export function problemsOf(form) {
    const count = Number(form.count);
    const bytes = new TextEncoder().encode(form.userData).length;
    const found = {
        source: form.source ? '' : `Choose an ${form.kind}`,
        count: Number.isInteger(count) && count >= 1 && count <= mostAtOnce ? '' : `A number from 1 to ${mostAtOnce}`,
        name: !form.name || isName(nameOf(form, form.count)) ? '' : 'From 3 to 63 letters, digits and -, which is neither first nor last',
        cpus: form.cpus === '' || Number(form.cpus) >= 0.1 ? '' : 'At least 0.1',
        gpus: form.gpus === '' || /^\d+$/.test(form.gpus) ? '' : 'A whole number from 0 on',
        memory: form.memory === '' || isSize(form.memory) ? '' : 'A size like 4GB or 512MB',
        disk: form.disk === '' || isSize(form.disk) ? '' : 'A size like 8GB',
        expires: form.expires === '' || isDuration(form.expires) ? '' : 'A time like 2h or 1h30m',
        idle: form.idle === '' || isDuration(form.idle) ? '' : 'A time like 30m',
        userData: bytes <= mostUserData ? '' : `${bytes.toLocaleString()} bytes; at most ${mostUserData.toLocaleString()}`,
        services: form.services.map(serviceProblem).find(Boolean) ?? '',
    };
    return Object.fromEntries(Object.entries(found).filter(([, text]) => text));
}

const fields = { cpu: 'cpus', cpus: 'cpus', disk_size: 'disk', gpu_slots: 'gpus', user_data: 'userData', app_id: 'source', image_id: 'source', app_version: 'version',
    image_version: 'version', instance_type: 'instanceType', name: 'name', memory: 'memory', services: 'services', tags: 'tags', addons: 'addons', node: 'node', expires_after: 'expires', idle_after: 'idle' };
const settings = { platform: 'platform', features: 'features', metrics_server: 'metricsServer' };

// Which field an error of the service is about: { memory: text }; nothing where it does not say.
export function fieldOfError(message = '') {
    const path = /(?:argument|length of) ([\w.-]+)/.exec(message)?.[1].split('.') ?? [];
    const taken = /^(container|instance) .* already exists$/.test(message);
    const field = path[0] === 'config' ? settings[path[1]] : path[0] === 'resources' ? fields[path[1]] : fields[path[0]] ?? (taken ? 'name' : undefined);
    return field ? { [field]: message } : {};
}
