// Small helpers of the page.
export const byId = (id) => document.getElementById(id);

export function show(element, visible) {
    element.hidden = !visible;
}

// Says something at the top of the page; nothing: closes it.
export function notify(text) {
    const notice = byId('notice');
    notice.querySelector('p').textContent = text ?? '';
    show(notice, Boolean(text));
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
