// What the browser keeps for the page: for this tab, and for every later one. A browser may keep nothing for a page that is
// in a frame of another site; then it is kept as long as the page is there.
function memory() {
    const kept = new Map();
    return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key) };
}

function storage(name) {
    try {
        return window[name] ?? memory();
    } catch {
        return memory();
    }
}

export const ofTab = storage('sessionStorage'), ofBrowser = storage('localStorage');
