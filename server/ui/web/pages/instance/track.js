// Recorded tracks: GPX, and logs of NMEA 0183. As svcctl reads them (docs/svcctl.md).
const mostPoints = 200_000;
const radius = 6_371_000;  // metres
const radians = (degrees) => degrees * Math.PI / 180;

const numberOf = (text) => (text != null && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined);

function childText(element, name) {
    return [...element.children].find(({ localName }) => localName === name)?.textContent;
}

function gpxPoint(element) {
    const time = Date.parse(childText(element, 'time') ?? '');
    const point = { latitude: numberOf(element.getAttribute('lat')), longitude: numberOf(element.getAttribute('lon')), altitude: numberOf(childText(element, 'ele')),
        speed: numberOf(childText(element, 'speed')), bearing: numberOf(childText(element, 'course')), time: Number.isNaN(time) ? undefined : time / 1000 };
    if (!(Math.abs(point.latitude) <= 90 && Math.abs(point.longitude) <= 180)) throw new Error('GPX: a point has no valid position');
    return point;
}

function gpx(text) {
    if (text.includes('<!ENTITY')) throw new Error('GPX: entities are not allowed');
    const file = new DOMParser().parseFromString(text, 'application/xml');
    if (file.getElementsByTagName('parsererror').length > 0) throw new Error('GPX: it is no XML');
    for (const name of ['trkpt', 'rtept', 'wpt']) {
        const found = [...file.getElementsByTagNameNS('*', name)];
        if (found.length > 0) return found.slice(0, mostPoints).map(gpxPoint);
    }
    throw new Error('GPX: there is no point in it');
}

// ddmm.mm and its hemisphere, in degrees.
function degrees(text, hemisphere) {
    const value = Number(text), whole = Math.trunc(value / 100);
    return (whole + (value - whole * 100) / 60) * (hemisphere === 'S' || hemisphere === 'W' ? -1 : 1);
}

function isWhole(sentence) {
    const found = /^\$([^*]*)\*([0-9A-Fa-f]{2})$/.exec(sentence);
    return found && [...found[1]].reduce((sum, letter) => sum ^ letter.charCodeAt(0), 0) === parseInt(found[2], 16);
}

const seconds = (clock) => Number(clock.slice(0, 2)) * 3600 + Number(clock.slice(2, 4)) * 60 + Number(clock.slice(4));

function nmea(text) {
    const points = new Map();  // by their time of day: GGA and RMC of one moment are one point
    for (const sentence of text.split(/\r?\n/).map((line) => line.trim()).filter(isWhole)) {
        const [name, ...parts] = sentence.slice(1, -3).split(',');
        const isPlace = name.endsWith('GGA') && parts[5] !== '0', isMotion = name.endsWith('RMC') && parts[1] === 'A';
        if (!isPlace && !isMotion) continue;
        const at = isMotion ? 2 : 1;
        const point = { ...points.get(parts[0]), latitude: degrees(parts[at], parts[at + 1]), longitude: degrees(parts[at + 2], parts[at + 3]), time: seconds(parts[0]) };
        if (isPlace) point.altitude = numberOf(parts[8]);
        if (isMotion) Object.assign(point, { speed: (numberOf(parts[6]) ?? 0) * 0.514444, bearing: numberOf(parts[7]) });
        points.set(parts[0], point);
    }
    if (points.size === 0) throw new Error('NMEA: there is no position in it');
    return [...points.values()].slice(0, mostPoints);
}

function distance(from, to) {
    const a = Math.sin(radians(to.latitude - from.latitude) / 2) ** 2
        + Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude)) * Math.sin(radians(to.longitude - from.longitude) / 2) ** 2;
    return 2 * radius * Math.asin(Math.sqrt(a));
}

function bearing(from, to) {
    const turn = radians(to.longitude - from.longitude);
    const y = Math.sin(turn) * Math.cos(radians(to.latitude));
    const x = Math.cos(radians(from.latitude)) * Math.sin(radians(to.latitude)) - Math.sin(radians(from.latitude)) * Math.cos(radians(to.latitude)) * Math.cos(turn);
    return (Math.atan2(y, x) * 180 / Math.PI + 360) % 360;
}

// [{ after, fix }]: seconds after the beginning, and what the instance is told. A point without a time comes a second after the
// one before; speed and heading that are missing are computed.
export function steps(points) {
    let after = 0, before = null;
    return points.map((point) => {
        const took = before && (point.time !== undefined && before.time !== undefined ? Math.max(0, point.time - before.time) : 1);
        after += took ?? 0;
        const moved = before ? distance(before, point) : 0;
        const fix = { latitude: point.latitude, longitude: point.longitude, altitude: point.altitude ?? before?.altitude ?? 0,
            speed: point.speed ?? (took > 0 ? moved / took : 0), bearing: point.bearing ?? (moved > 0 ? bearing(before, point) : before?.bearing ?? 0) };
        before = { ...point, altitude: fix.altitude, bearing: fix.bearing };
        return { after, fix };
    });
}

// The points of a file. Throws what is wrong with it.
export const readTrack = (name, text) => (/\.(nmea|txt|log)$/i.test(name) || text.trimStart().startsWith('$') ? nmea(text) : gpx(text));
