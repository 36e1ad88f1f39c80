// What a node has of each resource, and what is reserved of it.
import { html } from '../../html.js';
import { bytes } from '../../ui/format.js';
import { Meter } from '../../ui/elements.js';

const units = { '': 1, B: 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40, P: 2 ** 50, E: 2 ** 60 };

// Bytes of a size as the API writes it: "3GB", "512MB".
export function bytesOf(size) {
    const [, number, unit] = /^([\d.]+)\s*([KMGTPE]?)i?B?$/.exec(String(size)) ?? [];
    return number === undefined ? 0 : Number(number) * units[unit];
}

const round = (value) => value.toLocaleString(undefined, { maximumFractionDigits: 1 });

// [{ name, used, total, text }] of a node's record and its newest figures, which may be missing.
export function capacityOf(node, figures) {
    const amounts = [
        ['CPUs', figures?.cpus, node.cpus * node.cpu_allocation_rate, round],
        ['Memory', figures?.memory, bytesOf(node.memory) * node.memory_allocation_rate, bytes],
        ['Disk', figures?.disk, bytesOf(node.disk_size), bytes],
        ['GPU slots', figures?.gpu_slots, node.gpu_slots, round],
    ];
    return amounts.filter(([, , total]) => total > 0).map(([name, used = 0, total, write]) => ({ name, used, total, text: `${write(used)} of ${write(total)}` }));
}

// A resource of the node, by its name.
export function Use({ node, figures, name }) {
    const found = capacityOf(node, figures).find((amount) => amount.name === name);
    return found ? html`<${Meter} value=${found.used} most=${found.total} text=${found.text} />` : '–';
}
