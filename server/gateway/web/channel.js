// Browsers may hand over a message of a data channel before they say that it is open, and nothing can be answered then: such
// messages wait until it is.
export function holdUntilOpen(channel) {
    const early = [];
    channel.addEventListener('message', (event) => {
        if (channel.readyState !== 'connecting') return;
        event.stopImmediatePropagation();
        early.push(event.data);
    });
    channel.addEventListener('open', () => {
        for (const data of early.splice(0)) channel.dispatchEvent(new MessageEvent('message', { data }));
    });
    return channel;
}
