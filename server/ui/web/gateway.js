// The address of the stream gateway, which this browser remembers: the service knows nothing of gateways.
const key = 'svc-gateway';

// The origin that a text names, with or without https://. Throws for what is no address of https.
export function gatewayOf(text) {
    const given = text.trim(), address = given.includes('://') ? given : `https://${given}`;
    if (!URL.canParse(address) || new URL(address).protocol !== 'https:') throw new Error('The address of a gateway begins with https://');
    return new URL(address).origin;
}

// What is remembered, checked again: other versions of the page, or somebody else, may have written it. '': none.
export function rememberedGateway() {
    try {
        return gatewayOf(localStorage.getItem(key) ?? '');
    } catch {
        return '';
    }
}

// Remembers the origin that the text names; of an empty text, none. Returns it.
export function rememberGateway(text) {
    const origin = text.trim() ? gatewayOf(text) : '';
    origin ? localStorage.setItem(key, origin) : localStorage.removeItem(key);
    return origin;
}
