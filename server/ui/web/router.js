// Which page is shown: what is behind the # of the address, "#/instances/<id>/logs?line=3".
import { useEffect, useState } from './html.js';

// As it is where it is no proper encoding.
export function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

function place() {
    const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
    return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

export const href = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`;

export function go(...parts) {
    location.hash = href(...parts);
}

// Remembers what is shown in the address, without a step of "back".
export function setQuery(values) {
    const { parts, query } = place();
    for (const [name, value] of Object.entries(values)) value ? query.set(name, value) : query.delete(name);
    const text = query.toString();
    history.replaceState(null, '', href(...parts) + (text ? `?${text}` : ''));
}

export function usePlace() {
    const [current, setCurrent] = useState(place);
    useEffect(() => {
        const follow = () => setCurrent(place());
        window.addEventListener('hashchange', follow);
        follow();  // it may have changed since it was shown first
        return () => window.removeEventListener('hashchange', follow);
    }, []);
    return current;
}
