// What people want to know of a certificate: whose it is, and from when to when. The service has checked it before.

const commonName = '550403';  // 2.5.4.3
const sequence = 0x30, version = 0xa0, generalizedTime = 0x18;

// The value at `offset`: its tag, and where its content begins and ends.
function valueAt(bytes, offset) {
    const tag = bytes[offset];
    let length = bytes[offset + 1], begin = offset + 2;
    if (length & 0x80) {
        const count = length & 0x7f;
        length = bytes.subarray(begin, begin + count).reduce((sum, byte) => sum * 256 + byte, 0);
        begin += count;
    }
    return { tag, begin, end: begin + length };
}

function inside(bytes, { begin, end }) {
    const values = [];
    for (let offset = begin; offset < end; offset = values.at(-1).end) values.push(valueAt(bytes, offset));
    return values;
}

const textOf = (bytes, { begin, end }) => new TextDecoder().decode(bytes.subarray(begin, end));
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

// "YYMMDDHHMMSSZ", of 1950 to 2049, or with four digits of the year.
function timeOf(bytes, value) {
    let text = textOf(bytes, value);
    if (value.tag !== generalizedTime) text = (Number(text.slice(0, 2)) < 50 ? '20' : '19') + text;
    const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text);
    const [year, month, ...rest] = parts.map(Number);
    return Date.UTC(year, month - 1, ...rest) / 1000;
}

function nameOf(bytes, subject) {
    const pairs = inside(bytes, subject).flatMap((set) => inside(bytes, set)).map((pair) => inside(bytes, pair));
    const found = pairs.find(([type]) => hex(bytes.subarray(type.begin, type.end)) === commonName);
    return found ? textOf(bytes, found[1]) : '';
}

export function derOf(pem) {
    const [, base64] = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/.exec(pem) ?? [undefined, pem];
    return Uint8Array.from(atob(base64.replace(/\s/g, '')), (letter) => letter.charCodeAt(0));
}

// { name, from, until }: seconds since 1970. What cannot be read is without a name.
export function readCertificate(pem) {
    try {
        const bytes = derOf(pem);
        const [body] = inside(bytes, valueAt(bytes, 0));
        const fields = inside(bytes, body);
        if (fields[0].tag === version) fields.shift();
        const [, , , validity, subject] = fields;
        if (validity.tag !== sequence) throw new Error('it is no certificate');
        const [from, until] = inside(bytes, validity).map((time) => timeOf(bytes, time));
        return { name: nameOf(bytes, subject), from, until };
    } catch {
        return { name: '', from: 0, until: 0 };
    }
}
