// Light or dark: as the system says, unless the user has chosen.
const key = 'svc-theme';

function apply(theme) {
    document.documentElement.dataset.theme = theme;
}

export function theme() {
    return localStorage.getItem(key) ?? 'system';
}

export function nextTheme() {
    const order = ['system', 'light', 'dark'];
    const next = order[(order.indexOf(theme()) + 1) % order.length];
    localStorage.setItem(key, next);
    apply(next);
    return next;
}

apply(theme());
