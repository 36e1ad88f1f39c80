// How values are written for people.

export function bytes(count) {
    if (count === undefined || count === null) return '–';
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let value = count, unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit += 1;
    }
    return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

const steps = [[60, 's'], [60, 'min'], [24, 'h'], [365, 'd'], [Infinity, 'y']];

// "12 s", "3 h". `seconds` may be negative: that counts as none.
export function duration(seconds) {
    let value = Math.max(0, seconds);
    for (const [size, unit] of steps) {
        if (value < size) return `${Math.floor(value)} ${unit}`;
        value /= size;
    }
    return '';
}

// A time of the API: seconds since 1970, or RFC 3339. Null where it has none.
export function instant(value) {
    if (value === undefined || value === null || value === 0 || value === '') return null;
    const date = new Date(typeof value === 'number' ? value * 1000 : value);
    return Number.isNaN(date.getTime()) || date.getTime() <= 0 ? null : date;
}

export function ago(value, now = Date.now()) {
    const date = instant(value);
    return date ? `${duration((now - date.getTime()) / 1000)} ago` : '–';
}

export function moment(value) {
    const date = instant(value);
    return date ? date.toLocaleString() : '–';
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString()} ${number === 1 ? one : many}`;

// A word of a shell: quoted where it has to be.
export const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
