// How many instances there are of each state. Asked of the service, which counts faster than a page could load them all.
import { call } from '../../api.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';

const wanted = {
    all: 'base=false',
    running: 'base=false&status=running',
    starting: 'base=false&status=created,prepared,started',
    stopped: 'base=false&status=stopped',
    error: 'base=false&status=error',
};

async function countOf(query, signal) {
    return (await call('GET', `/1.0/instances?${query}&offset=0&limit=0`, undefined, { signal })).total_size;
}

// { counts: { all, running, starting, stopped, error } }.
export function useCounts() {
    const { value, reload } = useLoaded(async (signal) => {
        const numbers = await Promise.all(Object.values(wanted).map((query) => countOf(query, signal)));
        return Object.fromEntries(Object.keys(wanted).map((name, index) => [name, numbers[index]]));
    });
    useReloadOn('lifecycle', reload);
    return { counts: value };
}
