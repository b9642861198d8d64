// Percent-encoding in addresses and forms.

/** Returns whether the text is valid percent-encoding of UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined; // The bundler would remove a call whose result is not used.
  } catch {
    return false;
  }
}
