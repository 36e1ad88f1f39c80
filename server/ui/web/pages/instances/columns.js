// The columns of the list: what they show, what they are sorted by.
import { html } from '../../html.js';
import { href } from '../../router.js';
import { Ago, State } from '../../ui/elements.js';

const text = (value) => html`<span title=${value}>${value || '–'}</span>`;

export const nameOf = (row) => row.name || row.id;

const serviceText = ({ name, port, port_end: end, node_port: nodePort, expose, protocols }) => `${name ? `${name}: ` : ''}${port}${end ? `–${end}` : ''}/${protocols?.join(',') ?? ''}${nodePort ? ` → ${nodePort}` : ''}${expose ? ' exposed' : ''}`;
const services = (row) => row.services?.map(serviceText).join('; ') ?? '';

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
// "3GB" in bytes, to sort by.
function size(value) {
    const found = /^(\d+)([a-zA-Z]*)$/.exec(value ?? '');
    return found ? Number(found[1]) * 1024 ** Math.max(0, units.indexOf(found[2])) : 0;
}

const sourceOf = (row, images) => row.appName || row.app || images.get(row.image) || row.image;

// `images`: names of images by id.
export const columnsFor = (images) => [
    { name: 'name', title: 'Name', always: true, width: 'minmax(14rem, 2fr)', value: nameOf,
        show: (row) => html`<a href=${href('instances', row.id)} tabindex="-1" title=${nameOf(row)}>${nameOf(row)}</a>${row.protected && html`<small title="Its deletion is refused">protected</small>`}` },
    { name: 'id', title: 'Id', width: 'minmax(12.5rem, 1fr)', value: (row) => row.id, show: (row) => html`<code title=${row.id}>${row.id}</code>` },
    { name: 'status', title: 'Status', first: true, width: '7rem', value: (row) => row.status, show: (row) => html`<span title=${row.error}><${State} state=${row.status} /></span>` },
    { name: 'application', title: 'Application', first: true, value: (row) => sourceOf(row, images), show: (row) => text(sourceOf(row, images)) },
    { name: 'version', title: 'Version', width: '6rem', value: (row) => (row.app ? row.appVersion : row.imageVersion) },
    { name: 'node', title: 'Node', first: true, value: (row) => row.node, show: (row) => text(row.node) },
    { name: 'address', title: 'Address', first: true, width: 'minmax(8rem, 1fr)', value: (row) => row.address, show: (row) => text(row.address) },
    { name: 'services', title: 'Services', width: 'minmax(10rem, 1.4fr)', value: services, show: (row) => text(services(row)) },
    { name: 'tags', title: 'Tags', first: true, value: (row) => row.tags.join(', '), show: (row) => text(row.tags.join(', ')) },
    { name: 'cpus', title: 'CPUs', width: '5rem', value: (row) => row.cpus ?? 0 },
    { name: 'memory', title: 'Memory', width: '6rem', value: (row) => size(row.memory), show: (row) => row.memory ?? '–' },
    { name: 'disk', title: 'Disk', width: '6rem', value: (row) => size(row.disk), show: (row) => row.disk ?? '–' },
    { name: 'created', title: 'Created', first: true, width: '7rem', value: (row) => row.created ?? 0, show: (row) => html`<${Ago} time=${row.created} />` },
];

// Numbers in texts count as numbers: web-2 is before web-10.
const keyOf = (value) => (typeof value === 'number' ? value : String(value ?? '').toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0')));

export function sorted(rows, column, down) {
    if (!column) return rows;
    const keyed = rows.map((row) => [keyOf(column.value(row)), row]);
    const sign = down ? -1 : 1;
    keyed.sort(([left, one], [right, other]) => (left < right || (left === right && one.id < other.id) ? -sign : sign));
    return keyed.map(([, row]) => row);
}

const store = 'svc-instance-columns';

export function chosenColumns(all) {
    try {
        const names = JSON.parse(localStorage.getItem(store));
        if (Array.isArray(names)) return all.filter((column) => column.always || names.includes(column.name));
    } catch { /* what somebody else has written there */ }
    return all.filter((column) => column.always || column.first);
}

export const rememberColumns = (names) => localStorage.setItem(store, JSON.stringify(names));
