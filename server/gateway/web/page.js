// Small helpers of the page.
export const byId = (id) => document.getElementById(id);

export function show(element, visible) {
    element.hidden = !visible;
}

// Says something at the top of the page, or on the stream, which may fill the screen alone; nothing: closes it.
export function notify(text) {
    const notice = byId('notice'), stream = byId('stream');
    if (stream.hidden) byId('main').before(notice);
    else stream.append(notice);
    notice.querySelector('p').textContent = text ?? '';
    show(notice, Boolean(text));
    if (text && stream.hidden) window.scrollTo(0, 0);
}

// Whether the user means it, asked before something is lost.
export function confirmed(text) {
    const dialog = byId('confirm');
    byId('confirm-text').textContent = text;
    dialog.showModal();
    return new Promise((resolve) => {
        const abort = new AbortController();
        const answer = (yes) => {
            abort.abort();
            dialog.close();
            resolve(yes);
        };
        const on = (target, name, yes) => target.addEventListener(name, () => answer(yes), { signal: abort.signal });
        on(byId('confirm-yes'), 'click', true);
        on(byId('confirm-no'), 'click', false);
        on(dialog, 'close', false);  // Escape
    });
}

// A copy of a template's element.
export function instantiate(id) {
    return byId(id).content.firstElementChild.cloneNode(true);
}

export function paragraph(text) {
    const item = document.createElement('li');
    item.className = 'empty';
    item.textContent = text;
    return item;
}
