// Where samples are missing: while nobody took any, as when the service was away, nothing is known.
const many = 3;  // times the usual distance of two samples

// [[index before the gap, index after it]] of times in their order.
export function gapsOf(times) {
    const distances = times.slice(1).map((time, at) => time - times[at]);
    const usual = Math.min(...distances);
    return distances.flatMap((distance, at) => (distance > many * usual ? [[at, at + 1]] : []));
}
