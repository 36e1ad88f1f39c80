// Values that a page loads, and loads again when events say that they have changed.
import { useCallback, useEffect, useRef, useState } from '../html.js';
import { onConnection, onEvent } from '../live.js';

// { value, error, reload }. `load(signal, onPage)` gives the value, or parts of it through onPage first. Runs again when
// `dependencies` change.
export function useLoaded(load, dependencies = []) {
    const [state, setState] = useState({});
    const abort = useRef();
    const reload = useCallback(async () => {
        abort.current?.abort();
        const { signal } = (abort.current = new AbortController());
        const show = (value, partly) => signal.aborted || setState({ value, partly });
        try {
            show(await load(signal, (part) => show([...part], true)));
        } catch (error) {
            if (!signal.aborted) setState((former) => ({ ...former, error }));
        }
    }, dependencies);
    useEffect(() => {
        reload();
        return () => abort.current?.abort();
    }, [reload]);
    return { ...state, reload };
}

// Calls `reload` at most twice a second while events of `type` that `concerns(event)` come, and after the connection has
// been away for longer than the service remembers events.
export function useReloadOn(type, reload, concerns = () => true) {
    useEffect(() => {
        let timer = null;
        const soon = () => {
            timer ??= setTimeout(() => {
                timer = null;
                reload();
            }, 500);
        };
        let first = true;
        const ends = [onEvent(type, (event) => concerns(event) && soon()), onConnection((state) => {
            if (state === 'here' && !first) soon();
            first = false;
        })];
        return () => {
            clearTimeout(timer);
            ends.forEach((end) => end());
        };
    }, [type, reload]);
}
