// What this browser and an instance have in common to see.

// Of the codecs an instance may send; empty when this browser decodes all of them, so that the instance chooses.
export function decodable() {
    const known = ['H264', 'VP8', 'VP9', 'AV1'];
    const here = RTCRtpReceiver.getCapabilities?.('video')?.codecs.map((codec) => codec.mimeType.slice('video/'.length).toUpperCase());
    const able = known.filter((name) => !here || here.includes(name));
    return able.length === known.length ? [] : able;
}

// Names of the video codecs in a session description.
export function videoCodecs(sdp) {
    const names = [...sdp.matchAll(/^a=rtpmap:\d+ (H264|VP8|VP9|AV1|H265)\//gm)].map((match) => match[1]);
    return [...new Set(names)];
}

// Whether an answer refuses the last video section: the display's.
export function displayRefused(sdp) {
    const sections = [...sdp.matchAll(/^m=video (\d+)/gm)];
    return sections.length > 0 && sections.at(-1)[1] === '0';
}

// Browsers take stereo for mono where their own answer does not ask for it; some do by themselves.
export function withStereo(sdp) {
    return [...sdp.matchAll(/^a=rtpmap:(\d+) opus\/48000\/2/gim)].reduce((text, [, type]) => {
        const line = new RegExp(`^a=fmtp:${type} (?!(?:.*[; ])?stereo=)`, 'm');
        return text.replace(line, `a=fmtp:${type} stereo=1;`);
    }, sdp);
}
