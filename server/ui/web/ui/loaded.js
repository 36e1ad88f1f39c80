// Values that a page loads, and loads again when events say that they have changed.
import { useEffect, useMemo, useState } from '../html.js';
import { onConnection, onEvent } from '../live.js';
import { paced } from './paced.js';

// Loads one at a time: what is asked for meanwhile is loaded once more afterwards, so that no stream of events keeps a load
// from its end.
function loading(load, show) {
    const abort = new AbortController(), { signal } = abort;
    let again = false, busy = null;
    const once = async () => {
        try {
            show({ value: await load(signal, (part) => signal.aborted || show({ value: [...part], partly: true })) }, signal);
        } catch (error) {
            show((former) => ({ ...former, error }), signal);
        }
    };
    const round = async () => {
        for (; again && !signal.aborted; await once()) again = false;
        busy = null;
    };
    const reload = () => {
        again = true;
        return (busy ??= round());
    };
    return { reload, stop: () => abort.abort() };
}

// { value, error, reload }. `load(signal, onPage)` gives the value, or parts of it through onPage first. Begins anew, without
// a value, when `dependencies` change.
export function useLoaded(load, dependencies = []) {
    const [state, setState] = useState({});
    const current = useMemo(() => {
        const made = loading(load, (next, signal) => signal?.aborted || setState((former) => ({ ...(typeof next === 'function' ? next(former.of === made ? former : {}) : next), of: made })));
        return made;
    }, dependencies);
    useEffect(() => {
        current.reload();
        return current.stop;
    }, [current]);
    const { value, error, partly } = state.of === current ? state : {};
    return { value, error, partly, reload: current.reload };
}

// Calls `reload`, as often as `paced` allows, when events of `type` that `concerns(event)` come, and after the connection has
// been away for longer than the service remembers events.
export function useReloadOn(type, reload, concerns = () => true) {
    useEffect(() => {
        const { soon, end } = paced(reload);
        let first = true;
        const ends = [end, onEvent(type, (event) => concerns(event) && soon()), onConnection((state) => {
            if (state === 'here' && !first) soon();
            first = false;
        })];
        return () => ends.forEach((one) => one());
    }, [type, reload]);
}
