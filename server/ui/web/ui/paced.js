// Work that events ask for: one at a time and with rests, however many ask for it.
const calm = 500;  // milliseconds in which requests are collected, and after each end at least

// { soon, end }. `work()` runs soon after a call of soon(): at most twice a second, and no more than half of the time.
export function paced(work) {
    let timer = null, busy = false, wanted = false, ended = false, free = 0;
    const round = async () => {
        timer = null;
        wanted = false;
        busy = true;
        const began = performance.now();
        await Promise.resolve().then(work).catch(() => {});  // whoever shows the work shows how it failed
        const now = performance.now();
        free = now + (now - began);
        busy = false;
        if (wanted) soon();
    };
    const soon = () => {
        wanted = true;
        if (!busy && !ended) timer ??= setTimeout(round, Math.max(calm, free - performance.now()));
    };
    const end = () => {
        ended = true;
        clearTimeout(timer);
    };
    return { soon, end };
}
