// The filter of the list: conditions as `svcctl list -f` takes them, and words that an instance has somewhere.
//     status=running node=m2 tags=a,b "two words"

export const keys = ['app', 'image', 'status', 'node', 'type', 'tags'];

// Words, in quotes where they have spaces: status="a b" is one.
export function wordsOf(text) {
    return [...text.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(([word]) => word.replaceAll('"', ''));
}

const tests = {
    app: (row, value) => row.app === value || row.appName === value,
    image: (row, value, images) => row.image === value || images.get(row.image) === value,
    status: (row, value) => value.split(',').includes(row.status),
    node: (row, value) => row.node === value,
    type: (row, value) => row.type === value,
    tags: (row, value) => value.split(',').every((tag) => row.tags.includes(tag)),
};

const texts = new WeakMap();  // of rows, made once: each key in the field looks through thousands

function textOf(row) {
    if (!texts.has(row)) texts.set(row, [row.name, row.id, row.appName, row.node, row.address, row.status, ...row.tags].join('\n').toLowerCase());
    return texts.get(row);
}

const contains = (row, word, images) => textOf(row).includes(word) || (images.get(row.image) ?? '').toLowerCase().includes(word);

// { test(row), problem, conditions }. A filter with a mistake lets nothing pass: "all that match" must never be more than is meant.
export function parseFilter(text, images = new Map()) {
    const conditions = [], words = [];
    for (const word of wordsOf(text)) {
        const equals = word.indexOf('=');
        const key = word.slice(0, Math.max(equals, 0));
        if (equals < 1) words.push(word.toLowerCase());
        else if (!tests[key]) return { test: () => false, conditions: [], problem: `“${key}” is no key. Keys: ${keys.join(', ')}.` };
        else conditions.push([key, word.slice(equals + 1)]);
    }
    const test = (row) => conditions.every(([key, value]) => tests[key](row, value, images))
        && words.every((word) => contains(row, word, images));
    return { test, conditions, words };
}

const quote = (value) => (/\s/.test(value) ? `"${value}"` : value);

// The filter with one condition set, or taken away where it is there already.
export function withCondition(text, key, value) {
    const wanted = `${key}=${value}`;
    const others = wordsOf(text).filter((word) => !word.startsWith(`${key}=`));
    const had = wordsOf(text).includes(wanted);
    return [...others, ...(had ? [] : [wanted])].map(quote).join(' ');
}

const most = 40;  // suggestions

function valuesOf(key, rows, images) {
    const found = new Set(key === 'status' ? ['running', 'stopped', 'error', 'paused', 'pooled', 'started', 'prepared', 'created'] : []);
    for (const row of rows) {
        const values = { app: [row.appName], image: [images.get(row.image)], status: [row.status], node: [row.node], type: [row.type], tags: row.tags }[key];
        for (const value of values) if (value) found.add(value);
        if (found.size >= 500) break;
    }
    return [...found].sort();
}

// What the last word may become, as whole texts of the field.
export function suggestions(text, rows, images) {
    const last = /(?:[^\s"]|"[^"]*"?)*$/.exec(text)[0];
    const before = text.slice(0, text.length - last.length);
    const [key, value] = last.replaceAll('"', '').split('=');
    if (value === undefined) return keys.filter((name) => name.startsWith(key)).map((name) => `${before}${name}=`);
    if (!tests[key]) return [];
    return valuesOf(key, rows, images).filter((one) => one.startsWith(value)).slice(0, most).map((one) => `${before}${key}=${quote(one)}`);
}
