// The words of a command, with quotes as a shell has them; nothing is expanded.
export function wordsOf(text) {
    const words = [];
    for (const [word] of text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)) words.push(word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
    return words;
}
