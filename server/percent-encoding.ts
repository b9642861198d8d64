// Tells text in percent-encoding that can be read from what cannot, as decoders only throw or leave it as it is.

export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
