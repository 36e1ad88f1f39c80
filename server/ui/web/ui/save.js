// Gives the user a file.
export function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(URL.revokeObjectURL, 60000, link.href);
}
